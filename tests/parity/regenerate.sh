#!/usr/bin/env bash
# Makes the numbers of tests/parity again with the pinned PyTorch and compares them with the stored ones.
# usage: regenerate.sh [--write] [TOPIC]...
#   no option   into a temporary folder, then compare: integers and digests bit for bit, floats to 1e-6; exit 1 where one differs
#   --write     replace the stored numbers (after a change of a script)
# one_head_run reads windows that tril makes: it needs a built test program (./tril build).
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
if [ ${#topics[@]} -eq 0 ]; then  # every script that has numbers; the others are imported by these
  for numbers in "$here"/*.json; do topics+=("$(basename "$numbers" .json)"); done
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=$here
[ -n "$write" ] || { out=$scratch/numbers && mkdir "$out"; }
export PYTHONDONTWRITEBYTECODE=1 TRIL_SHARED=${TRIL_SHARED:-$here/../../../shared}
for topic in "${topics[@]}"; do
  if [ "$topic" = microgpt ] && [ ! -f "$TRIL_SHARED/data/names.txt" ]; then
    echo "microgpt: left out, no $TRIL_SHARED/data/names.txt" >&2
    continue
  fi
  echo "$topic" >&2
  if [ "$topic" = one_head_run ]; then
    TRIL_WINDOWS=$scratch/windows.bin
    export TRIL_WINDOWS
    "${TRIL_TESTS:-$here/../../build/release/tril_tests}" --gtest_filter='ParityOneHeadRun.Windows*' --gtest_brief=1 >&2
  fi
  "$python" "$here/$topic.py" "$out"
done
[ -n "$write" ] || "$python" "$here/compare.py" "$here" "$out"

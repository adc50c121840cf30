# Sourced by scripts/test.sh: the programs at the other end read what tril writes, and tril reads theirs.
#   ./tril test clients              all of them; a client that is missing fails
#   ./tril test clients transformers just this one; the others: peft, llama, and where a variable names what they need
#                                    tokenizers (TRIL_SHARED, a folder of texts; ../shared where that is there),
#                                    llama2c (TRIL_LLAMA2C=…/run, run.c built) and nanogpt (TRIL_NANOGPT=…/model.py)
# They run in the Python environment that `tril setup peers` makes. Each prints a line for every comparison, with the
# program, its version and the largest difference.

root=${root:?the checkout}

# client NAME FILE MODULE GROUP [NEEDED]: runs FILE in a folder of its own; refuses where MODULE or the path NEEDED is missing.
client() {
  local name=$1 file=$2 module=$3 group=$4 needed=${5-} folder status=0
  printf '\n-- %s\n' "$name"
  if [[ ! -x $python ]] || ! "$python" -c "import $module" 2>/dev/null; then
    echo "FAIL  $module is not installed: scripts/setup_peers.sh $group"
    return 1
  fi
  if [[ -n $needed && ! -e $needed ]]; then
    echo "FAIL  $needed: there is no such file"
    return 1
  fi
  folder=$(mktemp -d) || return 2
  "$python" "$root/tests/clients/$file" "$folder" ${needed:+"$needed"} || status=1
  rm -rf "$folder"
  return $status
}

run_clients() {
  local failed=0 passed=0 skipped=0 name file module group variable
  local python
  [[ -n ${TRIL_SHARED-} || ! -d $root/../shared/data ]] || export TRIL_SHARED=$root/../shared
  python=$("$root/scripts/setup_peers.sh" --where)/bin/python
  build release tril || return
  export TRIL_PROGRAM=$root/build/release/tril
  while read -r name file module group variable; do
    [[ $# == 0 || " $* " == *" $name "* ]] || continue
    if [[ -n $variable && -z ${!variable-} ]]; then
      printf '\n-- %s\nskipped: %s is not set to what it needs\n' "$name" "$variable"
      ((++skipped))
    elif client "$name" "$file" "$module" "$group" ${variable:+"${!variable}"}; then
      ((++passed))
    else
      ((++failed))
    fi
  done <<'CLIENTS'
transformers transformers_client.py transformers clients
peft peft_client.py peft clients
llama llama_cpp_client.py llama_cpp llama
tokenizers tokenizers_client.py tokenizers parity TRIL_SHARED
llama2c llama2c_client.py json parity TRIL_LLAMA2C
nanogpt nanogpt_client.py torch parity TRIL_NANOGPT
CLIENTS
  ((passed + failed + skipped > 0)) || { echo "no such client: $*" && failed=1; }
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0))
}

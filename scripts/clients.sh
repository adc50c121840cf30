# Sourced by scripts/test.sh: the programs at the other end read what tril writes, and tril reads theirs.
#   ./tril test clients              all of them; a client that is missing fails
#   ./tril test clients transformers just this one; the others: llama, tokenizers
# They run in the Python environment that `tril setup peers clients llama` makes. Each prints a line for every
# comparison, with the program, its version and the largest difference.

root=${root:?the checkout}

# client NAME FILE MODULE GROUP: runs FILE in a folder of its own; refuses where MODULE is missing.
client() {
  local name=$1 file=$2 module=$3 group=$4 folder status=0
  printf '\n-- %s\n' "$name"
  if [[ ! -x $python ]] || ! "$python" -c "import $module" 2>/dev/null; then
    echo "FAIL  $module is not installed: scripts/setup_peers.sh $group"
    return 1
  fi
  folder=$(mktemp -d) || return 2
  "$python" "$root/tests/clients/$file" "$folder" || status=1
  rm -rf "$folder"
  return $status
}

run_clients() {
  local failed=0 passed=0 name file module group
  local python
  python=$("$root/scripts/setup_peers.sh" --where)/bin/python
  build release tril || return
  export TRIL_PROGRAM=$root/build/release/tril
  while read -r name file module group; do
    [[ $# == 0 || " $* " == *" $name "* ]] || continue
    if client "$name" "$file" "$module" "$group"; then ((++passed)); else ((++failed)); fi
  done <<'CLIENTS'
transformers transformers_client.py transformers clients
llama llama_cpp_client.py llama_cpp llama
tokenizers tokenizers_client.py tokenizers parity
CLIENTS
  ((passed + failed > 0)) || { echo "no such client: $*" && failed=1; }
  printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
  ((failed == 0))
}

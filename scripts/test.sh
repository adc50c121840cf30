# Sourced by ./tril: builds and runs the tests, and ends with a line "N passed, N failed, N skipped".
#   ./tril test [GTEST FLAG…]            every test, unit and end to end
#   ./tril test unit                     those beside their sources in src/
#   ./tril test parity [--regenerate]    those that compare with other programs' stored numbers; --regenerate makes
#                                        the numbers again and compares
#   ./tril test clients [NAME]           other programs read what tril writes, and tril what they write (scripts/clients.sh)
#   ./tril test asan                     under AddressSanitizer and UBSan, less tests/slow_under_asan.txt
# The numbers come from GoogleTest's own XML. Where CI=true, a skip that tests/allowed_skips.txt does not list fails.

root=${root:?the checkout}

# list FILE: its patterns, the first word of each line that is no comment; what follows is the reason.
list() { awk 'NF && !/^#/ { print $1 }' "$1" 2>/dev/null; }

# suites_under PROGRAM FOLDER: a filter of the suites whose source lies there.
suites_under() {
  "$1" --gtest_list_tests --gtest_output="xml:$results/list.xml" >/dev/null || return
  awk -v folder="$2" -F'"' '
    /^ *<testsuite / { suite = $2 }
    /^ *<testcase / && index($0, folder) && !(suite in seen) { seen[suite]; printf "%s.*:", suite }
  ' "$results/list.xml"
}

# run_share SHARE FLAG…: one share of the tests, with the signals that a shell may have set aside put back. A folder of its own for temporary files keeps shares apart.
run_share() {
  local share=$1 status=0
  mkdir -p "$results/tmp-$share"
  env --default-signal GTEST_TOTAL_SHARDS="$shares" GTEST_SHARD_INDEX="$share" OMP_WAIT_POLICY=passive \
    TMPDIR="$results/tmp-$share" TEST_TMPDIR="$results/tmp-$share" \
    timeout --foreground "${TRIL_TEST_SECONDS:-2400}" \
    "$program" --gtest_output="xml:$results/share-$share.xml" "${@:2}" \
    >"$results/share-$share.log" 2>&1 || status=$?
  echo "$status" >"$results/share-$share.status"
}

# outcomes SHARE: a line "passed|failed|skipped NAME SECONDS" for each test that ran.
outcomes() {
  local xml=$results/share-$1.xml log=$results/share-$1.log status
  status=$(cat "$results/share-$1.status")
  [[ ! -f $xml ]] || awk -F'"' '
    function flush() { if (name != "") print outcome, name, seconds; name = "" }
    /^    <testcase / {
      flush()
      if (!index($0, "status=\"run\"")) next
      for (i = 1; i < NF; i += 2) {
        if ($i ~ / name=$/) test = $(i + 1)
        if ($i ~ / classname=$/) suite = $(i + 1)
        if ($i ~ / time=$/) seconds = $(i + 1)
      }
      name = suite "." test; outcome = "passed"
    }
    /^      <failure / { outcome = "failed" }
    /^      <skipped / && outcome != "failed" { outcome = "skipped" }
    END { flush() }
  ' "$xml"
  # A share that died wrote no XML: name the test it died in.
  if [[ ! -f $xml ]]; then
    echo "failed $(awk '/^\[ RUN / {test = $NF} END {print test == "" ? "before-the-first-test" : test}' "$log")" 0
  elif ((status != 0)) && ! grep -q '^      <failure ' "$xml"; then
    echo "failed share-$1-ended-with-status-$status 0"
  fi
}

# A sign of life each half minute.
tell_progress() {
  local so_far
  while sleep 30 >/dev/null 2>&1; do  # a sleep that outlives the tests must not keep their pipe open
    so_far=$(cat "$results"/share-*.log 2>/dev/null | grep -cE '^\[ +(OK|FAILED|SKIPPED) +\]')
    say "$so_far of $total tests done"
  done
}

run_tests() {
  local which=all preset=release
  case ${1-} in
    unit | parity | asan) which=$1 && shift ;;
    clients)
      . "$root/scripts/clients.sh"
      run_clients "${@:2}"
      return
      ;;
    '' | -*) ;;
    *)
      say "test: unknown word '$1'; it is one of unit, parity, asan, clients, or a GoogleTest flag"
      return 2
      ;;
  esac
  if [[ $which == parity && ${1-} == --regenerate ]]; then
    shift
    build release all || return
    "$root/tests/parity/regenerate.sh" "$@"
    return
  fi
  [[ $which != asan ]] || preset=asan
  build "$preset" all || return

  export program=$root/build/$preset/tril_tests results shares
  results=$(mktemp -d) || return 2
  trap 'kill $ticker 2>/dev/null; rm -rf "$results"' EXIT
  shares=$(nproc)

  flags=()
  case $which in
    unit) flags=("--gtest_filter=$(suites_under "$program" /src/tril/)") ;;
    parity) flags=('--gtest_filter=*Parity*') ;;
    asan) flags=("--gtest_filter=-$(list "$root/tests/slow_under_asan.txt" | paste -sd:)") ;;
  esac
  flags+=("$@")
  total=$("$program" --gtest_list_tests "${flags[@]}" | grep -c '^  ')
  tell_progress &
  ticker=$!
  export -f run_share
  seq 0 $((shares - 1)) | xargs -P "$shares" -I{} bash -c 'run_share "$@"' bash {} "${flags[@]}"
  kill $ticker 2>/dev/null
  wait $ticker 2>/dev/null
  report
}

# Prints what failed and what was skipped, the slowest tests, and the closing line.
report() {
  local share outcome name passed=0 failed=0 skipped=0 allowed pattern
  mapfile -t allowed < <(list "$root/tests/allowed_skips.txt")
  for ((share = 0; share < shares; ++share)); do
    outcomes "$share" >"$results/outcomes-$share"
    [[ $(cat "$results/share-$share.status") == 0 ]] || show_failures "$share"
    while read -r outcome name _; do
      if [[ $outcome == skipped && ${CI-} == true ]] && ! listed "$name" "${allowed[@]}"; then
        echo "skipped, and not in tests/allowed_skips.txt, so it counts as failed: $name"
        outcome=failed
      fi
      case $outcome in
        passed) ((++passed)) ;;
        failed) ((++failed)) && echo "failed: $name" ;;
        skipped) ((++skipped)) && echo "skipped: $name" ;;
      esac
    done <"$results/outcomes-$share"
  done
  sort -k3,3 -rn "$results"/outcomes-* | awk 'NR <= 5 && $3 >= 5 {printf "slow: %s %.0f s\n", $2, $3}'
  ((passed + failed > 0)) || { echo "no test ran" && failed=1; }
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0))
}

# listed NAME PATTERN…
listed() {
  local name=$1 pattern
  for pattern in "${@:2}"; do
    # shellcheck disable=SC2053  # a pattern on purpose
    [[ $name == $pattern ]] && return
  done
  return 1
}

# show_failures SHARE: the log from each failing test's RUN line to its end; where the share died, to the log's end.
show_failures() {
  local log=$results/share-$1.log died=0
  [[ -f $results/share-$1.xml ]] || died=1
  awk -v died=$died '
    /^\[ RUN / { text = "" }
    { text = text $0 "\n" }
    /^\[  FAILED  \] .* \([0-9]+ ms\)$/ { printf "%s", text }
    /^\[       OK \]|^\[  SKIPPED \]|^\[-----/ { text = "" }
    END { if (died) printf "%s(the tests ended here, with status %s; those after it did not run)\n", text, status }
  ' status="$(cat "$results/share-$1.status")" "$log"
}

#!/usr/bin/env bash
# Fuzzes the readers of files with libFuzzer, AddressSanitizer and UBSan. Not part of the default tests.
# usage: fuzz.sh [SECONDS] [READER]...      (default: 600 seconds each; readers: the files of tests/fuzz)
# It needs clang with its runtime libraries (Debian: clang) and libomp-dev. The first corpus is made from what tril itself
# writes and from tests/data; what libFuzzer finds grows in build/fuzz/corpus. A crash is kept as
# build/fuzz/READER-crash-…, and the exit code is 1.
set -euo pipefail
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
seconds=${1:-600}
shift $(($# > 0))
readers=("$@")
[[ ${#readers[@]} -gt 0 ]] || for file in tests/fuzz/*.cc; do readers+=("$(basename "$file" .cc)"); done
compiler=$(command -v clang++ || command -v clang++-14 || command -v clang++-19) || { echo "clang is not installed: apt-get install clang" >&2; exit 2; }

cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/++/}" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRIL_FUZZ=ON -DTRIL_TESTS=OFF -DTRIL_BENCH=OFF \
  -DTRIL_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
cmake --build build/fuzz --target "${readers[@]/#/fuzz_}"

status=0
for reader in "${readers[@]}"; do
  corpus=build/fuzz/corpus/$reader
  mkdir -p "$corpus"
  cp -n tests/fuzz/corpus/"$reader"/* "$corpus"/ 2>/dev/null || true
  echo "== $reader, $seconds s"
  build/fuzz/fuzz_"$reader" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/"$reader"- "$corpus" 2>&1 | grep -vE '^#[0-9]+\s+(NEW|REDUCE|pulse)' || status=1
done
exit $status

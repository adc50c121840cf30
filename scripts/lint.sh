#!/usr/bin/env bash
# clang-tidy by .clang-tidy: scripts/lint.sh [FOLDER|SOURCE…]; no argument means all of src/tril. Tests are left out.
# It reads the compile commands of build/release, so build first.
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 2
(($# > 0)) || set -- src/tril
find "$@" -name '*.cc' ! -name '*_test.cc' -print0 | sort -z |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build/release --quiet --extra-arg=-Wno-unknown-warning-option \
    2> >(grep -vE 'warnings? generated|^Suppressed|^Use -header-filter' >&2)

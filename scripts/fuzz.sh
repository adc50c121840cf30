#!/usr/bin/env bash
# Fuzzes the readers of files with libFuzzer, AddressSanitizer and UBSan. Not part of the default tests.
# usage: fuzz.sh [SECONDS] [READER]...      (default: 600 seconds each; 0: only what the corpus covers;
#                                            readers: the files of tests/fuzz)
# The first corpus is made from what tril itself writes and from tests/data; what libFuzzer finds grows in
# build/fuzz/corpus. A crash is kept as build/fuzz/READER-crash-…. At the end the lines of each reader's sources that its
# corpus runs are told. The exit code is 1 where something was found, or a reader's lines are below 90 in 100.
# It installs clang and its runtime libraries where they are missing; TRIL_JOBS=N compilers at once.
set -euo pipefail
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD
. scripts/build.sh
seconds=${1:-600}
[[ $seconds =~ ^[0-9]+$ ]] || { echo "fuzz.sh: '$seconds' is no number of seconds" >&2; exit 2; }
shift $(($# > 0))
readers=("$@")
[[ ${#readers[@]} -gt 0 ]] || for file in tests/fuzz/*.cc; do readers+=("$(basename "$file" .cc)"); done
for reader in "${readers[@]}"; do
  [[ -f tests/fuzz/$reader.cc ]] || { echo "fuzz.sh: there is no tests/fuzz/$reader.cc" >&2; exit 2; }
done

# What each target reads with. Files that only write are left out.
sources() {
  local formats=src/tril/formats text=src/tril/text
  case $1 in
    gguf) echo $formats/{gguf,gguf_keys,gguf_model,gguf_tokenizer,ggml_types}.cc ;;
    hf_config) echo $formats/hf_config.cc ;;
    llama2c) echo $formats/llama2c.cc ;;
    nanogpt) echo $formats/nanogpt.cc ;;
    npz) echo $formats/{npz,zip}.cc ;;
    peft) echo $formats/peft.cc ;;
    safetensors) echo $formats/{safetensors,tensor_range}.cc ;;
    token_bin) echo $formats/token_file.cc ;;
    tokenizer) echo $text/{load_tokenizer,tokenizer_json,tokenizer_json_bpe,pre_tokenizer_json,added_tokens,bpe_files,tiktoken_file}.cc ;;
  esac
}

# The folder of the optional data folder's fixtures that a target reads.
fixtures() {
  case $1 in
    hf_config) echo hf ;;
    safetensors) echo st ;;
    token_bin) echo bin ;;
    tokenizer) echo tok ;;
    *) echo "$1" ;;
  esac
}

# A clang that links libFuzzer's runtime, as a full path.
fuzzing_compiler() {
  local name path
  for name in clang++ clang++-14 clang++-19; do
    path=$(command -v "$name") || continue
    [[ -f $("$path" -print-file-name=libclang_rt.fuzzer-x86_64.a) || -f $("$path" -print-runtime-dir)/libclang_rt.fuzzer.a ]] && echo "$path" && return
  done
  return 1
}

mkdir -p build
install_missing build
if ! compiler=$(fuzzing_compiler); then
  install_missing fuzz
  compiler=$(fuzzing_compiler) || { echo "fuzz.sh: no clang with libFuzzer here: apt-get install clang libclang-rt-dev llvm libomp-dev" >&2; exit 2; }
fi
cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/++/}" \
  -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -gline-tables-only -fprofile-instr-generate -fcoverage-mapping" \
  -DTRIL_FUZZ=ON -DTRIL_TESTS=OFF -DTRIL_BENCH=OFF -DTRIL_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
cmake --build build/fuzz --parallel "${TRIL_JOBS:-$(jobs)}" --target "${readers[@]/#/fuzz_}"

status=0
for reader in "${readers[@]}"; do
  corpus=build/fuzz/corpus/$reader
  mkdir -p "$corpus"
  cp -n tests/fuzz/corpus/"$reader"/* "$corpus"/
  [[ $reader != tokenizer ]] || cp -n tests/data/*tokenizer.json "$corpus"/
  for file in "${TRIL_SHARED:-../shared}"/fixtures/"$(fixtures "$reader")"/*; do [[ ! -f $file ]] || cp -n "$file" "$corpus"/; done
  if ((seconds > 0)); then
    echo "== $reader, $seconds s"
    LLVM_PROFILE_FILE=/dev/null build/fuzz/fuzz_"$reader" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=1024 -timeout=60 \
      -print_final_stats=1 -artifact_prefix=build/fuzz/"$reader"- "$corpus" 2>&1 | grep -vE '^#[0-9]+\s+(NEW|REDUCE|pulse)' || status=1
  fi
  rm -rf /dev/shm/tril-fuzz-*
done

for reader in "${readers[@]}"; do
  profile=build/fuzz/$reader.profraw
  LLVM_PROFILE_FILE=$profile build/fuzz/fuzz_"$reader" -runs=0 build/fuzz/corpus/"$reader" >build/fuzz/"$reader".log 2>&1 || { tail -n 20 build/fuzz/"$reader".log; status=1; continue; }
  llvm-profdata merge -sparse "$profile" -o "${profile%raw}data"
  # shellcheck disable=SC2046  # the sources are words
  llvm-cov export -summary-only -instr-profile="${profile%raw}data" build/fuzz/fuzz_"$reader" $(sources "$reader") |
    python3 tests/fuzz/lines.py "$reader" || status=1
done
rm -rf /dev/shm/tril-fuzz-*
exit $status

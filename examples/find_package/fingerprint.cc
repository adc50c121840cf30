// The smallest program over the tril library: the fingerprint that tril gives a text, as its documents have.
#include <cstdio>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fingerprint FILE\n");
    return tril::kExitRefused;
  }
  try {
    const tril::MappedFile file(argv[1]);
    std::printf("%s  %s\n", tril::sha256_hex(file.bytes()).c_str(), argv[1]);
    return tril::kExitDone;
  } catch (const tril::Error& error) {
    std::fprintf(stderr, "fingerprint: %s\n", error.what());
    return error.exit_code();
  }
}

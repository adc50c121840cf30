// Settings of the data: the [data] section of a configuration (design, section 7). Plain values; config.cc
// fills and checks them.
#pragma once
#include <cstdint>
#include <string>

namespace tril {

struct DataSettings {
  std::string path;                // file or folder; "" with text "" means the built-in tales
  std::string text;                // inline text instead of a path
  int64_t repeat = 1;              // how often `text` is repeated
  std::string documents = "auto";  // auto | separator | blank-line | line | whole
  int64_t stories = 0;             // take the first N documents; 0 = all (tales: 1,300)
  int64_t seed = 0;                // of the tales generator only
  std::string split =
      "hash";          // auto | hash | tail | none; auto: hash where the source has more than one document
  bool dedupe = true;  // hash: remove duplicated documents first
  std::string tokenizer = "word";  // word | char | bpe, or a path to a tokenizer file
  std::string pattern = "gpt2";    // split pattern of a BPE tokenizer that is trained here: gpt2 | gpt4
  int64_t vocabulary = 0;          // cap with the specials in it; 0 = no cap
  int64_t min_count = 2;           // word tokens seen less often in train become <UNK>
};

}  // namespace tril

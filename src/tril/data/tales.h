// The built-in corpus: short children's tales from a seeded grammar, so that the program trains with no
// download. Each tale is told over a small world (who is in it, who holds which thing), and that world can be
// had beside the text, so that what a model learned about it can be scored. Its text is plain ASCII. What it
// leaves out: the words (tales_words.cc), the plots (tales_plots.cc), splitting into documents (the sources).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tril {

struct TaleCharacter {
  std::string name;        // as the text has it: "Anna", "the baker"
  std::string pronoun;     // subject form: "she" or "he"
  std::string accusative;  // "her" or "him"
  std::string possessive;  // "her" or "his"
};

struct TaleThing {
  std::string noun;       // "kite"
  std::string adjective;  // "red": the one the tale gives it, whether or not it is said
};

/// One word or phrase of the text that the tale's world decides.
struct TaleMention {
  enum class Kind { kName, kPronoun, kAccusative, kPossessive, kThing, kHolder };
  Kind kind;     // kHolder: the name of whoever holds a thing, in a sentence that tells who it is
  size_t begin;  // first byte in Tale::text
  size_t end;    // one past the last
  int index;     // into things for kThing, else into characters
};

struct TaleSentence {
  size_t begin;              // first byte in Tale::text
  size_t end;                // one past the last, the closing mark included
  std::vector<int> holders;  // for each thing: index of the character that holds it at the end, or -1
};

struct Tale {
  std::string text;  // sentences joined by a space, paragraphs by one newline; none at the end
  std::string plot;  // name of the plot, e.g. "lost"
  std::vector<TaleCharacter> characters;
  std::vector<TaleThing> things;
  std::vector<TaleSentence> sentences;
  std::vector<TaleMention> mentions;  // in the order of the text
};

/// Tale `index` of the corpus of `seed`, with its world. It depends on the two numbers alone, on every
/// platform.
Tale tale(uint64_t seed, uint64_t index);

/// The texts of tales 0 … count-1, so that a shorter corpus is a prefix of a longer one. count < 0 gives
/// none.
std::vector<std::string> tales(int64_t count, uint64_t seed);

}  // namespace tril

#include "tril/data/tales.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <string_view>

#include "tril/data/tales_grammar.h"

namespace tril {
namespace {
using namespace grammar;

/// splitmix64: a counter put through a mixing function (Steele, Lea and Flood 2014, "Fast splittable
/// pseudorandom number generators"). Integers only, so that every platform draws the same.
class Dice {
 public:
  Dice(uint64_t seed, uint64_t index) : state_(mix(seed) + mix(~index)) {}
  /// An integer in [0, n), n ≥ 1.
  size_t below(size_t n) {
    state_ += 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(((mix(state_) >> 32) * n) >> 32);
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(mark, begin), text.size());
    parts.push_back(trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

/// "a red kite", "an owl". No word of the tables has a silent h or a u said as in "unit".
std::string with_article(std::string_view words) {
  const bool vowel = std::string_view("aeiou").find(words.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", words);
}

struct Person {
  std::string name;
  bool female;
  int index = -1;  // into Tale::characters, once the text has named them
};
struct Prop {
  Thing thing;
  std::string_view adjective;
  int index = -1;   // into Tale::things, once the text has named it
  int holder = -1;  // index of a character
};

/// Tells one tale: draws the cast, then walks through the plot, keeping the world beside the text.
class Teller {
 public:
  Teller(uint64_t seed, uint64_t index);
  Tale tell();

 private:
  void tell_beat(std::string_view beat);
  void tell_sentence(std::string_view sentence);
  void apply_effect(std::string_view effect);
  std::string slot(std::string_view name, std::string_view form, size_t at);
  std::string person_slot(Person& person, std::string_view form, size_t at);
  std::string prop_slot(Prop& prop, std::string_view form, size_t at);
  std::string place_slot(const Place& place, std::string_view form) const;
  std::string list_slot(std::string_view name, std::string_view form);
  int introduce(Person& person);
  int introduce(Prop& prop);
  Person* person(char letter);
  Prop* prop(char letter);
  Person& draw_child(Person& child, std::string_view other);

  Dice dice_;
  Tale tale_;
  std::array<Person, 3> people_;                               // A, B, C
  std::array<Prop, 2> props_;                                  // O, Q
  Place place_, far_place_;                                    // P, R
  Animal animal_;                                              // N
  Grownup grownup_;                                            // the work of C
  Food food_;                                                  // F
  Weather weather_;                                            // W
  std::map<std::string, std::string_view, std::less<>> kept_;  // {happy1}: the word this tale keeps
  std::string_view lessons_;
  bool paragraph_ = false;  // the next sentence begins one
};

Person& Teller::draw_child(Person& child, std::string_view other) {
  do {
    child.female = dice_.below(2) == 0;
    child.name = dice_.pick(child.female ? girls() : boys());
  } while (child.name == other);
  return child;
}

Teller::Teller(uint64_t seed, uint64_t index) : dice_(seed, index) {
  draw_child(people_[0], "");
  draw_child(people_[1], people_[0].name);
  grownup_ = dice_.pick(grownups());
  people_[2] = {fmt::format("the {}", grownup_.noun), dice_.below(2) == 0};
  do {
    for (Prop& prop : props_) prop = {dice_.pick(things()), dice_.pick(adjectives())};
  } while (props_[0].thing.noun == props_[1].thing.noun);
  do {
    place_ = dice_.pick(places());
    far_place_ = dice_.pick(places());
  } while (place_.noun == far_place_.noun);
  animal_ = dice_.pick(animals());
  food_ = dice_.pick(foods());
  weather_ = dice_.pick(weathers());
}

Tale Teller::tell() {
  const Plot& plot = dice_.pick(plots());
  tale_.plot = plot.name;
  lessons_ = plot.lessons;
  for (const std::string_view beat : plot.beats) tell_beat(beat);
  for (TaleSentence& sentence : tale_.sentences) sentence.holders.resize(tale_.things.size(), -1);
  return std::move(tale_);
}

void Teller::tell_beat(std::string_view beat) {
  if (beat == "/") {
    paragraph_ = true;
    return;
  }
  if (beat.front() == '?') {
    if (dice_.below(2) == 0) return;
    beat.remove_prefix(1);
  }
  if (beat.front() == '@') {
    const std::string_view name = beat.substr(1);
    beat = {};
    for (const Beat& shared : shared_beats())
      if (shared.name == name) beat = shared.text;
    assert(!beat.empty());
  }
  for (const std::string_view sentence : split(dice_.pick(split(beat, '|')), '#')) tell_sentence(sentence);
}

void Teller::tell_sentence(std::string_view sentence) {
  std::string& text = tale_.text;
  if (!text.empty()) text.push_back(paragraph_ ? '\n' : ' ');
  paragraph_ = false;
  const size_t begin = text.size();
  std::string_view effects;
  if (const size_t bracket = sentence.find('['); bracket != std::string_view::npos) {
    effects = sentence.substr(bracket);
    sentence = trim(sentence.substr(0, bracket));
  }
  for (size_t at = 0; at < sentence.size();) {
    if (sentence[at] != '{') {
      text.push_back(sentence[at++]);
      continue;
    }
    const size_t close = sentence.find('}', at);
    const std::string_view inside = sentence.substr(at + 1, close - at - 1);
    const size_t colon = std::min(inside.find(':'), inside.size());
    text += slot(inside.substr(0, colon), inside.substr(std::min(colon + 1, inside.size())), text.size());
    at = close + 1;
  }
  const size_t first = text.find_first_not_of('"', begin);
  if (text[first] >= 'a' && text[first] <= 'z') text[first] = static_cast<char>(text[first] - 'a' + 'A');
  for (; !effects.empty(); effects = trim(effects.substr(effects.find(']') + 1)))
    apply_effect(effects.substr(1));
  std::vector<int> holders(tale_.things.size(), -1);
  for (const Prop& prop : props_)
    if (prop.index >= 0) holders[static_cast<size_t>(prop.index)] = prop.holder;
  tale_.sentences.push_back({begin, text.size(), std::move(holders)});
}

/// "O=A]…": A holds O from now on; "O=-]…": no one does.
void Teller::apply_effect(std::string_view effect) {
  Prop& thing = *prop(effect[0]);
  introduce(thing);
  thing.holder = effect[2] == '-' ? -1 : introduce(*person(effect[2]));
}

int Teller::introduce(Person& person) {
  if (person.index >= 0) return person.index;
  person.index = static_cast<int>(tale_.characters.size());
  const bool female = person.female;
  tale_.characters.push_back(
      {person.name, female ? "she" : "he", female ? "her" : "him", female ? "her" : "his"});
  return person.index;
}

int Teller::introduce(Prop& prop) {
  if (prop.index >= 0) return prop.index;
  prop.index = static_cast<int>(tale_.things.size());
  tale_.things.push_back({std::string(prop.thing.noun), std::string(prop.adjective)});
  return prop.index;
}

Person* Teller::person(char letter) {
  return letter >= 'A' && letter <= 'C' ? &people_[static_cast<size_t>(letter - 'A')] : nullptr;
}
Prop* Teller::prop(char letter) {
  if (letter == 'O') return &props_[0];
  return letter == 'Q' ? &props_[1] : nullptr;
}

std::string Teller::slot(std::string_view name, std::string_view form, size_t at) {
  if (name.size() > 1) return list_slot(name, form);
  if (Person* who = person(name[0])) return person_slot(*who, form, at);
  if (Prop* what = prop(name[0])) return prop_slot(*what, form, at);
  switch (name[0]) {
    case 'P':
      return place_slot(place_, form);
    case 'R':
      return place_slot(far_place_, form);
    case 'N':
      if (form == "sound") return std::string(animal_.sound);
      if (form == "act") return std::string(animal_.act);
      return form == "a" ? with_article(animal_.noun) : std::string(animal_.noun);
    case 'F':
      if (form == "taste") return std::string(food_.taste);
      return form == "a" ? with_article(food_.noun) : std::string(food_.noun);
    case 'W':
      return std::string(form == "sky" ? weather_.sky : weather_.adjective);
    default:
      return list_slot(name, form);
  }
}

std::string Teller::person_slot(Person& person, std::string_view form, size_t at) {
  using Kind = TaleMention::Kind;
  if (form == "child") return person.female ? "girl" : "boy";
  if (form == "hers") return person.female ? "hers" : "his";
  if (form == "tool") return with_article(grownup_.tool);
  if (form == "at") return fmt::format("in the {}", grownup_.work);
  const int index = introduce(person);
  const TaleCharacter& character = tale_.characters[static_cast<size_t>(index)];
  const auto mention = [&](Kind kind, const std::string& word) {
    tale_.mentions.push_back({kind, at, at + word.size(), index});
    return word;
  };
  if (form == "he") return mention(Kind::kPronoun, character.pronoun);
  if (form == "him") return mention(Kind::kAccusative, character.accusative);
  if (form == "his") return mention(Kind::kPossessive, character.possessive);
  assert(form.empty());
  return mention(Kind::kName, character.name);
}

std::string Teller::prop_slot(Prop& prop, std::string_view form, size_t at) {
  using Kind = TaleMention::Kind;
  if (form == "verb") return std::string(prop.thing.verb);
  if (form == "past") return std::string(prop.thing.past);
  if (form == "ing") return std::string(prop.thing.gerund);
  if (form == "adj") return std::string(prop.adjective);
  const int index = introduce(prop);
  if (form == "holder") {
    assert(prop.holder >= 0);
    const std::string& name = tale_.characters[static_cast<size_t>(prop.holder)].name;
    tale_.mentions.push_back({Kind::kHolder, at, at + name.size(), prop.holder});
    return name;
  }
  std::string words(prop.thing.noun);
  if (form == "full" || form == "a") words = fmt::format("{} {}", prop.adjective, words);
  if (form == "a") words = with_article(words);
  const size_t end = at + words.size();
  tale_.mentions.push_back({Kind::kThing, end - prop.thing.noun.size(), end, index});
  return words;
}

std::string Teller::place_slot(const Place& place, std::string_view form) const {
  if (form == "in") return fmt::format("{} the {}", place.preposition, place.noun);
  if (form == "to") return fmt::format("to the {}", place.noun);
  if (form == "sight") return std::string(place.sight);
  return std::string(form == "feature" ? place.feature : place.noun);
}

/// {happy}: a word of the list, drawn anew; {happy1}: drawn once, kept for the tale; {a:happy1}: with its
/// article.
std::string Teller::list_slot(std::string_view name, std::string_view form) {
  if (name == "a") {
    if (form == "W") return with_article(weather_.adjective);
    if (Prop* what = form.size() == 1 ? prop(form[0]) : nullptr) return with_article(what->thing.noun);
    return with_article(list_slot(form, ""));
  }
  if (const auto kept = kept_.find(name); kept != kept_.end()) return std::string(kept->second);
  const bool keep = name.back() == '1';
  std::string_view list = keep ? name.substr(0, name.size() - 1) : name;
  if (list == "lesson") list = lessons_;
  for (const WordList& words : word_lists()) {
    if (words.name != list) continue;
    const std::string_view word = dice_.pick(words.words);
    if (keep) kept_.emplace(name, word);
    return std::string(word);
  }
  assert(!"a slot that no list has");
  return {};
}

}  // namespace

Tale tale(uint64_t seed, uint64_t index) {
  return Teller(seed, index).tell();
}

std::vector<std::string> tales(int64_t count, uint64_t seed) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) texts.push_back(tale(seed, static_cast<uint64_t>(i)).text);
  return texts;
}

}  // namespace tril

// The grammar behind tales.h: word tables and plots, and the notation the plots are written in.
//
// A plot is a list of beats, told in order. A beat is one or more alternatives, parted by '|'; one is drawn.
// An alternative is one or more sentences, parted by '#'. The beat "/" begins a paragraph. A beat with a '?'
// before it is told half of the time; "@name" stands for the shared beat of that name. In a sentence
// {slot:form} is a word of the tale (see tales.cc), and [O=A] says that A holds O when it is over, [O=-] that
// no one does.
#pragma once
#include <string_view>
#include <vector>

namespace tril::grammar {

struct Thing {
  std::string_view noun, verb, past, gerund;  // kite, fly, flew, flying
};
struct Place {
  std::string_view preposition, noun, sight, feature;  // in, park, "tall oaks and …", bench
};
struct Animal {
  std::string_view noun, sound, act;  // kitten, "meowed", "licked its paw"
};
struct Grownup {
  std::string_view noun, tool, work;  // tailor, "sharp needle", workshop
};
struct Food {
  std::string_view noun, taste;
};
struct Weather {
  std::string_view adjective, sky;
};
struct WordList {
  std::string_view name;
  std::vector<std::string_view> words;
};
struct Beat {
  std::string_view name, text;
};
struct Plot {
  std::string_view name, lessons;  // the list that {lesson} is drawn from
  std::vector<std::string_view> beats;
};

const std::vector<std::string_view>& girls();
const std::vector<std::string_view>& boys();
const std::vector<std::string_view>& adjectives();  // of things
const std::vector<Thing>& things();
const std::vector<Place>& places();
const std::vector<Animal>& animals();
const std::vector<Grownup>& grownups();
const std::vector<Food>& foods();
const std::vector<Weather>& weathers();
const std::vector<WordList>& word_lists();  // {happy}: drawn anew; {happy1}: once for the tale
const std::vector<Beat>& shared_beats();
const std::vector<Plot>& plots();

}  // namespace tril::grammar

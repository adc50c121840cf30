// The words of the tales: names, things with what one does with them, places with what is there, and so on.
// Rows tie words together on purpose (a kite is flown, a park has oaks): these ties are what a model can
// learn.
#include "tril/data/tales_grammar.h"

namespace tril::grammar {

const std::vector<std::string_view>& girls() {
  static const std::vector<std::string_view> table = {"Anna",  "Bella", "Clara", "Daisy", "Ella",
                                                      "Fiona", "Grace", "Holly", "Iris",  "Julia"};
  return table;
}

const std::vector<std::string_view>& boys() {
  static const std::vector<std::string_view> table = {"Adam",  "Ben",    "Carl",  "David", "Eric",
                                                      "Felix", "George", "Henry", "Ivan",  "Jack"};
  return table;
}

const std::vector<std::string_view>& adjectives() {
  static const std::vector<std::string_view> table = {
      "red",    "blue",  "green", "yellow", "purple", "orange", "pink",   "white",   "brown",  "golden",
      "silver", "shiny", "tiny",  "old",    "new",    "round",  "pretty", "striped", "bright", "special"};
  return table;
}

const std::vector<Thing>& things() {
  static const std::vector<Thing> table = {
      {"ball", "bounce", "bounced", "bouncing"},
      {"kite", "fly", "flew", "flying"},
      {"drum", "tap", "tapped", "tapping"},
      {"book", "read", "read", "reading"},
      {"doll", "dress", "dressed", "dressing"},
      {"truck", "push", "pushed", "pushing"},
      {"boat", "float", "floated", "floating"},
      {"top", "spin", "spun", "spinning"},
      {"bell", "ring", "rang", "ringing"},
      {"flute", "play", "played", "playing"},
      {"puzzle", "solve", "solved", "solving"},
      {"rope", "swing", "swung", "swinging"},
      {"lantern", "light", "lit", "lighting"},
      {"umbrella", "open", "opened", "opening"},
      {"basket", "carry", "carried", "carrying"},
      {"map", "study", "studied", "studying"},
      {"shell", "polish", "polished", "polishing"},
      {"coin", "flip", "flipped", "flipping"},
      {"hat", "wear", "wore", "wearing"},
      {"scarf", "wrap", "wrapped", "wrapping"},
      {"blanket", "fold", "folded", "folding"},
      {"pillow", "hug", "hugged", "hugging"},
      {"teddy", "cuddle", "cuddled", "cuddling"},
      {"train", "drive", "drove", "driving"},
      {"bucket", "fill", "filled", "filling"},
      {"wagon", "pull", "pulled", "pulling"},
      {"sled", "ride", "rode", "riding"},
      {"mirror", "clean", "cleaned", "cleaning"},
      {"clock", "wind", "wound", "winding"},
      {"key", "turn", "turned", "turning"},
      {"box", "shake", "shook", "shaking"},
      {"ribbon", "tie", "tied", "tying"},
      {"marble", "roll", "rolled", "rolling"},
      {"stick", "wave", "waved", "waving"},
      {"whistle", "blow", "blew", "blowing"},
      {"flower", "smell", "smelled", "smelling"},
      {"camera", "point", "pointed", "pointing"},
      {"picture", "paint", "painted", "painting"},
      {"letter", "write", "wrote", "writing"},
      {"card", "draw", "drew", "drawing"},
      {"mask", "decorate", "decorated", "decorating"},
      {"necklace", "admire", "admired", "admiring"},
      {"bracelet", "touch", "touched", "touching"},
      {"telescope", "aim", "aimed", "aiming"},
      {"guitar", "strum", "strummed", "strumming"},
      {"balloon", "squeeze", "squeezed", "squeezing"},
      {"puppet", "move", "moved", "moving"},
      {"robot", "steer", "steered", "steering"},
      {"cup", "wash", "washed", "washing"},
      {"bag", "pack", "packed", "packing"},
  };
  return table;
}

const std::vector<Place>& places() {
  static const std::vector<Place> table = {
      {"in", "park", "tall oaks and wooden benches", "bench"},
      {"at", "beach", "soft sand and salty waves", "rock"},
      {"in", "forest", "mossy logs and quiet paths", "log"},
      {"in", "garden", "red roses and fat bees", "rosebush"},
      {"on", "farm", "noisy hens and muddy pigs", "barn"},
      {"at", "market", "busy stalls and loud sellers", "stall"},
      {"at", "school", "long halls and many desks", "desk"},
      {"in", "library", "high shelves and comfy chairs", "shelf"},
      {"in", "kitchen", "copper pots and clean plates", "stove"},
      {"by", "river", "smooth pebbles and silver fish", "bridge"},
      {"by", "lake", "green reeds and slow swans", "pier"},
      {"on", "hill", "dry weeds and flat rocks", "bush"},
      {"in", "meadow", "wild daisies and small crickets", "fence"},
      {"at", "zoo", "sleepy lions and funny monkeys", "cage"},
      {"in", "attic", "dusty trunks and gray cobwebs", "trunk"},
      {"in", "cave", "dark corners and dripping walls", "boulder"},
      {"at", "station", "shiny tracks and heavy suitcases", "booth"},
      {"in", "museum", "stone statues and huge bones", "statue"},
      {"at", "castle", "thick walls and narrow stairs", "gate"},
      {"at", "harbor", "white sails and hungry gulls", "barrel"},
      {"in", "yard", "rusty swings and empty pots", "shed"},
      {"at", "playground", "steep slides and metal bars", "slide"},
      {"in", "orchard", "ripe plums and crooked ladders", "ladder"},
      {"in", "village", "narrow streets and colorful doors", "well"},
  };
  return table;
}

const std::vector<Animal>& animals() {
  static const std::vector<Animal> table = {
      {"kitten", "meowed", "licked its paw"},     {"puppy", "barked", "wagged its tail"},
      {"duck", "quacked", "shook its feathers"},  {"lamb", "bleated", "skipped around"},
      {"bird", "chirped", "flapped its wings"},   {"frog", "croaked", "hopped twice"},
      {"mouse", "squeaked", "twitched its nose"}, {"owl", "hooted", "blinked slowly"},
      {"pony", "neighed", "stamped its hoof"},    {"bee", "buzzed", "circled above"},
      {"goat", "bellowed", "nibbled some grass"}, {"squirrel", "chattered", "cracked a nut"},
      {"bunny", "sniffed", "wiggled its ears"},   {"hedgehog", "snuffled", "curled up tight"},
      {"fox", "yelped", "hid its face"},          {"turtle", "sighed", "stretched its neck"},
      {"parrot", "whistled", "bobbed its head"},  {"piglet", "oinked", "rubbed its belly"},
  };
  return table;
}

const std::vector<Grownup>& grownups() {
  static const std::vector<Grownup> table = {
      {"baker", "ball of string", "bakery"},
      {"farmer", "coil of rope", "barn"},
      {"sailor", "long net", "boathouse"},
      {"doctor", "roll of tape", "clinic"},
      {"tailor", "sharp needle", "workshop"},
      {"gardener", "iron spade", "greenhouse"},
      {"teacher", "bottle of glue", "classroom"},
      {"carpenter", "trusty hammer", "cabin"},
      {"firefighter", "tall ladder", "tower"},
      {"police officer", "bright flashlight", "office"},
      {"mail carrier", "leather strap", "post office"},
      {"cook", "wooden spoon", "diner"},
      {"painter", "wide brush", "studio"},
      {"miller", "strong pulley", "mill"},
      {"shepherd", "crooked staff", "hut"},
      {"clown", "pair of pliers", "tent"},
  };
  return table;
}

const std::vector<Food>& foods() {
  static const std::vector<Food> table = {
      {"apple", "crunchy"},  {"cookie", "crumbly"}, {"cake", "sweet"},   {"sandwich", "salty"},
      {"pear", "juicy"},     {"peach", "fuzzy"},    {"lemon", "sour"},   {"pie", "warm"},
      {"muffin", "fluffy"},  {"banana", "creamy"},  {"carrot", "fresh"}, {"pancake", "buttery"},
      {"pretzel", "twisty"}, {"waffle", "crispy"},  {"berry", "tart"},   {"candy", "sticky"},
  };
  return table;
}

const std::vector<Weather>& weathers() {
  static const std::vector<Weather> table = {
      {"sunny", "the sun warmed the ground"},        {"rainy", "drops fell from the dark clouds"},
      {"windy", "the wind pushed the leaves along"}, {"snowy", "snow covered the roofs"},
      {"foggy", "a thick mist hid the houses"},      {"cold", "frost sparkled on the windows"},
      {"hot", "everyone looked for some shade"},     {"cloudy", "the sky was gray and still"},
      {"stormy", "thunder rumbled far away"},        {"calm", "nothing stirred at all"},
  };
  return table;
}

const std::vector<WordList>& word_lists() {
  static const std::vector<WordList> table = {
      {"happy", {"happy", "glad", "proud", "cheerful", "joyful"}},
      {"sad", {"sad", "upset", "gloomy", "unhappy", "tearful"}},
      {"scared", {"scared", "afraid", "frightened", "worried", "nervous"}},
      {"angry", {"angry", "cross", "mad", "grumpy"}},
      {"trait",
       {"kind", "brave", "clever", "shy", "curious", "gentle", "lazy", "silly", "polite", "careful", "quiet",
        "lively"}},
      {"virtue", {"kind", "brave", "clever", "gentle", "helpful"}},
      {"time", {"morning", "afternoon", "evening", "day"}},
      {"loudly", {"loudly", "softly", "gently", "quickly", "slowly"}},
      {"smiled", {"smiled", "laughed", "giggled", "grinned", "cheered"}},
      {"cried", {"cried", "sobbed", "wept", "sniffled"}},
      {"walked", {"walked", "ran", "hurried", "skipped", "marched"}},
      {"looked", {"looked", "searched", "hunted"}},
      {"found", {"found", "spotted", "noticed", "discovered"}},
      {"wonderful", {"wonderful", "lovely", "amazing", "fine", "great"}},
      {"relative", {"mother", "father", "grandma", "grandpa", "sister"}},
      {"help", {"help a friend", "ask for help", "keep trying", "look twice"}},
      {"sharing", {"share", "take turns", "play together", "be kind"}},
      {"fairness", {"be fair", "ask nicely", "play fair", "listen to others"}},
      {"giving", {"give gladly", "think of others", "be generous", "choose with care"}},
      {"care", {"be careful", "say sorry", "forgive", "mend things"}},
      {"calm", {"stay calm", "be patient", "be gentle", "think first"}},
      {"honesty", {"tell the truth", "give things back", "do the right thing", "be honest"}},
  };
  return table;
}

}  // namespace tril::grammar

// The plots of the tales, in the notation of tales_grammar.h. A = the hero, B = a friend, C = a grown-up at
// work, O and Q = things, P and R = places, N = an animal, F = food, W = weather.
#include "tril/data/tales_grammar.h"

namespace tril::grammar {

const std::vector<Beat>& shared_beats() {
  static const std::vector<Beat> table = {
      {"open",
       "once upon a time, there was {a:trait1} {A:child} named {A}. | once there was {a:trait1} {A:child} "
       "called {A}. |{A} was {a:trait1} {A:child} who lived near the {R}."},
      {"has",
       "{A} had {O:a}. [O=A] # {A:he} {O:past} the {O} every day. |{A:his} {relative1} gave {A} {O:a}. [O=A] "
       "# {A} was {happy} and {O:past} the {O} all day."},
      {"go",
       "one {W} {time1}, {A} {walked} {P:to} with the {O}. | on {a:W} {time1}, {A} took the {O} {P:to}."},
      {"walk", "one {W} {time1}, {A} {walked} {P:to}. | on {a:W} {time1}, {A} went {P:to}."},
      {"sky", "{W:sky}. | {W:sky}, but {A} did not mind."},
      {"sights", "{P:in}, there were {P:sight}. | {A} could see {P:sight} {P:in}."},
      {"meet",
       "there {A} met {A:his} friend {B}. # {B:he} {smiled} and said hello to {A}. |{A:his} friend {B} was "
       "there too. # {B} waved to {A}, and {A} waved back to {B}."},
      {"animal", "{N:a} {N:sound} and {N:act}. | close by, {N:a} {N:sound}. # then the {N} {N:act}."},
      {"snack",
       "{A} had {F:a} and shared the {F} with {B}. # the {F} was {F:taste}. |they were hungry, so they ate "
       "{F:a}. # the {F} tasted {F:taste}."},
      {"holder", "now the {O} belonged to {O:holder}. | it was {O:holder} who had the {O} now."},
      {"holds", "{O:holder} held the {O} now. | the {O} was in the hands of {O:holder} now."},
      {"moral", "{A} learned to {lesson1}. | that {time1}, {A} and {B} learned to {lesson1}."},
      {"end", "{A} and {B} were {happy}. | {A} and {B} stayed good friends."},
      {"thanks", "\"Thank you, {B}!\" said {A}. | {A} {smiled} and thanked {B}."},
  };
  return table;
}

const std::vector<Plot>& plots() {
  static const std::vector<Plot> table = {
      {"lost",
       "help",
       {"@open",
        "@has",
        "/",
        "@go",
        "?@sky",
        "@sights",
        "?@animal",
        "{A} put the {O} down and forgot about it. [O=-] | the {O} fell, and {A} did not see it. [O=-]",
        "when {A} wanted to {O:verb} the {O} again, it was gone. # {A:he} {looked} for the {O}, but {A:he} "
        "could not find it. | \"Where is my {O}?\" asked {A}. # {A:he} {looked} and {looked}, but the {O} "
        "was gone.",
        "{A} was {sad1}, and {A:he} {cried}. | {A} {cried} because the {O} was lost. # {A:he} felt {sad1}.",
        "/",
        "{B} saw that {A} was {sad1}. # \"Why are you {sad1}, {A}?\" asked {B}. # \"I lost my {O:full},\" "
        "said {A}. |{A:his} friend {B} came along. # {B:he} asked, \"What is wrong, {A}?\" # {A} said, \"My "
        "{O} is lost!\"",
        "\"I will help you find the {O},\" said {B}. | {B} said, \"We will find your {O} together.\"",
        "{B} {looked} behind the {P:feature} and {found} the {O}. [O=B] |at last, {B} {found} the {O} under "
        "the {P:feature}. [O=B]",
        "?@holds",
        "{B} gave the {O} back to {A}. [O=A] | {B:he} put the {O} into the hands of {A}. [O=A]",
        "@thanks",
        "{A} was not {sad1} anymore. | {A} was {happy1} and {O:past} the {O} with {B}.",
        "/",
        "?@holds",
        "@moral",
        "@end"}},
      {"share",
       "sharing",
       {"@open",
        "@has",
        "/",
        "@go",
        "?@sights",
        "@meet",
        "/",
        "\"May I {O:verb} your {O}?\" asked {B}. # \"No, the {O} is mine!\" said {A}. |{B} wanted to "
        "{O:verb} the {O} too. # but {A} said, \"No, it is my {O}!\"",
        "{B} was {sad1} and went away. | {B} {cried} because {B:he} wanted to {O:verb} the {O}.",
        "then {A} was alone with the {O}. # {O:ing} the {O} alone was not fun. |{A} {O:past} the {O} alone, "
        "but {A:he} did not feel {happy1}.",
        "?@animal",
        "/",
        "{A} {looked} for {B} and {found} {B:him} by the {P:feature}. | {A} went to {B}, who sat by the "
        "{P:feature}.",
        "\"I am sorry, {B},\" said {A}. # \"You may {O:verb} the {O} now.\" |{A} said, \"I am sorry. Please "
        "{O:verb} the {O} with me, {B}.\"",
        "{A} gave the {O} to {B}. [O=B] | {B} took the {O} from {A} and {smiled}. [O=B]",
        "{B} {O:past} the {O}, and {B:he} was {happy1}. | {B} {O:past} the {O} {loudly}, and {A} {smiled}.",
        "@holder",
        "?@snack",
        "/",
        "@moral",
        "@end"}},
      {"trade",
       "fairness",
       {"@open",
        "@has",
        "{B} had {Q:a}. [Q=B] # {B:he} {Q:past} the {Q} every day. |{A:his} friend {B} had {Q:a}. [Q=B] # "
        "{B:he} liked {Q:ing} the {Q}.",
        "/",
        "@go",
        "{B} came with the {Q}. | there {A} saw {B} with the {Q}.",
        "?@sights",
        "{A} wanted to {Q:verb} the {Q}, and {B} wanted to {O:verb} the {O}. |\"I would like to {Q:verb} "
        "your {Q},\" said {A}. # \"And I would like to {O:verb} your {O},\" said {B}.",
        "\"Let us trade!\" said {A}. | {B} said, \"Let us trade the {O} for the {Q}.\"",
        "{A} gave the {O} to {B}. [O=B] # {B} gave the {Q} to {A}. [Q=A] |{B} took the {O} from {A}. [O=B] # "
        "then {A} took the {Q} from {B}. [Q=A]",
        "?@animal",
        "/",
        "{A} {Q:past} the {Q}, and {B} {O:past} the {O}. |{B} {O:past} the {O} {loudly}. # {A} {Q:past} the "
        "{Q} and {smiled}.",
        "@holder",
        "the {Q} belonged to {Q:holder}. | {Q:holder} had the {Q}.",
        "{A} was {happy1}, and {B} was {happy1} too.",
        "?@snack",
        "/",
        "@moral",
        "@end"}},
      {"gift",
       "giving",
       {"@open",
        "{A:his} best friend was {B}. # it was the birthday of {B}. |{A} had a friend named {B}. # soon {B} "
        "would have a birthday.",
        "{A} wanted to find a gift for {B}. | {A} wanted to give {B} a gift.",
        "/",
        "@walk",
        "?@sky",
        "@sights",
        "there {A} {found} {O:a}. [O=A] # \"The {O} is {wonderful} for {B},\" said {A}. |{C} gave {A} {O:a}. "
        "[O=A] # \"Give the {O} to {B},\" said {C}.",
        "{A} wanted to keep the {O} and {O:verb} it. # but {A:he} thought of {B}. |{A} {O:past} the {O} once "
        "and liked it. # but the {O} was for {B}.",
        "?@animal",
        "/",
        "{A} {walked} to the house of {B}. # {B:he} opened the door and {smiled}. |{B} opened the door for "
        "{A}. # \"Come in, {A}!\" said {B}.",
        "\"Happy birthday, {B}!\" said {A}. # \"This {O} is for you.\" |{A} said, \"I have {O:a} for you, "
        "{B}.\"",
        "{A} gave the {O} to {B}. [O=B] | {B} took the {O} from {A}. [O=B]",
        "{B} {O:past} the {O} and was {happy1}. | {B} said, \"What {a:wonderful} {O}!\"",
        "@holder",
        "@snack",
        "/",
        "@moral",
        "@end"}},
      {"broken",
       "care",
       {"@open",
        "{A:his} friend {B} had {O:a}. [O=B] # {B:he} {O:past} the {O} every day. |{A} had a friend named "
        "{B}, who had {O:a}. [O=B] # {B:he} loved {O:ing} the {O}.",
        "/",
        "@walk",
        "?@sights",
        "{B} was there with the {O}. | there {A} met {B} with the {O}.",
        "\"Please be careful with the {O},\" said {B} and gave it to {A}. [O=A] |{B} let {A} {O:verb} the "
        "{O}. [O=A]",
        "{A} {O:past} the {O}, but then {A:he} dropped it. # now it was ruined. |but {A} was not careful, "
        "and the {O} hit the {P:feature}. # now the {O} was ruined.",
        "{B} was {angry1}, and {A} was {sad1}. | \"You ruined my {O}!\" said {B}. # {B:he} was {angry1}.",
        "\"I am sorry,\" said {A}. # \"I will mend the {O}.\" | {A} said, \"I am so sorry, {B}.\"",
        "?@animal",
        "/",
        "{A} took the {O} to {C}. # {C:he} had {C:tool}. | {A} went to {C} {C:at} with the {O}. # {C:he} "
        "took {C:tool}.",
        "\"Can you mend the {O}?\" asked {A}. # \"Yes, I can,\" said {C}. |{C} {smiled} at {A}. # \"I will "
        "help you with the {O},\" said {C}.",
        "{C} worked {loudly}, and soon the {O} was like new. | with {C:tool}, {C} made the {O} whole again.",
        "{A} ran to {B} and gave {B:him} the {O}. [O=B] | {A} brought the {O} back to {B}. [O=B]",
        "{B} was not {angry1} anymore. | \"I forgive you, {A},\" said {B}.",
        "@holder",
        "/",
        "@moral",
        "@end"}},
      {"rescue",
       "help",
       {"@open",
        "@walk",
        "@sky",
        "@sights",
        "/",
        "{A} heard a small cry. # {N:a} was stuck behind the {P:feature}. |behind the {P:feature}, {A} "
        "{found} {N:a}. # the {N} could not get out.",
        "the {N} {N:sound} and was {scared1}. | \"The {N} is {scared1},\" said {A}.",
        "{A} wanted to help the {N}, but {A:he} was too small. | {A} tried to help the {N}, but it was too "
        "hard.",
        "/",
        "{A} ran to {C} {C:at}. # \"Please help the {N}!\" said {A}. | then {C} came by. # {A} told {C} "
        "about the {N}.",
        "{C} took {C:tool} and went to the {P:feature}. | {C} came back with {C:tool}.",
        "with {C:tool}, {C} got the {N} out. | {C} used {C:tool}, and soon the {N} was free.",
        "the {N} {N:act} and was not {scared1} anymore. | the {N} {N:sound} and {N:act}.",
        "/",
        "{B} saw it all and came to {A}. | {B} was a friend of {A} and came too.",
        "\"You are {a:virtue1} {A:child}, {A},\" said {B}. | {B} said, \"You were {virtue1}, {A}.\"",
        "{A} and {B} gave the {N} {F:a}. # the {N} ate the {F:taste} {F}. |{B} had {F:a} for the {N}. # it "
        "was {F:taste}, and the {N} ate it.",
        "{C} gave {A} {O:a}. [O=A] # {A:he} {O:past} the {O} and was {happy1}. | \"This {O} is for you,\" "
        "said {C} to {A}. [O=A] # {A} {O:past} the {O} with {B}.",
        "@holder",
        "@end"}},
      {"thief",
       "calm",
       {"@open",
        "@has",
        "/",
        "@go",
        "@meet",
        "?@sights",
        "{A} {O:past} the {O} while {B} {smiled}. |{A} and {B} {O:past} the {O} together.",
        "then {N:a} came and took the {O}. [O=-] | suddenly {N:a} ran off with the {O}. [O=-]",
        "the {N} {N:sound} and hid behind the {P:feature}. | \"Stop!\" said {A}, but the {N} hid by the "
        "{P:feature}.",
        "{A} was {angry1}. # \"The {N} has my {O}!\" said {A}. | {A} {cried}. # {A:he} was {sad1} about the "
        "{O}.",
        "/",
        "\"I have {F:a},\" said {B}. # \"Maybe the {N} is hungry.\" | {B} took out {F:a}. # \"The {N} may "
        "like the {F},\" said {B}.",
        "{B} put the {F} down, and the {N} came to eat it. | the {N} saw the {F:taste} {F} and came out.",
        "while the {N} ate the {F}, {B} picked up the {O}. [O=B] | {B} took the {O} while the {N} ate. [O=B]",
        "@holds",
        "{B} gave the {O} to {A}. [O=A] | then {B} handed the {O} back to {A}. [O=A]",
        "@thanks",
        "the {N} {N:act}, and {A} was not {angry} anymore. | the {N} {N:act}, and they all {smiled}.",
        "/",
        "?@holds",
        "@moral",
        "@end"}},
      {"race",
       "fairness",
       {"@open",
        "{A} and {B} liked to race. # {A} was fast, but {B} was fast too. |{A:his} friend {B} was very fast. "
        "# {A} wanted to be as fast as {B}.",
        "/", "@walk", "?@sky",
        "{C} had {O:a}. [O=C] # \"Whoever wins the race gets the {O},\" said {C}. |{C} held up {O:a}. [O=C] "
        "# {C:he} said, \"The {O} is for the winner.\"",
        "{A} and {B} ran from the {P:feature} to the {R}. | \"Go!\" said {C}, and {A} and {B} ran.", "/",
        "{A} fell and hurt {A:his} knee, so {B} stopped and helped {A}. # \"You are {virtue1}, {B},\" said "
        "{C} and gave the {O} to {B}. [O=B] |{B} fell and hurt {B:his} knee, so {A} stopped and helped {B}. "
        "# \"You are {virtue1}, {A},\" said {C} and gave the {O} to {A}. [O=A] |{A} was first. # {C} gave "
        "the {O} to {A}, and {B} {smiled}. [O=A] |{B} was first. # {C} gave the {O} to {B}, and {A} "
        "{smiled}. [O=B]",
        "@holder", "?@snack", "?@animal", "/", "@moral", "@end"}},
      {"honest",
       "honesty",
       {"@open", "@walk", "@sights",
        "on the ground, {A} {found} {O:a}. [O=A] | by the {P:feature} lay {O:a}. # {A} picked up the {O}. "
        "[O=A]",
        "{A} {O:past} the {O} and liked it. | {A:he} wanted to keep the {O} and {O:verb} it.", "?@animal",
        "/", "then {A} saw {B}, who was {sad1}. | {B} came along and was {sad1}.",
        "\"I lost my {O},\" said {B}. # \"It is {O:adj}.\" | \"Did you see {O:a}?\" asked {B}. # \"I lost it "
        "{P:in}.\"",
        "{A} could say no and keep the {O}. # but {A:he} knew that the {O} belonged to {B}. |{A} thought for "
        "a moment. # the {O} was not {A:hers}.",
        "\"Here is your {O},\" said {A} and gave it to {B}. [O=B] | {A} gave the {O} to {B}. [O=B]",
        "\"Thank you, {A}!\" said {B}. | {B} {smiled} and thanked {A}.", "@holder",
        "{B} and {A} {O:past} the {O} together. | {B} let {A} {O:verb} the {O} too.", "?@snack", "/",
        "@moral", "@end"}},
      {"dark",
       "calm",
       {"@open",
        "@has",
        "/",
        "one {W} night, {A} lay in bed. # {W:sky}. | it was {a:W} night, and {A} could not sleep.",
        "{A} heard a noise. # something {N:sound} in the dark. | something in the dark {N:sound}.",
        "{A} was {scared1} and held the {O}. | {A:he} felt {scared1} and called for {A:his} {relative1}.",
        "/",
        "{A:his} {relative1} came in. # \"Why are you {scared1}, {A}?\" |\"What is it, {A}?\" asked {A:his} "
        "{relative1}.",
        "\"I heard something,\" said {A}. | {A} said, \"There is something in the dark.\"",
        "they {looked} behind the door and {found} {N:a}. | they opened the window, and there was {N:a}.",
        "the {N} {N:sound} and {N:act}. | the {N} {N:act}. # it was {scared1} too.",
        "{A} was not {scared1} anymore. | \"It is just {N:a}!\" said {A} and {smiled}.",
        "/",
        "the next {time1}, {A} told {B} about the {N}. | the next {time1}, {B} came and saw the {N}.",
        "{A} let {B} {O:verb} the {O}. [O=B] | {A} gave {B} the {O}. [O=B]",
        "{B} {O:past} the {O} for the {N}. | {B:he} {O:past} the {O}, and the {N} {N:sound}.",
        "@holder",
        "{A} gave the {N} {F:a}. # the {F} was {F:taste}. | the {N} got {F:a} and ate the {F:taste} {F}.",
        "/",
        "@end"}},
  };
  return table;
}

}  // namespace tril::grammar

// Generation and score with byte-level BPE: models with drawn weights and no training, whose tokens are as
// wild as can be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tril/generate/generate.h"
#include "tril/generate/score.h"
#include "tril/model/registry.h"
#include "tril/text/bpe_stream.h"
#include "tril/text/bpe_testing.h"
#include "tril/text/utf8.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

using bpe_testing::Json;
using testing::HasSubstr;

// `rows` of the vocabulary's table, of which the tokenizer has 262.
LoadedRun drawn_run(int64_t rows, const Json& tokenizer) {
  LoadedRun run;
  run.tokenizer = bpe_testing::load(tokenizer);
  run.config.run.engine = "reference";
  run.config.run.dtype = "f64";
  ModelConfig& c = run.config.model;
  c.family = "decoder";
  c.d_model = 8, c.heads = 2, c.hidden = 12, c.context = 8, c.vocab_size = rows;
  run.model = make_model(c, DType::f64);
  TorchGenerator random(3);
  run.model->initialize(random);
  return run;
}

Json with_bos() {
  Json file = bpe_testing::small_file();
  file["added_tokens"].push_back({{"id", 262}, {"content", "<bos>"}, {"special", true}});
  file["post_processor"] = Json::parse(R"({"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<bos>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"<bos>": {"id": "<bos>", "ids": [262], "tokens": ["<bos>"]}}})");
  return file;
}

GenerateOptions options(int64_t length, double temperature = 1) {
  GenerateOptions o;
  o.max_new_tokens = length;
  o.rules.temperature = temperature;
  return o;
}

template <class Act>
std::string said(const Act& act) {
  testing::internal::CaptureStderr();
  act();
  return testing::internal::GetCapturedStderr();
}

// Random bytes, as an untrained model gives them: every piece is valid UTF-8, and all of it is what Hugging
// Face's decoder makes of all ids.
TEST(BpeGeneration, StreamsValidUtf8AndTheTextOfAllIds) {
  const LoadedRun run = drawn_run(262, bpe_testing::small_file());
  for (int64_t sample = 0; sample < 20; ++sample) {
    std::string streamed, shown;
    GenerateOptions o = options(60);
    o.on_prompt = [&](std::string_view prompt) { shown = prompt; };
    o.on_text = [&](std::string_view piece) {
      EXPECT_FALSE(first_invalid_utf8(piece));
      streamed += piece;
    };
    const Generated made = generate(run, "hello \xE2\x82", o, sample);
    std::vector<int32_t> ids = made.prompt_ids;
    for (const GeneratedToken& token : made.tokens) ids.push_back(token.id);
    Utf8Stream all;
    std::string whole = all.push(run.tokenizer->decode(ids));
    EXPECT_EQ(made.text, whole + all.finish());
    EXPECT_EQ(made.continuation, streamed);
    EXPECT_EQ(made.text, shown + streamed);
  }
}

// Case 31: 262 tokens in a table of 320 rows. What stands for nothing is never drawn and has no probability.
TEST(BpeGeneration, PaddedRowsAreNeverDrawn) {
  const LoadedRun run = drawn_run(320, bpe_testing::small_file());
  int64_t drawn = 0;
  for (int64_t sample = 0; drawn < 1000; ++sample) {
    GenerateOptions o = options(100, 5);
    o.top = 262;
    const Generated made = generate(run, "a", o, sample);
    for (const GeneratedToken& token : made.tokens) {
      EXPECT_LT(token.id, 262);
      double sum = 0;
      for (const Alternative& other : token.alternatives) sum += other.probability;
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    drawn += static_cast<int64_t>(made.tokens.size());
  }
}

// Case 31.
TEST(BpeGeneration, PaddedRowsDoNotEnterTheLoss) {
  LoadedRun run = drawn_run(320, bpe_testing::small_file());
  const double before = score(run, "hello world").nats;
  const Parameters& weights = run.model->parameters();
  for (int i = 0; i < weights.size(); ++i) {
    if (weights.info(i).name != "head.weight") continue;
    const Tensor head = weights.value(i);
    for (int64_t n = 262 * 8; n < head.count(); ++n) head.as<double>()[n] = 100;
  }
  EXPECT_EQ(score(run, "hello world").nats, before);
}

// Case 12: one begin token, or a warning; none where the model has none; and the ids can be seen.
TEST(BpeGeneration, OneBeginTokenOrAWarning) {
  LoadedRun run = drawn_run(263, with_bos());
  run.begins_with_bos = true;
  const auto prompt = [&](const char* text) { return generate(run, text, options(1, 0)).prompt_ids; };
  EXPECT_EQ(prompt("hello"), (std::vector<int32_t>{262, 259}));
  EXPECT_EQ(prompt(""), (std::vector<int32_t>{262}));
  EXPECT_THAT(said([&] { EXPECT_EQ(prompt("<bos>hello").size(), 7u); }),
              HasSubstr("the text begins with '<bos>', which is read as plain text behind the model's own"));
  run.specials = Specials::kAsTokens;
  EXPECT_EQ(said([&] { EXPECT_EQ(prompt("<bos>hello"), (std::vector<int32_t>{262, 259})); }), "");
  EXPECT_THAT(said([&] { EXPECT_EQ(prompt("<bos><bos>hello").size(), 3u); }),
              HasSubstr("the text begins with '<bos>' twice"));
}

// Case 12.
TEST(BpeGeneration, NoBeginTokenWhereTheModelHasNone) {
  const LoadedRun run = drawn_run(262, bpe_testing::small_file());
  EXPECT_EQ(generate(run, "hello", options(1, 0)).prompt_ids, (std::vector<int32_t>{259}));
  EXPECT_THROW(generate(run, "", options(1, 0)), Refusal);
}

// Case 30: each id of a list of two ends the text, is not shown, and is the reason.
TEST(BpeGeneration, EachOfTwoEndTokensEndsIt) {
  LoadedRun run = drawn_run(262, bpe_testing::small_file());
  const Generated free = generate(run, "hello", options(6, 0));
  ASSERT_EQ(free.tokens.size(), 6u);
  std::vector<int32_t> ids;
  for (const GeneratedToken& token : free.tokens) ids.push_back(token.id);
  const std::set<int32_t> different(ids.begin(), ids.end());
  for (const int32_t end : different) {
    for (const std::vector<int32_t>& ends : {std::vector<int32_t>{end, 3}, {3, end}}) {
      run.ends.ends = ends;
      const Generated ended = generate(run, "hello", options(6, 0));
      EXPECT_EQ(ended.stopped, "eos");
      EXPECT_EQ(ended.tokens.size(), std::find(ids.begin(), ids.end(), end) - ids.begin());
    }
  }
}

// Samples side by side are the samples one by one, also where they end at different lengths and where there
// are more of them than places.
TEST(BpeGeneration, SamplesSideBySideAreEachAlone) {
  const LoadedRun run = drawn_run(262, bpe_testing::small_file());
  GenerateOptions o = options(30);
  o.stops = {"e", "\uFFFD\uFFFD\uFFFD"};
  std::vector<Generated> together;
  generate_samples(run, "he", o, 0, 19, [&](Generated made) { together.push_back(std::move(made)); });
  ASSERT_EQ(together.size(), 19u);
  std::set<size_t> lengths;
  for (size_t i = 0; i < together.size(); ++i) {
    const Generated alone = generate(run, "he", o, static_cast<int64_t>(i));
    EXPECT_EQ(together[i].text, alone.text) << i;
    EXPECT_EQ(together[i].stopped, alone.stopped) << i;
    lengths.insert(alone.tokens.size());
  }
  EXPECT_GT(lengths.size(), 3u);
  generate_samples(run, "he", options(9, 0), 0, 3, [&](const Generated& made) {  // greedy: all alike
    EXPECT_EQ(made.text, generate(run, "he", options(9, 0)).text);
  });
}

TEST(BpeGeneration, APenaltyCountsThePromptsTokensToo) {
  const LoadedRun run = drawn_run(262, bpe_testing::small_file());
  GenerateOptions o = options(8, 0);
  o.rules.repetition_penalty = 1e6;  // what was there is as good as forbidden where its logit is positive
  const Generated made = generate(run, "hello", o);
  std::set<int32_t> seen(made.prompt_ids.begin(), made.prompt_ids.end());
  for (const GeneratedToken& token : made.tokens) EXPECT_TRUE(seen.insert(token.id).second) << token.id;
}

}  // namespace
}  // namespace tril

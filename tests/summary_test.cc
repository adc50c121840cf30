// What stands beside a run's curves on a terminal: the losses of models that need no training.
#include "tril/cli/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tril/train/train_testing.h"

namespace tril {
namespace {

using testing::HasSubstr;
using testing::Not;

nlohmann::ordered_json result_of(std::initializer_list<double> losses) {
  nlohmann::ordered_json result = {{"vocab_size", 20}, {"trace", nlohmann::ordered_json::array()}};
  for (const double loss : losses)
    result["trace"].push_back({{"tokens_seen", 16 * (result["trace"].size() + 1)},
                               {"train_batch_loss", loss},
                               {"validation_loss", nullptr}});
  return result;
}

TEST(Summary, TheChartHasTheBaselines) {
  const std::string chart = cli::loss_chart(result_of({3, 2.5, 2}), BaselineLosses{3, 2.7, 2.2, 100}, false);
  for (const char* name : {"uniform, ln 20", "unigram", "bigram", "training batch", "targets seen"})
    EXPECT_THAT(chart, HasSubstr(name));
  const std::string bare = cli::loss_chart(result_of({3, 2.5, 2}), std::nullopt, false);
  EXPECT_THAT(bare, HasSubstr("uniform, ln 20"));
  EXPECT_THAT(bare, Not(HasSubstr("bigram")));
  EXPECT_EQ(cli::loss_chart(result_of({3}), std::nullopt, false), "");
}

TEST(Summary, BaselinesAreThoseOfTheValidationPartOrElseOfTraining) {
  CorpusOptions quiet;
  quiet.announce = false;
  const Config window = small_run();
  const Corpus corpus = build_corpus(window.data, quiet);
  const std::optional<BaselineLosses> losses = cli::baselines_of(window, corpus);
  ASSERT_TRUE(losses.has_value());
  EXPECT_EQ(losses->targets, corpus.audit.parts[1].targets);
  EXPECT_DOUBLE_EQ(losses->uniform, std::log(static_cast<double>(corpus.tokenizer->vocab_size())));
  EXPECT_LT(losses->bigram, losses->unigram);
  ConfigBuilder builder;
  builder.add_preset("tiny-gpt-abc");  // no validation part; after a comes b
  const Config abc = builder.finish();
  const std::optional<BaselineLosses> trained = cli::baselines_of(abc, build_corpus(abc.data, quiet));
  ASSERT_TRUE(trained.has_value());
  EXPECT_EQ(trained->targets, 59);  // of "abc" twenty times, one stream
  EXPECT_LT(trained->bigram, 0.2);
}

}  // namespace
}  // namespace tril

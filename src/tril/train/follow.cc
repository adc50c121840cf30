// A rank that follows rank 0.
#include <new>
#include <optional>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/threads.h"
#include "tril/text/load_tokenizer.h"
#include "tril/train/config.h"
#include "tril/train/parallel.h"
#include "tril/train/run_data.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// What rank 0 trains, made here: its settings and tokenizer, this machine's text and threads.
struct Made {
  Config config;
  Corpus corpus;
  std::optional<Trainer> trainer;

  Made(Parallel& parallel, const JointStart& there, const std::optional<Config>& own,
       const FollowOptions& options) {
    ConfigBuilder builder;
    builder.add_toml(there.config, "rank 0");
    config = builder.finish();
    if (own) {
      config.data.path = own->data.path;
      config.run.threads = own->run.threads;
    }
    if (config.run.threads > 0) set_threads(static_cast<int>(config.run.threads));
    corpus = read_text(config, parse_tokenizer(there.tokenizer, "rank 0's tokenizer"), false);
    config.model.vocab_size = corpus.tokenizer->vocab_size();
    const std::string fault =
        start_fault(joint_start(own ? asked_text(*own) : there.asked, config, corpus), there);
    if (!fault.empty()) throw Refusal(fault);
    if (options.plan) options.plan(config, corpus);
    trainer.emplace(config, corpus, nullptr, &parallel);  // rank 0 gives the weights
  }
};

void obey(Parallel& parallel, Trainer& trainer, const Corpus& corpus) {
  while (true) {
    const Order order = parallel.next_order();
    if (order.kind == Order::kLeave) return;
    try {
      if (order.kind == Order::kStep) trainer.step();
      if (order.kind == Order::kEvaluate) trainer.evaluate(corpus.validation(), order.limit);
      if (order.kind == Order::kSchedule) {
        TrainSettings settings = trainer.config().train;
        settings.steps = order.steps, settings.warmup = order.warmup, settings.cooldown = order.cooldown;
        trainer.set_schedule(settings);
      }
    } catch (const NonFinite&) {
      // Every rank has the same numbers: rank 0 tells it, and that all leave.
    }
  }
}

}  // namespace

void follow(Parallel& parallel, const FollowOptions& options) {
  std::string fault;
  std::optional<Config> own;
  std::optional<Made> made;
  const auto attempt = [&](const auto& work) {
    try {
      if (fault.empty()) work();
    } catch (const Error& error) {
      fault = error.what();
    } catch (const std::bad_alloc&) {
      fault = "not enough memory";
    }
  };
  attempt([&] {
    if (options.asked) own = options.asked();
  });
  JointStart there;
  if (parallel.hear_start(there)) {
    attempt([&] { made.emplace(parallel, there, own, options); });
    if (parallel.answer_start(fault)) {
      const interrupt::Postpone until_rank_0_knows;
      obey(parallel, *made->trainer, made->corpus);
    } else {
      parallel.hear_start(there);  // that rank 0 ends
    }
  }
  parallel.ranks().leave();
}

}  // namespace tril

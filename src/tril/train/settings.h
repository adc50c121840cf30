// Settings of training and of the machine: the [train] and [run] sections of a configuration (design,
// sections 6 and 7). Plain values; config.cc fills and checks them.
#pragma once
#include <cstdint>
#include <string>

#include "tril/data/settings.h"
#include "tril/model/config.h"

namespace tril {

struct TrainSettings {
  std::string from;         // a run, folder or file whose weights and tokenizer are gone on from; "" = none
  std::string from_sha256;  // of its weights
  int64_t seed = 0;
  int64_t steps = 300;
  double minutes = 0;  // 0 = off; else the run ends when this time is over, at `steps` at the latest
  int64_t batch = 256;
  int64_t block = 0;                // length of training slices; 0 = context
  std::string optimizer = "adamw";  // adam | adamw | muon
  double learning_rate = 3e-3;
  double min_learning_rate = 0;  // where a schedule ends
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  std::string decay = "all";          // all | matrices
  double clip = 0;                    // 0 = off
  std::string schedule = "constant";  // constant | cosine | linear | trapezoid
  int64_t warmup = 0;                 // steps of linear rise
  int64_t cooldown = 0;               // trapezoid: steps of linear fall; 0 = a fifth of the steps
  double momentum = 0.95;             // Muon's
  double muon_learning_rate = 0.02;   // Muon's, over the same schedule
  std::string freeze;                 // patterns of frozen parameters' names, between commas
  bool recompute = false;
  int64_t eval_every = 50;
  int64_t eval_examples = 20000;  // 0 = all
  int64_t log_every = 10;
  int64_t checkpoint_every = 0;  // 0 = at evaluations only
  int64_t keep_checkpoints = 3;  // best, last and the one before
  int64_t accumulate = 1;
  std::string recipe = "none";     // a named set of choices (recipes/)
  std::string batches = "random";  // random: drawn targets or blocks | documents: one document after another
  std::string random = "torch";    // whose generator draws weights and order: torch | python
  int64_t samples = 0;             // texts generated when training ends (microgpt: 20)
  double sample_temperature = 0.5;
};

struct RunSettings {
  std::string engine = "fast";  // fast | reference
  std::string dtype = "f32";    // f32 | f64
  int64_t threads = 0;          // 0 = all processors
};

/// A whole configuration, resolved: every setting has its value.
struct Config {
  std::string preset;  // the preset it inherits from, "" for none
  DataSettings data;
  ModelConfig model;
  TrainSettings train;
  RunSettings run;
};

}  // namespace tril

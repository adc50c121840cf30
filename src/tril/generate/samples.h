// Texts that a finished training shows (train.samples, at train.sample_temperature): each from the token that
// begins a document to the one that ends it. With train.random = python they are Python's: its generator goes
// on where training left it, choices() over softmax(logits / temperature), so that microgpt's names come out.
// What it leaves out: prompts and every other rule of sampling (generate.h).
#pragma once
#include <string>
#include <vector>

#include "tril/text/tokenizer.h"
#include "tril/train/trainer.h"

namespace tril {

std::vector<std::string> training_samples(Trainer& trainer, const Tokenizer& tokenizer);

}  // namespace tril

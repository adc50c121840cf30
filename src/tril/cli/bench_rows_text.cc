// Rows of text: byte-pair encoding, trained and used, and a whole run of the program from text to a saved
// model.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/clock.h"
#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/cli/bench_rows.h"
#include "tril/cli/child.h"
#include "tril/data/tales.h"
#include "tril/text/bpe_train.h"

namespace tril::cli {
namespace {

constexpr int64_t kVocabulary = 4096;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Tales with the mark between them, as `tril data tales` prints them.
std::string write_tales(const std::string& name, int64_t count) {
  std::string text;
  for (const std::string& tale : tales(count, 0)) text += (text.empty() ? "" : "\n<|endoftext|>\n") + tale;
  const std::string path = scratch_file(name);
  write_file_atomically(path, text + "\n");
  return path;
}

BpeDefinition train_bpe(const std::string& text) {
  BpeTrainSettings settings;
  settings.vocab_size = kVocabulary;
  BpeTrainer trainer(settings);
  trainer.add(text);
  return trainer.train();
}

Timed timed_bytes(const std::string& text, double start) {
  Timed timed;
  timed.seconds = processor_seconds() - start;
  timed.rate = static_cast<double>(text.size()) / 1e6 / timed.seconds;
  return timed;
}

BenchRow bpe_row(const PeerSettings& settings, bool training) {
  // The path is needed by both sides, and made when one of them begins.
  const auto path = std::make_shared<std::string>(settings.text);
  if (path->empty()) *path = scratch_file("tales-3000.txt");
  const auto text = [path] {
    if (!file_exists(*path)) write_tales("tales-3000.txt", 3000);
    return read_file(*path);
  };
  BenchRow row{training ? "bpe-training" : "bpe-encoding", "MB/s", {}, {}};
  if (training) {
    row.prepare = [text]() -> Round {
      return [content = text()] {
        const double start = processor_seconds();
        const BpeDefinition made = train_bpe(content);
        Timed timed = timed_bytes(content, start);
        timed.digest = sha256_hex(merge_lines(made));
        return timed;
      };
    };
  } else {
    row.prepare = [text]() -> Round {
      const std::string content = text();
      const auto tokenizer = std::make_shared<BpeTokenizer>(train_bpe(content));
      return [content, tokenizer] {
        const double start = processor_seconds();
        const std::vector<int32_t> ids = tokenizer->encode(content);
        Timed timed = timed_bytes(content, start);
        timed.digest = sha256_hex({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t)});
        return timed;
      };
    };
  }
  const auto contest = [&](const char* against, double goal, std::vector<std::string> kinds) {
    std::vector<std::pair<std::string, std::vector<std::string>>> ways;
    for (const std::string& kind : kinds)
      ways.emplace_back("one thread, " + kind, std::vector<std::string>{"--data", *path, "--what", kind});
    return script_contest(settings, against, goal, "bpe.py", ways);
  };
  row.contests = {
      contest("Hugging Face tokenizers", 2,
              training ? std::vector<std::string>{"training"} : std::vector<std::string>{"whole", "batch"})};
  if (!training) row.contests.push_back(contest("tiktoken", 1, {"tiktoken"}));
  return row;
}

// The program itself, as one types it: start, text, training, evaluation, saving.
BenchRow whole_row(const PeerSettings& settings) {
  BenchRow row{"train-one-head-smoke", "runs/s", {}, {}};
  const std::string path = scratch_file("tales-480.txt"), run = scratch_file("run");
  row.prepare = [=]() -> Round {
    write_tales("tales-480.txt", 480);
    return [=] {
      std::filesystem::remove_all(run);
      const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
      const double start = steady_seconds();
      const ChildResult child =
          run_child(std::vector<std::string>{program, "train", "one-head-smoke", "--data", path, "--out", run,
                                             "--json", "--quiet"},
                    true);
      Timed timed;
      timed.seconds = steady_seconds() - start;
      timed.rate = 1 / timed.seconds;
      const auto json = nlohmann::json::parse(child.out, nullptr, false);
      if (child.exit_code != 0 || !json.is_object())
        refuse("{}: train one-head-smoke ended with exit code {}", program, child.exit_code);
      timed.first_loss = json.at("trace").front().at("train_batch_loss").get<double>();
      timed.last_loss = json.at("validation_loss").get<double>();
      return timed;
    };
  };
  row.contests = {script_contest(settings, "PyTorch, the same as a script", 5, "whole_run.py",
                                 {{"imports included", {"--data", path}}})};
  return row;
}

}  // namespace

std::vector<BenchRow> text_rows(const PeerSettings& settings) {
  return {bpe_row(settings, true), bpe_row(settings, false), whole_row(settings)};
}

}  // namespace tril::cli

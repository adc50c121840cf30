// tril export: a run's model as a file or folder that other programs read.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/run_options.h"
#include "tril/formats/export_model.h"
#include "tril/formats/foreign_model.h"
#include "tril/formats/llama2c.h"
#include "tril/formats/nanogpt.h"
#include "tril/formats/peft.h"
#include "tril/formats/read_back.h"
#include "tril/model/lora.h"
#include "tril/train/output_place.h"

namespace tril::cli {
namespace {

struct Asked {
  std::string run;
  std::optional<std::string> to, out, type;
  std::optional<int64_t> step;
  bool merge = false;
};

std::string ggml_name(const std::string& type) {
  return type == "f16" ? "F16" : type == "q8_0" ? "Q8_0" : "F32";
}

Exported write(const Asked& asked, const ExportedModel& model) {
  const std::string& to = *asked.to;
  if (to == "hf") return export_hf(model, *asked.out);
  if (to == "gguf") return export_gguf(model, *asked.out, ggml_name(asked.type.value_or("f32")));
  if (to == "peft") return export_peft(model, *asked.out);
  if (to == "npz") return export_npz(model, *asked.out);
  if (to == "llama2c") return export_llama2c(model, *asked.out);
  if (to == "nanogpt") return export_nanogpt(model, *asked.out);
  return export_safetensors(model, *asked.out);
}

void require_free(const std::string& to, const std::string& out) {
  const bool folder = to == "hf" || to == "peft";
  if (folder && folder_exists(out) && !list_folder(out).empty())
    refuse("{}: is not empty; give another --out", out);
  if (folder && file_exists(out)) refuse("{}: is a file; --to {} writes a folder", out, to);
  if (!folder && folder_exists(out)) refuse("{}: is a folder; --to {} writes a file", out, to);
}

// Only a file or folder, never a device or pipe that the bytes went to; where `out` is a link, its target.
void remove_written(const std::string& out) {
  std::error_code none;
  const auto target = std::filesystem::canonical(out, none);
  if (none) return;
  if (std::filesystem::is_regular_file(target, none) || std::filesystem::is_directory(target, none))
    remove_path(target.string());
}

// Reads what was written as any other program's model, and says how far its logits are from the run's.
std::optional<LogitDifference> read_again(const LoadedRun& run, const std::string& to,
                                          const std::string& out) {
  if (to != "hf" && to != "gguf") return std::nullopt;
  try {
    const ForeignModel foreign = open_foreign_model(out);
    const auto found = logit_difference(*run.model, *load_foreign_model(foreign, DType::f32, INT64_MAX));
    if (!std::isfinite(found.largest))
      refuse(
          "{}: read again, its logits differ from the run's by {}: weights so large that sums of them are "
          "not "
          "finite, or that they do not stay finite as written; it is removed",
          out, found.largest);
    return found;
  } catch (const Error&) {  // what can't be read again would be found out too late
    const interrupt::Postpone until_removed;
    remove_written(out);
    throw;
  }
}

// What is written of a run with an adapter is said by the user: the adapter alone, or the model with it.
void require_said(const Asked& asked, const LoadedRun& run) {
  const int64_t rank = run.config.model.lora.rank;
  if (rank == 0 && asked.merge) refuse("{}: has no adapter to merge; leave --merge out", run.path);
  if (rank == 0 && *asked.to == "peft") refuse("{}: has no adapter; --to peft writes one alone", run.path);
  if (asked.merge && *asked.to == "peft")
    refuse("--to peft writes the adapter alone, and --merge the model with it; give one of them");
  if (rank > 0 && !asked.merge && *asked.to != "peft")
    refuse("{}: has an adapter of rank {}; --merge writes the model with it, --to peft the adapter alone",
           run.path, rank);
}

int export_run(const Asked& asked, const Common& common) {
  if (asked.type && *asked.to != "gguf") refuse("--type is for --to gguf; {} is written in f32", *asked.to);
  require_free(*asked.to, *asked.out);
  require_output_place(*asked.out);
  LoadedRun run = load_run(asked.run, asked.step, overrides(common));
  require_said(asked, run);
  if (asked.merge) run.model = merge_lora(*run.model);
  require_finite(*run.model, run.path);
  const Exported done = write(asked, {run.path, *run.model, *run.tokenizer, run.ends});
  const std::optional<LogitDifference> difference = read_again(run, *asked.to, *asked.out);
  if (common.json) {
    nlohmann::ordered_json document = {{"path", *asked.out},
                                       {"format", *asked.to},
                                       {"tensors", done.tensors},
                                       {"bytes", done.bytes},
                                       {"architecture", done.architecture}};
    if (difference) document["largest_logit_difference"] = difference->largest;
    print_json(document);
    return kExitDone;
  }
  print(fmt::format("{}: {}, {}, {}\n", *asked.out, done.architecture, counted(done.tensors, "tensor"),
                    counted(static_cast<int64_t>(done.bytes), "byte")));
  if (difference) {
    print(fmt::format(
        "read again: over {} positions the logits differ by {:.3g} at most (largest logit {:.3g})\n",
        difference->positions, difference->largest, difference->scale));
  }
  return kExitDone;
}

}  // namespace

Action declare_export(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("RUN", asked->run, "the run's folder");
  options.choice("--to", {"hf", "gguf", "safetensors", "npz", "llama2c", "nanogpt", "peft"}, asked->to,
                 "hf, peft (an adapter alone): a folder; the others: a file");
  options.required();
  options.text("--out", "PATH", asked->out, "what is written");
  options.required();
  options.choice("--type", {"f32", "f16", "q8_0"}, asked->type, "of matrices in a GGUF file (default: f32)");
  options.flag("--merge", asked->merge, "with the run's adapter (LoRA) added to the weights it is beside");
  at_option(options, asked->step);
  options.remark(
      "What hf and gguf wrote is read again, and the largest difference of its logits to the run's is told.");
  return [asked](const Common& common) { return export_run(*asked, common); };
}

}  // namespace tril::cli

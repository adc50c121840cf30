#include "tril/formats/export_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/interrupt.h"
#include "tril/base/quote.h"
#include "tril/formats/gguf_model.h"
#include "tril/formats/gguf_tokenizer.h"
#include "tril/formats/gguf_writer.h"
#include "tril/formats/npz.h"
#include "tril/formats/tensor_range.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {
using nlohmann::ordered_json;

constexpr float kLargestF16 = 65504;

ordered_json tokenizer_config_json(const ExportedModel& model) {
  ordered_json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                         {"model_max_length", model.model.config().context},
                         {"clean_up_tokenization_spaces", false}};
  const auto name = [&](const char* key, std::optional<int32_t> id) {
    if (id && *id < model.tokenizer.vocab_size()) config[key] = model.tokenizer.token_text(*id);
  };
  name("bos_token", model.ends.begin ? model.ends.begin : model.tokenizer.bos());
  if (!model.ends.ends.empty()) name("eos_token", model.ends.ends.front());
  name("pad_token", model.tokenizer.pad());
  name("unk_token", model.tokenizer.unk());
  return config;
}

// The parameters as they are; views.
std::vector<StoredTensor> own_tensors(const Parameters& parameters) {
  std::vector<StoredTensor> tensors;
  for (int i = 0; i < parameters.size(); ++i)
    tensors.push_back(stored(parameters.info(i).name, parameters.value(i)));
  return tensors;
}

void require_fits(const LayoutTensor& tensor, std::span<const float> numbers, std::string_view type,
                  const std::string& name) {
  for (const float number : numbers) {
    if (std::isfinite(number) && std::fabs(number) <= kLargestF16) continue;
    refuse("{}: {} holds {}, which {} can't hold; export it with --type f32", name, in_quotes(tensor.name),
           number, type);
  }
}

const GgmlType& type_for(const LayoutTensor& tensor, const GgmlType& asked) {
  const bool vector = tensor.shape.size() == 1, positions = tensor.name == "position_embd.weight";
  if (vector || positions) return *find_ggml_type("F32");
  return tensor.columns() % asked.block == 0 ? asked : *find_ggml_type("F16");
}

}  // namespace

void require_finite(const Model& model, const std::string& name) {
  const Parameters& parameters = model.parameters();
  for (int i = 0; i < parameters.size(); ++i) {
    const Tensor value = parameters.value(i);
    if (value.dtype == DType::f32 && rows::all_finite(value.as<float>(), value.count())) continue;
    const std::string what = not_finite(range_of(stored("", value)));
    if (what.empty()) continue;
    refuse("{}: tensor {} {}: no program can use such a model, so nothing is written", name,
           in_quotes(parameters.info(i).name), what);
  }
}

Exported write_layout(FileWriter& file, const ExportedModel& model, Layout layout, const Metadata& metadata) {
  Exported done =
      write_tensors(file, model.model.parameters(), layout_tensors(model.model.config(), layout), metadata);
  done.architecture = architecture_of(layout);
  return done;
}

Exported write_tensors(FileWriter& file, const Parameters& parameters, std::span<const LayoutTensor> tensors,
                       const Metadata& metadata) {
  std::unordered_map<std::string_view, const LayoutTensor*> by_name;
  std::vector<TensorSpec> specs;
  for (const LayoutTensor& tensor : tensors) {
    by_name[tensor.name] = &tensor;
    specs.push_back({tensor.name, StoredType::kF32, tensor.shape});
  }
  SafetensorsWriter writer(file, specs, metadata);
  std::vector<float> numbers;
  for (const TensorSpec& spec : writer.order()) {
    interrupt::check();
    const LayoutTensor& tensor = *by_name.at(spec.name);
    numbers.resize(static_cast<size_t>(tensor.rows() * tensor.columns()));
    gather(tensor, parameters, numbers);
    writer.write({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
  }
  writer.finish();
  return {static_cast<int64_t>(tensors.size()), file.size(), ""};
}

Layout hf_layout(const ModelConfig& config, const std::string& name) {
  const Layout layout = config.norm == "rms" ? Layout::kHfLlama : Layout::kHfGpt2;
  require_counterpart(config, layout, name);
  return layout;
}

Layout gguf_layout(const ModelConfig& config, const std::string& name) {
  const Layout layout = config.norm == "rms" ? Layout::kGgufLlama : Layout::kGgufGpt2;
  require_counterpart(config, layout, name);
  return layout;
}

Exported export_hf(const ExportedModel& model, const std::string& folder) {
  const Layout layout = hf_layout(model.model.config(), model.name);
  FolderWriter writer(folder);
  Exported done;
  uint64_t bytes = 0;
  const auto write = [&](const char* name, const auto& body) {
    FileWriter file(writer.folder() + "/" + name, folder + "/" + name);
    body(file);
    file.finish();
    bytes += file.size();
  };
  const auto write_json = [&](const char* name, const ordered_json& content) {
    write(name, [&](FileWriter& file) { file.write(content.dump(2) + "\n"); });
  };
  write_json("config.json", hf_config_json(model.model.config(), layout, model.ends));
  write_json("generation_config.json", generation_config_json(model.ends));
  write_json("tokenizer_config.json", tokenizer_config_json(model));
  write("tokenizer.json", [&](FileWriter& file) { file.write(model.tokenizer.to_json()); });
  write("model.safetensors", [&](FileWriter& file) { done = write_layout(file, model, layout, {}); });
  writer.commit();
  done.bytes = bytes;
  return done;
}

Exported export_gguf(const ExportedModel& model, const std::string& path, std::string_view type_name) {
  const ModelConfig& config = model.model.config();
  const Layout layout = gguf_layout(config, model.name);
  const GgmlType& asked = *find_ggml_type(type_name);
  GgufWriter writer;
  write_gguf_config(writer, config, layout, model.name, asked);
  write_gguf_tokenizer(writer, model.tokenizer, model.ends, model.name);
  const std::vector<LayoutTensor> tensors = layout_tensors(config, layout);
  for (const LayoutTensor& tensor : tensors)
    writer.tensor(tensor.name, tensor.shape, type_for(tensor, asked));
  Exported done{static_cast<int64_t>(tensors.size()), 0, std::string(architecture_of(layout))};
  write_file_atomically(path, [&](FileWriter& file) {
    writer.write(file, [&](size_t i, std::span<float> out) {
      gather(tensors[i], model.model.parameters(), out);
      if (type_for(tensors[i], asked).name != "F32") require_fits(tensors[i], out, type_name, model.name);
    });
    done.bytes = file.size();
  });
  return done;
}

Exported export_safetensors(const ExportedModel& model, const std::string& path) {
  const std::vector<StoredTensor> tensors = own_tensors(model.model.parameters());
  Exported done{static_cast<int64_t>(tensors.size()), 0, model.model.config().family};
  write_file_atomically(path, [&](FileWriter& file) {
    write_safetensors(file, tensors, {});
    done.bytes = file.size();
  });
  return done;
}

Exported export_npz(const ExportedModel& model, const std::string& path) {
  const std::vector<StoredTensor> tensors = own_tensors(model.model.parameters());
  write_npz(path, tensors);
  return {static_cast<int64_t>(tensors.size()), MappedFile(path).bytes().size(), model.model.config().family};
}

}  // namespace tril

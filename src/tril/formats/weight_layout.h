// Weight layouts: which tensors another program's file of a decoder holds, and of which of tril's parameters
// each is made. One list a layout serves writing, reading and the list of what is missing. docs/formats/
// huggingface.md has them as tables. What it leaves out: files (hf_folder.h, gguf_model.h).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/autograd/parameters.h"
#include "tril/model/config.h"

namespace tril {

enum class Layout : uint8_t {
  kHfGpt2,     // Hugging Face's GPT2LMHeadModel: Conv1D weights [in, out]
  kHfLlama,    // LlamaForCausalLM
  kGgufGpt2,   // GGUF, architecture gpt2
  kGgufLlama,  // GGUF, architecture llama: Q and K rows in the order of interleaved rotary pairs
  kNanoGpt,    // nanoGPT's GPT: GPT-2's names, all weights [out, in]
};
/// "Hugging Face's GPT-2".
std::string_view name_of(Layout layout);
/// "gpt2" or "llama".
std::string_view architecture_of(Layout layout);

/// One tensor of the file. As a matrix [R, C] (C = 1 for a vector) it is its parts one below the other, then
/// its rows put in order, then exchanged with its columns where it is transposed.
struct LayoutTensor {
  struct Part {
    std::string parameter;  // "": rows of a constant, which the model has no parameter for
    int64_t rows = 0;
    float constant = 0;
  };
  enum class RowOrder : uint8_t {
    kSame,
    kInterleave,  // the file pairs rows 2i and 2i + 1 of a head, the parameter i and i + half
    kHalve,       // the other way round
  };

  std::string name;
  std::vector<int64_t> shape;  // in the file
  std::vector<Part> parts;
  bool transposed = false;
  RowOrder order = RowOrder::kSame;
  int64_t heads = 1;  // whose rows are put in order

  int64_t rows() const;
  int64_t columns() const;
};

/// All tensors of a model in that layout, in its usual order. The configuration must have a counterpart there
/// (require_counterpart).
std::vector<LayoutTensor> layout_tensors(const ModelConfig& config, Layout layout);

/// Throws Refusal where a decoder can't be written in that layout without changing what it computes: every
/// switch in the way, by name and value. `run` names the model; `format` what is written in that layout
/// (default: the layout's own name).
void require_counterpart(const ModelConfig& config, Layout layout, const std::string& run,
                         std::string_view format = {});

/// The tensor's numbers as the file has them, from the model's parameters (f32, or f64 rounded). `out` has
/// rows() · columns() places.
void gather(const LayoutTensor& tensor, const Parameters& parameters, std::span<float> out);
/// The way back: the file's numbers into the parameters. Constants are passed by.
void scatter(const LayoutTensor& tensor, std::span<const float> in, Parameters& parameters);

}  // namespace tril

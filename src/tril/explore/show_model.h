// The part of tril show for models of other programs that are more than a container: a Hugging Face folder
// with all its files, llama2.c's .bin; and the files of token ids that share its ending. What it leaves out:
// GGUF and safetensors, which show.cc shows as containers.
#pragma once
#include <string>

#include "tril/explore/show.h"

namespace tril {

/// Opens it as import does, and reads every number. Throws Refusal where import would.
Shown show_foreign_model(const std::string& path, const std::string& kind);

/// llama2.c's model where the header's numbers give the file's size, else token ids: behind llm.c's header,
/// or plain ones of 16 bits. Throws Refusal where it is neither.
Shown show_bin(const std::string& path);

}  // namespace tril

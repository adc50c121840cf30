// Where a command's output may go: never over the files of a run, nor over what the command reads. What it
// leaves out: any other file that is there already, which the commands write over.
#pragma once
#include <string>
#include <vector>

namespace tril {

/// Throws Refusal where `out` lies inside a run's folder (config.toml beside checkpoints/, up to three
/// folders above), or is one of `inputs` under whatever name: links count, "-" is standard input, and of a
/// folder its .txt files. To be called before the work.
void require_output_place(const std::string& out, const std::vector<std::string>& inputs = {});

}  // namespace tril

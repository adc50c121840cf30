#include "tril/train/output_place.h"

#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/file.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

bool is_run(const fs::path& folder) {
  return file_exists(folder / "config.toml") && folder_exists(folder / "checkpoints");
}

void refuse_in_run(const std::string& out, const fs::path& place) {
  constexpr int kDeepest = 3;  // RUN/checkpoints/step-N/model.safetensors
  fs::path folder = place;
  for (int up = 0; up <= kDeepest; ++up, folder = folder.parent_path()) {
    if (is_run(folder))
      refuse("{}: lies in the run {}, whose files are its own; give another --out", out, folder.string());
  }
}

// Whether the file at `place`, which is there, is read where `input` is.
bool is_read(const fs::path& place, const fs::path& input) {
  std::error_code error;  // what is wrong with the input is said when it is read
  if (fs::is_directory(input, error))
    return place.extension() == ".txt" && fs::equivalent(place.parent_path(), input, error);
  return fs::equivalent(place, input, error);
}

}  // namespace

void require_output_place(const std::string& out, const std::vector<std::string>& inputs) {
  std::error_code error;  // what is wrong with the place is said when it is written
  const fs::path whole = fs::absolute(out, error);
  if (error) return;
  const fs::path place = fs::weakly_canonical(whole, error);
  if (error) return;
  refuse_in_run(out, place);
  if (!fs::is_regular_file(place, error)) return;
  for (const std::string& input : inputs) {
    if (is_read(place, input == "-" ? "/dev/stdin" : input))
      refuse("{}: is what is read here, and would be written over; give another --out", out);
  }
}

}  // namespace tril

#include "tril/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/base/interrupt.h"
#include "tril/base/json_depth.h"
#include "tril/base/memory.h"
#include "tril/base/quote.h"

namespace tril {
namespace {
using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr std::string_view kDigestStart = "{\"digest\":\"";
constexpr size_t kDigestSize = 64;

/// Writes one file of tensors and tells its size and digest. It is not waited for: finish() does that.
json write_tensors(FileWriter& file, std::span<const StoredTensor> tensors, const Metadata& metadata) {
  file.start_digest();
  write_safetensors(file, tensors, metadata);
  file.begin_flush();
  return {{"bytes", file.size()}, {"sha256", to_hex(file.digest())}};
}

/// state.json begins with its own digest: the SHA-256 of the file with these 64 digits as zeros.
std::string with_digest(const json& content) {
  const std::string dumped = content.dump();
  assert(dumped.size() > 2);
  std::string text = fmt::format("{}{:0>64}\",{}\n", kDigestStart, "", dumped.substr(1));
  const std::string digest = sha256_hex(text);
  std::copy(digest.begin(), digest.end(), text.begin() + kDigestStart.size());
  return text;
}

template <class... Args>
[[noreturn]] void damaged(fmt::format_string<Args...> format, Args&&... args) {
  throw Damaged(fmt::format(format, std::forward<Args>(args)...));
}

void require_there(const std::string& path) {
  if (surely_missing(path)) damaged("{}: is missing: the checkpoint is not whole", path);
}

json read_state(const std::string& path) {
  require_there(path);
  std::string text = read_file(path);
  if (!text.starts_with(kDigestStart) || text.size() < kDigestStart.size() + kDigestSize) {
    damaged("{}: is not a checkpoint's state (cut?)", path);
  }
  const std::string digest = text.substr(kDigestStart.size(), kDigestSize);
  std::fill_n(text.begin() + kDigestStart.size(), kDigestSize, '0');
  if (sha256_hex(text) != digest) {
    damaged("{}: does not agree with its own digest: it is cut or was changed after it was written", path);
  }
  require_parsable(text, path);
  json state = json::parse(text, nullptr, false);
  if (!state.is_object())
    refuse("{}: is not JSON, though its digest is right: another program made it", path);
  return state;
}

// The digest of a mapped file that is read for nothing else yet: it takes no memory of the file's size.
std::string digest_of(const MappedFile& file) {
  constexpr size_t kPiece = size_t{4} << 20;
  Sha256 hash;
  const std::string_view bytes = file.bytes();
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::string_view piece = bytes.substr(at, kPiece);
    hash.add(piece);
    release_pages(piece);
  }
  return to_hex(hash.digest());
}

void require_digest(const std::string& found, const std::string& digest, const std::string& path) {
  if (found != digest)
    damaged("{}: its SHA-256 is not the one in state.json: it was changed after it was written", path);
}

/// Parses a file whose SHA-256 a thread then takes, or the caller where no thread is to be had. Where it
/// can't be parsed the SHA-256 is taken at once: that it was changed says more.
std::unique_ptr<SafetensorsFile> open_before_digest(MappedFile file, const std::string& digest,
                                                    std::shared_future<void>& later) {
  const std::string path = file.path();
  std::unique_ptr<SafetensorsFile> opened;
  try {
    opened = std::make_unique<SafetensorsFile>(std::move(file));
  } catch (const Refusal&) {
    require_digest(digest_of(MappedFile(path)), digest, path);
    throw;
  }
  try {
    later = std::async(std::launch::async, [bytes = opened->bytes(), digest, path] {
              require_digest(sha256_hex(bytes), digest, path);
            }).share();
  } catch (const std::system_error&) {
    require_digest(sha256_hex(opened->bytes()), digest, path);
  }
  return opened;
}

/// Maps a file, compares it with what state.json says of it, and parses it. With `later` the SHA-256 of a
/// large file is left to a thread.
std::unique_ptr<SafetensorsFile> open_verified(const std::string& folder, const char* name, const json& files,
                                               std::shared_future<void>* later = nullptr) {
  const std::string path = folder + "/" + name;
  require_there(path);
  MappedFile file(path);
  const json& said = files.at(name);
  const auto bytes = said.at("bytes").get<uint64_t>();
  if (file.bytes().size() != bytes) {
    damaged("{}: has {} bytes, state.json says {}: it is cut or was changed", path, file.bytes().size(),
            bytes);
  }
  const auto digest = said.at("sha256").get<std::string>();
  if (later != nullptr && bytes >= LoadedCheckpoint::kLarge)
    return open_before_digest(std::move(file), digest, *later);
  require_digest(digest_of(file), digest, path);
  return std::make_unique<SafetensorsFile>(std::move(file));
}
}  // namespace

void save_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                     const std::function<void()>& before_rename) {
  FolderWriter writer(folder);
  const auto create = [&](const char* name) {
    return std::make_unique<FileWriter>(fmt::format("{}/{}", writer.folder(), name),
                                        fmt::format("{}/{}", folder, name));
  };
  const Metadata metadata = {{"step", fmt::format("{}", checkpoint.step)},
                             {"tokenizer", checkpoint.tokenizer}};
  const auto model = create(kModelFile), optimizer = create(kOptimizerFile), state = create(kStateFile);
  json files;
  files[kModelFile] = write_tensors(*model, checkpoint.model, metadata);
  files[kOptimizerFile] = write_tensors(*optimizer, checkpoint.optimizer, metadata);
  json content = {{"format", kFormat},
                  {"step", checkpoint.step},
                  {"best_step", checkpoint.best_step},
                  {"tokenizer", checkpoint.tokenizer},
                  {"files", files},
                  {"training", json::parse(checkpoint.state)}};
  if (!checkpoint.settings.empty()) content["settings"] = checkpoint.settings;
  if (!checkpoint.source.empty()) content["source"] = checkpoint.source;
  if (checkpoint.metrics)
    content["metrics"] = {{"lines", checkpoint.metrics->lines}, {"sha256", checkpoint.metrics->sha256}};
  state->write(with_digest(content));
  state->begin_flush();
  for (const auto& file : {model.get(), optimizer.get(), state.get()}) file->finish();
  if (before_rename) before_rename();
  writer.commit();
}

LoadedCheckpoint::LoadedCheckpoint(const std::string& folder, Parts parts) : folder_(folder) {
  const std::string path = folder + "/" + kStateFile;
  const json state = read_state(path);
  try {
    const auto format = state.at("format").get<int64_t>();
    if (format != kFormat) {
      refuse("{}: is of format {}, this program reads format {}; use the program that wrote it", path, format,
             kFormat);
    }
    step_ = state.at("step").get<int64_t>();
    best_step_ = state.at("best_step").get<int64_t>();
    tokenizer_ = state.at("tokenizer").get<std::string>();
    state_ = state.at("training").dump();
    if (state.contains("settings")) settings_ = state["settings"].get<SettingsText>();
    if (state.contains("source")) source_ = state["source"].get<std::string>();
    if (state.contains("metrics"))
      metrics_ = MetricsMark{state["metrics"].at("lines").get<int64_t>(),
                             state["metrics"].at("sha256").get<std::string>()};
    model_ = open_verified(folder, kModelFile, state.at("files"),
                           parts == Parts::kModelLater ? &verifying_ : nullptr);
    if (parts == Parts::kAll) optimizer_ = open_verified(folder, kOptimizerFile, state.at("files"));
  } catch (const json::exception&) {  // the digest is right, so another program made it
    refuse(
        "{}: lacks an entry that a checkpoint has, or has one of another type (docs/formats/checkpoint.md)",
        path);
  }
}

void LoadedCheckpoint::copy_model_to(const Parameters& parameters) const {
  for (int i = 0; i < parameters.size(); ++i) {
    const StoredTensor* from = model_->find(parameters.info(i).name);
    if (from == nullptr) refuse("{}: holds no tensor {}", folder_, parameters.info(i).name);
    copy_stored(*from, parameters.value(i), folder_);
    release_pages(from->bytes);
  }
}

void LoadedCheckpoint::finish_verifying() const {
  if (verifying_.valid()) verifying_.get();
}

void LoadedCheckpoint::use(const std::function<void()>& work) const {
  try {
    work();
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    finish_verifying();
    throw;
  }
  finish_verifying();
}

void LoadedCheckpoint::require_tokenizer(std::string_view fingerprint, std::string_view file) const {
  if (tokenizer_ == fingerprint) return;
  refuse("{}: was trained with another tokenizer: its fingerprint is {}, {} has {}", folder_, tokenizer_,
         file, fingerprint);
}

void require_tensors(const SafetensorsFile& file, std::span<const TensorSpec> expected) {
  std::map<std::string_view, const StoredTensor*> found;
  for (const StoredTensor& tensor : file.tensors()) found[tensor.name] = &tensor;
  std::string missing, unexpected;
  for (const TensorSpec& spec : expected) {
    const auto at = found.find(spec.name);
    if (at == found.end()) {
      missing.append(" ").append(in_quotes(spec.name));
      continue;
    }
    const StoredTensor& tensor = *at->second;
    if (tensor.type != spec.type || tensor.shape != spec.shape) {
      refuse("{}: tensor {} is {}, the configuration needs {}: the checkpoint is of another model",
             file.path(), in_quotes(spec.name), describe(tensor.type, tensor.shape),
             describe(spec.type, spec.shape));
    }
    found.erase(at);
  }
  for (const auto& [name, tensor] : found) unexpected.append(" ").append(in_quotes(name));
  if (missing.empty() && unexpected.empty()) return;
  refuse("{}: the checkpoint is of another model{}{}{}{}", file.path(),
         missing.empty() ? "" : "; missing:", missing, unexpected.empty() ? "" : "; unexpected:", unexpected);
}

std::string checkpoint_name(int64_t step) {
  return fmt::format("step-{:08}", step);
}

std::optional<int64_t> checkpoint_step(std::string_view name) {
  constexpr std::string_view kStart = "step-";
  if (!name.starts_with(kStart)) return std::nullopt;
  int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data() + kStart.size(), name.data() + name.size(), step);
  if (error != std::errc() || step < 0 || checkpoint_name(step) != name) return std::nullopt;
  return step;
}

}  // namespace tril

// NumPy's files: .npy (one array) and .npz (a zip archive of them), read and written. docs/formats/npz.md.
// What it leaves out: pickled objects, structured and text types, big-endian numbers, archives beyond 4 GiB
// or in parts.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/file.h"
#include "tril/formats/stored_tensor.h"

namespace tril {

/// The arrays of a .npz or .npy file. Names are those of the members without ".npy"; a .npy file's array is
/// "array". Packed members and Fortran-ordered arrays are unpacked into memory that this object holds; others
/// are views.
class NpzFile {
 public:
  /// Maps, checks every CRC-32 and every header. Throws Refusal with what is wrong and in which member.
  explicit NpzFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  /// False for a single .npy file.
  bool is_archive() const { return !file_.bytes().starts_with("\x93NUMPY"); }
  /// In the order of the archive's directory.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

 private:
  MappedFile file_;
  std::deque<std::string> unpacked_;
  std::vector<StoredTensor> tensors_;
};

/// Writes an uncompressed .npz, the same bytes for the same tensors, in their order. Throws Refusal for BF16,
/// which NumPy has not, for a name that comes twice, and for 4 GiB or more.
void write_npz(const std::string& path, std::span<const StoredTensor> tensors);

}  // namespace tril

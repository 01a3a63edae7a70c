// Mapped files of one process, with a bound on the pages of them that stay resident.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "reshard/mapped_file.h"

namespace reshard::convert_detail {

// The kernel maps this much around a fault.
inline constexpr Index kFaultBytes = 64 << 10;

// Confined.
class SourcePages {
 public:
  explicit SourcePages(Index resident_bytes) : limit_(resident_bytes) {}

  // Opened on first use and guarded from then on; `path` stands for `file` every time. Valid until the next call: only
  // so many files are open at a time. Throws Error(corrupt) if the file does not have `bytes` bytes.
  const std::byte* base(int file, const std::string& path, Index bytes);
  // About `bytes` more have been read; gives the pages of all files back once the limit is reached.
  void count(Index bytes);
  // These bytes are read next. The kernel maps what lies around them, so the gap to the last ones counts too.
  void touch(const std::byte* at, Index bytes);
  // Throws Error(corrupt) if a file shrank or changed.
  void check() const;

 private:
  struct Guarded {
    explicit Guarded(const std::string& path) : mapped(MappedFile::open(path)), guard(mapped) {}
    MappedFile mapped;
    ReadGuard guard;
  };

  Index limit_;
  Index read_ = 0;
  const std::byte* end_of_last_ = nullptr;
  std::map<int, std::unique_ptr<Guarded>> files_;
};

}  // namespace reshard::convert_detail

// Mapped files of one process, with a bound on the pages of them that stay resident.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "reshard/mapped_file.h"

namespace reshard::convert_detail {

// Confined.
class SourcePages {
 public:
  explicit SourcePages(Index resident_bytes) : limit_(resident_bytes) {}

  // Opened on first use and guarded from then on; `path` stands for `file` every time.
  const std::byte* base(int file, const std::string& path);
  Index size(int file) const { return files_.at(file)->mapped.size(); }
  // About `bytes` more have been read; gives the pages of all files back once the limit is reached.
  void count(Index bytes);
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
  std::map<int, std::unique_ptr<Guarded>> files_;
};

}  // namespace reshard::convert_detail

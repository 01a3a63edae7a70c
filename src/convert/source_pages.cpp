#include "convert/source_pages.h"

#include <sys/mman.h>

namespace reshard::convert_detail {

const std::byte* SourcePages::base(int file, const std::string& path) {
  std::unique_ptr<Guarded>& entry = files_[file];
  if (!entry) entry = std::make_unique<Guarded>(path);
  return entry->mapped.bytes().data();
}

void SourcePages::count(Index bytes) {
  read_ += bytes;
  if (read_ < limit_) return;
  read_ = 0;
  // The pages stay in the page cache; only this process forgets them.
  for (const auto& [file, entry] : files_) {
    const std::span<const std::byte> bytes_of_file = entry->mapped.bytes();
    if (!bytes_of_file.empty())
      ::madvise(const_cast<std::byte*>(bytes_of_file.data()), bytes_of_file.size(), MADV_DONTNEED);
  }
}

void SourcePages::check() const {
  for (const auto& [file, entry] : files_) entry->guard.check();
}

}  // namespace reshard::convert_detail

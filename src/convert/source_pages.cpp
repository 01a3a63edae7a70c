#include "convert/source_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <functional>

#include "base/fail.h"

namespace reshard::convert_detail {

constexpr std::size_t kMostOpen = 64;  // checkpoints have thousands of files, a process has not as many descriptors

const std::byte* SourcePages::base(int file, const std::string& path, Index bytes) {
  const auto found = files_.find(file);
  if (found != files_.end()) return found->second->mapped.bytes().data();
  if (files_.size() == kMostOpen) {
    check();
    files_.clear();
  }
  auto opened = std::make_unique<Guarded>(path);
  if (opened->mapped.size() != bytes)
    fail(Code::corrupt, "{} was modified while it was read: it had {} bytes, now it has {}", path, bytes,
         opened->mapped.size());
  return files_.emplace(file, std::move(opened)).first->second->mapped.bytes().data();
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

void SourcePages::touch(const std::byte* at, Index bytes) {
  const bool follows = !std::less<>()(at, end_of_last_);
  count(bytes + (follows ? std::min<Index>(at - end_of_last_, kFaultBytes) : kFaultBytes));
  end_of_last_ = at + bytes;
}

void SourcePages::check() const {
  for (const auto& [file, entry] : files_) entry->guard.check();
}

}  // namespace reshard::convert_detail

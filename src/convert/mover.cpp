#include "convert/mover.h"

#include <algorithm>
#include <cstring>

#include "kernel/copy.h"

namespace reshard::convert_detail {
namespace {

constexpr Index kLongRow = 32 << 10;       // from here on a system call per row costs less than a second copy
constexpr Index kCacheFriendly = 1 << 20;  // staged bytes are still in the cache when they are written
constexpr Index kLeastStaging = 64 << 10;
constexpr Index kLargestWrite = 64 << 20;

// Calls row(source offset, target offset, bytes) for every row of a block.
template <class Row>
void for_each_row(const Block& block, std::size_t loop, Index source, Index target, const Row& row) {
  if (loop == block.loops.size()) return row(source, target, block.row_bytes);
  const Loop& here = block.loops[loop];
  for (Index k = 0; k < here.count; ++k)
    for_each_row(block, loop + 1, source + k * here.source_stride, target + k * here.target_stride, row);
}

// Upper bound of the source pages that a block makes resident: what it spans, or one fault's worth for every row.
Index touched_bytes(const Block& block) {
  Index rows = 1, span = block.row_bytes;
  for (const Loop& loop : block.loops) {
    rows *= loop.count;
    span += (loop.count - 1) * loop.source_stride;
  }
  return std::min(span, rows * (block.row_bytes + kFaultBytes));
}

void run(const Block& block, std::byte* target, const std::byte* source, std::vector<Stride>& strides) {
  strides.clear();
  for (const Loop& loop : block.loops) strides.push_back({loop.count, loop.source_stride, loop.target_stride});
  copy_strided(target, source, {block.source_offset, block.target_offset, block.row_bytes, strides});
}

}  // namespace

MemoryShare memory_share(Index memory, Index processes) {
  const Index share = memory / processes;
  return {std::clamp(share / 4, kLeastStaging, kCacheFriendly), std::max(share / 2, kLeastStaging)};
}

Mover::Mover(const Job& job, const PartialFolder& folder, MemoryShare memory)
    : job_(job),
      folder_(folder),
      router_(job),
      pages_(memory.resident),
      staging_(static_cast<std::size_t>(memory.staging)) {}

const std::byte* Mover::source(int file) {
  return pages_.base(file, job_.checkpoint.path_of(file),
                     job_.checkpoint.files()[static_cast<std::size_t>(file)].bytes);
}

int Mover::output(int file) {
  auto entry = outputs_.find(file);
  if (entry == outputs_.end()) {
    outputs_.clear();  // units come file by file
    entry = outputs_.emplace(file, folder_.open_unfinished(job_.output.files()[static_cast<std::size_t>(file)])).first;
  }
  return entry->second.fd();
}

void Mover::move(const Unit& unit) {
  try {
    if (!write_rows(unit)) write_staged(unit);
  } catch (const Error&) {
    pages_.check();  // a source that changed explains the failure, so it is named
    throw;
  }
  pages_.check();
  folder_.write_back(output(unit.file), unit.file_offset, unit.bytes);
}

bool Mover::write_rows(const Unit& unit) {
  const std::vector<Feed> feeds = router_.feeds(unit.stored, unit.rank, unit.box);
  for (const Feed& feed : feeds)
    for (const Block& block : feed.blocks)
      if (block.row_bytes < std::min(kLongRow, unit.bytes)) return false;
  for (const Feed& feed : feeds) {
    const std::byte* pages = source(feed.file);
    for (const Block& block : feed.blocks)
      for_each_row(block, 0, block.source_offset, block.target_offset, [&](Index from, Index to, Index bytes) {
        for (Index at = 0; at < bytes; at += kLargestWrite) {
          const Index length = std::min(kLargestWrite, bytes - at);
          folder_.write(output(unit.file), unit.file_offset + to + at,
                        {pages + from + at, static_cast<std::size_t>(length)},
                        job_.output.files()[static_cast<std::size_t>(unit.file)]);
          pages_.count(length);
        }
      });
  }
  return true;
}

void Mover::write_staged(const Unit& unit) {
  const Index size = element_bytes(job_.to, job_.to.stored()[static_cast<std::size_t>(unit.stored)]);
  Index offset = unit.file_offset;
  for (const LocalBox& box : split(unit.box, std::max<Index>(1, std::ssize(staging_) / size))) {
    write_box(unit, box, offset);
    offset += box.elements() * size;
  }
}

void Mover::write_box(const Unit& unit, const LocalBox& box, Index file_offset) {
  const Index bytes = box.elements() * element_bytes(job_.to, job_.to.stored()[static_cast<std::size_t>(unit.stored)]);
  const std::vector<Feed> feeds = router_.feeds(unit.stored, unit.rank, box);
  Index fed = 0;
  for (const Feed& feed : feeds)
    for (const Block& block : feed.blocks) fed += block.bytes();
  if (fed < bytes) std::memset(staging_.data(), 0, static_cast<std::size_t>(bytes));  // padding
  std::vector<Stride> strides;
  for (const Feed& feed : feeds) {
    const std::byte* pages = source(feed.file);
    for (const Block& block : feed.blocks) {
      run(block, staging_.data(), pages, strides);
      pages_.count(touched_bytes(block));
    }
  }
  folder_.write(output(unit.file), file_offset, {staging_.data(), static_cast<std::size_t>(bytes)},
                job_.output.files()[static_cast<std::size_t>(unit.file)]);
}

}  // namespace reshard::convert_detail

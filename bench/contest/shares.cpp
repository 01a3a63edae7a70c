#include "shares.h"

#include <cstring>
#include <utility>

#include "rank.h"

namespace contest {
namespace {

Block block_of(const Part& part, const Part& both) {
  return {offset_in(part, both.row, both.column), both.rows, part.columns * element_bytes,
          both.columns * element_bytes};
}

std::vector<Index> offsets_of(const std::vector<Index>& bytes) {
  std::vector<Index> offsets;
  Index at = 0;
  for (const Index n : bytes) {
    offsets.push_back(at);
    at += bytes_to_place({n});
  }
  return offsets;
}

// What `from` sends to `to`: blocks there and here, empty when nothing.
std::pair<std::vector<Block>, std::vector<Block>> blocks_between(const Job& job, int from, int to, int ranks) {
  if (job.kind == Job::Kind::matrix) {
    const Part a = part_of(job, job.source, from), b = part_of(job, job.target, to), both = intersection(a, b);
    if (both.empty()) return {};
    return {{block_of(a, both)}, {block_of(b, both)}};
  }
  const std::vector<Index> source = source_bytes(job, {from, ranks}), target = target_bytes(job, {to, ranks});
  if (source.empty() || target.empty()) return {};
  const std::vector<Index> source_at = offsets_of(source), target_at = offsets_of(target);
  std::vector<Block> there, here;
  for (std::size_t t = 0; t < source.size(); ++t) {
    there.push_back({source_at[t], 1, source[t], source[t]});
    here.push_back({target_at[t] + from * source[t], 1, source[t], source[t]});
  }
  return {there, here};
}

Share share_of(int peer, std::vector<Block> near, std::vector<Block> far) {
  Share share{peer, 0, std::move(near), std::move(far)};
  for (const Block& block : share.near) share.bytes += block.rows * block.row_bytes;
  return share;
}

template <class Copy>
void each_row(const std::vector<Share>& shares, const Copy& copy) {
  Index packed = 0;
  for (const Share& share : shares) {
    for (const Block& block : share.near) {
      for (Index i = 0; i < block.rows; ++i, packed += block.row_bytes)
        copy(packed, block.offset + i * block.pitch, static_cast<std::size_t>(block.row_bytes));
    }
  }
}

}  // namespace

std::vector<Share> shares_sent(const Job& job, Place place) {
  std::vector<Share> shares;
  for (int peer = 0; peer < place.ranks; ++peer) {
    auto [here, there] = blocks_between(job, place.rank, peer, place.ranks);
    if (!here.empty()) shares.push_back(share_of(peer, std::move(here), std::move(there)));
  }
  return shares;
}

std::vector<Share> shares_received(const Job& job, Place place) {
  std::vector<Share> shares;
  for (int peer = 0; peer < place.ranks; ++peer) {
    auto [there, here] = blocks_between(job, peer, place.rank, place.ranks);
    if (!here.empty()) shares.push_back(share_of(peer, std::move(here), std::move(there)));
  }
  return shares;
}

Index bytes_of(const std::vector<Share>& shares) {
  Index bytes = 0;
  for (const Share& share : shares) bytes += share.bytes;
  return bytes;
}

void pack(const std::vector<Share>& shares, const std::byte* from, std::byte* packed) {
  each_row(shares, [&](Index at, Index offset, std::size_t bytes) { std::memcpy(packed + at, from + offset, bytes); });
}

void unpack(const std::vector<Share>& shares, const std::byte* packed, std::byte* to) {
  each_row(shares, [&](Index at, Index offset, std::size_t bytes) { std::memcpy(to + offset, packed + at, bytes); });
}

}  // namespace contest

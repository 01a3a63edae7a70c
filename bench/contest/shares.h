// What a redistribution is to one rank of a contestant that sends messages: with each peer, blocks of rows at either
// end, in the same order.
#pragma once

#include <vector>

#include "job.h"

namespace contest {

// Rows of a buffer; the buffers of several tensors count as one (place_buffers).
struct Block {
  Index offset = 0;
  Index rows = 1;
  Index pitch = 0;
  Index row_bytes = 0;
};

struct Share {
  int peer = 0;
  Index bytes = 0;
  std::vector<Block> near;  // of this rank
  std::vector<Block> far;   // of the peer
};

// By ascending peer; what a rank keeps is a share with itself.
std::vector<Share> shares_sent(const Job& job, Place place);
std::vector<Share> shares_received(const Job& job, Place place);

Index bytes_of(const std::vector<Share>& shares);
// Near blocks into one dense buffer, share by share, and out of it.
void pack(const std::vector<Share>& shares, const std::byte* from, std::byte* packed);
void unpack(const std::vector<Share>& shares, const std::byte* packed, std::byte* to);

}  // namespace contest

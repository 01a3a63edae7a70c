// The least that job b costs between two hosts with TCP: writev and read straight from and to the rows of the tensors,
// no library in between, and a memcpy per row for what stays.
#pragma once

#include <cstddef>
#include <string>

namespace reshard::bench {

// One of two ranks, connected to the other. Throws std::system_error.
class RawTcp {
 public:
  // Rank 0 listens at the address, rank 1 reaches for it for up to 30 s.
  RawTcp(int rank, const std::string& address);
  RawTcp(const RawTcp&) = delete;
  RawTcp& operator=(const RawTcp&) = delete;
  ~RawTcp();

  void barrier();
  // From rows of a square f32 tensor of `edge` to its columns, half of either on each rank.
  void rows_to_columns(const std::byte* rows, std::byte* columns, std::size_t edge);

 private:
  int rank_;
  int socket_ = -1;
};

}  // namespace reshard::bench

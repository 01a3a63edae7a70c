#include "fabric/shm/pieces_of_slice.h"

#include <utility>

namespace reshard::fabric {

std::optional<Index> PiecesOfSlice::take(Index bytes) {
  auto best = pieces_.end();
  for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) {
    if (piece->second >= bytes && (best == pieces_.end() || piece->second < best->second)) best = piece;
  }
  if (best == pieces_.end()) return {};
  const auto [offset, size] = *best;
  pieces_.erase(best);
  if (size > bytes) pieces_.emplace(offset + bytes, size - bytes);
  bytes_ -= bytes;
  return offset;
}

void PiecesOfSlice::give_back(Index offset, Index bytes) {
  bytes_ += bytes;
  auto next = pieces_.upper_bound(offset);
  if (next != pieces_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = pieces_.erase(next);
  }
  if (next != pieces_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  pieces_.emplace(offset, bytes);
}

std::map<Index, Index> PiecesOfSlice::take_all() {
  bytes_ = 0;
  return std::exchange(pieces_, {});
}

}  // namespace reshard::fabric

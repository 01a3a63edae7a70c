// Puts that were issued and have not arrived, in pieces.
#pragma once

#include <memory>
#include <vector>

#include "program/simulate/memory.h"

namespace reshard::simulation {

class PutsInFlight {
 public:
  explicit PutsInFlight(Index ranks) : pending_(static_cast<std::size_t>(ranks)) {}

  // Throws Error(invalid_argument) where the put leaves a window, or its dtype has not the op.
  void issue(RankId from, std::shared_ptr<const Operation> put, SimulatedMemory& memory);
  std::size_t size() const { return pieces_.size(); }
  Index pending(RankId from) const { return pending_[static_cast<std::size_t>(from.value())]; }
  // What the rank has issued so far reads its source now, if it has not yet.
  void read_sources(RankId from, SimulatedMemory& memory);
  // Piece number `piece` arrives; unless that was done before, the source is read now. Returns whose it was.
  RankId deliver(std::size_t piece, SimulatedMemory& memory);

 private:
  struct Piece {
    RankId from;
    std::shared_ptr<const Operation> put;
    std::shared_ptr<const Block> block;
    Index first_row;
    Index rows;
    std::vector<std::byte> source = {};  // once read
    bool is_read = false;
  };
  void add(const Piece& piece);
  std::vector<Piece> pieces_;
  std::vector<Index> pending_;
};

}  // namespace reshard::simulation

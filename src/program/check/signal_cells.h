// What kinds of use each signal cell has seen, and how much of the order of its operations must be explored.
#pragma once

#include <limits>
#include <set>
#include <span>
#include <vector>

#include "reshard/program.h"

namespace reshard::explore {

// rising_sum: one peer adds, nothing negative, and the owner may add anything. rising_value: one peer sets, never less
// than before. counter: as rising_sum with several peers. general: the rest.
enum class CellKind : std::uint8_t { rising_sum, rising_value, counter, general };

class SignalCells {
 public:
  SignalCells(std::span<const SignalSpec> signals, Index ranks);

  std::size_t size() const { return uses_.size(); }
  std::size_t cell(int signal, Index slot, Index rank) const {
    return (first_slot_[static_cast<std::size_t>(signal)] + static_cast<std::size_t>(slot)) *
               static_cast<std::size_t>(ranks_) +
           static_cast<std::size_t>(rank);
  }
  int signal_of(std::size_t cell) const;
  Index slot_of(std::size_t cell) const;
  Index owner_of(std::size_t cell) const { return static_cast<Index>(cell) % ranks_; }

  // Takes note of a notification or wait of `rank`; true where what is said of the cell changed.
  bool observe(Index rank, Index call, const Operation& operation);
  // A value was set that is less than the one before it.
  void falls(std::size_t cell) { uses_[cell].falls = true; }
  CellKind kind(std::size_t cell) const;

  // Hot: the operations on the cell are run in every order. Others are run in one, which is verified to be the only.
  bool is_hot(std::size_t cell) const { return kind(cell) >= CellKind::counter && hot_.contains(signal_of(cell)); }
  void make_hot(std::size_t cell) { hot_.insert(signal_of(cell)); }
  // No peer can make the cell hold less than `awaited` once it holds that much.
  bool keeps_at_least(std::size_t cell, Index awaited) const {
    return !uses_[cell].peer_lowers && uses_[cell].least_set >= awaited;
  }
  bool is_add_only(std::size_t cell) const { return !uses_[cell].peer_sets && !uses_[cell].owner_sets; }

 private:
  struct Uses {
    Index writer = -1;  // the first peer that notified
    bool many_writers = false, peer_sets = false, peer_adds = false, peer_lowers = false;
    Index least_set = std::numeric_limits<Index>::max();  // by peers, in calls of which operations were seen
    bool owner_sets = false, owner_adds = false, equal = false, falls = false;
  };
  Index ranks_;
  std::vector<std::size_t> first_slot_;
  std::vector<Uses> uses_;
  std::set<int> hot_;
};

}  // namespace reshard::explore

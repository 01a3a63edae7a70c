// Index types. Sizes and lengths are plain signed 64-bit `Index`; positions that live in different spaces are different
// types, so that mixing them does not compile.
//
// A position plus a length is a position of the same space; the difference of two positions of one space is a length.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace reshard {

using Index = std::int64_t;

template <class Space>
class Position {
 public:
  constexpr Position() = default;
  constexpr explicit Position(Index value) : value_(value) {}
  constexpr Index value() const { return value_; }

  friend constexpr auto operator<=>(Position, Position) = default;
  friend constexpr Position operator+(Position p, Index n) { return Position(p.value_ + n); }
  friend constexpr Position operator-(Position p, Index n) { return Position(p.value_ - n); }
  friend constexpr Index operator-(Position a, Position b) { return a.value_ - b.value_; }
  constexpr Position& operator+=(Index n) {
    value_ += n;
    return *this;
  }
  constexpr Position& operator++() {
    ++value_;
    return *this;
  }

 private:
  Index value_ = 0;
};

// A participant, numbered in the joint world of both sides of a move.
using RankId = Position<struct RankSpace>;
// Along one dimension of the whole (logical) tensor.
using GlobalIndex = Position<struct GlobalSpace>;
// Along one dimension of what one rank stores.
using LocalIndex = Position<struct LocalSpace>;

}  // namespace reshard

template <class Space>
struct std::hash<reshard::Position<Space>> {
  std::size_t operator()(reshard::Position<Space> p) const noexcept { return std::hash<reshard::Index>{}(p.value()); }
};

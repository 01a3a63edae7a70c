// The arithmetic of one cut: an axis of n elements divided among p coordinates.
//
// Everything is closed form or O(pieces): selecting what a coordinate holds, and the reverse, locating which
// coordinates hold an interval and where. Nothing here enumerates coordinates, so planning can descend a cut of any
// width.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "layout/interval.h"
#include "reshard/cut.h"

namespace reshard {

class Division {
 public:
  // `cut` must outlive this. Preconditions: n >= 0, p >= 1, and check_division has accepted (cut, n, p).
  Division(const Cut& cut, Index n, Index p);

  Index n() const { return n_; }
  Index coordinates() const { return p_; }
  // Elements a coordinate stores, padding included.
  Index stored(Index coordinate) const;
  // Elements a coordinate holds.
  Index held(Index coordinate) const;
  // Every coordinate holds one interval, and those of rising coordinates rise.
  bool is_contiguous() const { return pieces_ == 1 && rule_ != Rule::cyclic; }
  // No fewer than the intervals that select() lists and the steps it takes.
  Index runs(Index coordinate) const;
  // What a coordinate holds, ascending; none empty, none adjacent.
  void select(Index coordinate, std::vector<Interval>& out) const;

  // Calls found(coordinate, child, part) for every maximal part of `interval` that one coordinate holds contiguously;
  // `child` is where the part begins in that coordinate's own order. Ascending.
  template <class Found>
  void locate(Interval interval, Found&& found) const;

  // Coordinates at which the number of elements held can change: every length that occurs, occurs at one of them.
  std::vector<Index> representatives() const;

 private:
  struct Piece {
    Index begin = 0;
    Index length = 0;
    Index unit = 1;
  };
  Piece piece(Index k) const;
  Index piece_of(Index position) const;
  // Elements of pieces before k that the coordinate holds.
  Index held_before(Index k, Index coordinate) const;
  Index held_in(const Piece& piece, Index coordinate) const;
  // One piece of m units: first unit of a coordinate, contiguous rules only; begin_unit(m, p) == m.
  Index begin_unit(Index m, Index coordinate) const;
  Index owner_of_unit(Index m, Index unit) const;
  Index held_units(Index m, Index coordinate) const;

  const Cut* cut_;
  Rule rule_;
  Index n_;
  Index p_;
  Index block_;  // Rule::cyclic: no larger than the axis, so that its multiples fit
  Index pieces_ = 1;
  Index piece_length_ = 0;         // of all but the last piece, for groupings of equal pieces
  std::vector<Index> piece_ends_;  // for groupings with listed pieces
  std::vector<Index> size_ends_;   // Rule::sizes
};

// Throws Error(invalid_argument) when the cut cannot divide n elements among p coordinates. `where` begins the message
// ("dimension 0 of f32[10]: axis \"tp\"").
void check_division(const Cut& cut, Index n, Index p, const std::string& where);

template <class Found>
void Division::locate(Interval interval, Found&& found) const {
  if (p_ == 1 && interval.length > 0) return void(found(Index{0}, interval.begin, interval));
  Index position = interval.begin;
  const Index stop = interval.begin + interval.length;
  while (position < stop) {
    const Index k = piece_of(position);
    const Piece in = piece(k);
    const Index units = in.length / in.unit;
    const Index unit = (position - in.begin) / in.unit;
    Index coordinate = 0, end = 0, child = 0;
    if (rule_ == Rule::cyclic) {
      const Index block = unit / block_;
      coordinate = block % p_;
      end = in.begin + std::min((block + 1) * block_, units) * in.unit;
      child = (block / p_) * block_ * in.unit + (position - in.begin - block * block_ * in.unit);
    } else {
      coordinate = owner_of_unit(units, unit);
      end = in.begin + begin_unit(units, coordinate + 1) * in.unit;
      child = position - in.begin - begin_unit(units, coordinate) * in.unit;
    }
    const Index length = std::min(end, stop) - position;
    found(coordinate, held_before(k, coordinate) + child, Interval{position, length});
    position += length;
  }
}

}  // namespace reshard

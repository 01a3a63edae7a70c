// Shortest augmenting paths (Jonker and Volgenant, without their heuristic start). Rows get a column one after another;
// each time, Dijkstra's search over reduced costs finds the cheapest way to free a column by moving rows that have one.
// Row and column prices keep reduced costs cost - row price - column price at 0 or above, and at 0 for assigned pairs.
#include "plan/assignment.h"

#include <limits>

namespace reshard {
namespace {

constexpr Index kNone = -1;
constexpr Index kFar = std::numeric_limits<Index>::max();

class Assignment {
 public:
  explicit Assignment(const Gains& gains)
      : gains_(gains),
        size_(gains.size()),
        row_price_(size_, 0),
        column_price_(size_, 0),
        row_of_(size_, kNone),
        column_of_(size_, kNone) {}

  void add(Index row) {
    search(row);
    for (Index column = end_; column != kNone;) {  // back along the path: each row takes the next column
      const Index mover = from_[column];
      row_of_[column] = mover;
      std::swap(column, column_of_[mover]);
    }
  }
  std::vector<Index> columns() && { return std::move(column_of_); }

 private:
  Index reduced_cost(Index row, Index column) const {
    return -gains_.at(row, column) - row_price_[row] - column_price_[column];
  }

  // Finds the free column `end_` that is nearest to `row`, and adjusts the prices.
  void search(Index row) {
    row_price_[row] = -column_price_[0] - gains_.at(row, 0);
    for (Index column = 1; column < size_; ++column)
      row_price_[row] = std::min(row_price_[row], -column_price_[column] - gains_.at(row, column));
    distance_.assign(size_, kFar);
    from_.assign(size_, kNone);
    settled_.clear();
    std::vector<bool> done(size_, false);
    Index current = row, reached = 0;
    for (;;) {
      Index nearest = kNone;
      for (Index column = 0; column < size_; ++column) {
        if (done[column]) continue;
        const Index distance = reached + reduced_cost(current, column);
        if (distance < distance_[column]) {
          distance_[column] = distance;
          from_[column] = current;
        }
        if (nearest == kNone || distance_[column] < distance_[nearest]) nearest = column;
      }
      reached = distance_[nearest];
      end_ = nearest;
      if (row_of_[nearest] == kNone) break;
      done[nearest] = true;
      settled_.push_back(nearest);
      current = row_of_[nearest];
    }
    row_price_[row] += reached;
    for (const Index column : settled_) {
      row_price_[row_of_[column]] += reached - distance_[column];
      column_price_[column] -= reached - distance_[column];
    }
  }

  const Gains& gains_;
  Index size_;
  std::vector<Index> row_price_, column_price_;
  std::vector<Index> row_of_, column_of_;  // of each column, of each row
  std::vector<Index> distance_, from_;     // of each column: from the row searched for, and the row before it
  std::vector<Index> settled_;
  Index end_ = kNone;
};

}  // namespace

std::vector<Index> best_assignment(const Gains& gains) {
  Assignment assignment(gains);
  for (Index row = 0; row < gains.size(); ++row) assignment.add(row);
  return std::move(assignment).columns();
}

}  // namespace reshard

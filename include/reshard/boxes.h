// Box lists: a tensor as checkpoint formats describe it, one box after another, each with the rank that holds it.
//
// Nothing is known of such a list but the boxes, so it is checked before it is used: elements that nobody holds and
// boxes that overlap in part are faults. Equal boxes of several ranks are copies of each other. Planning and checking
// look boxes up in a tree of bounds; no step compares all boxes with all others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

struct Box {
  std::vector<GlobalIndex> offsets;  // one per dimension
  std::vector<Index> sizes;
  Index elements() const;
  std::string text() const;  // "[0:4, 2:8]"
  friend bool operator==(const Box&, const Box&) = default;
};

struct OwnedBox {
  RankId rank;
  Box box;
  friend bool operator==(const OwnedBox&, const OwnedBox&) = default;
};

// Thread rule: immutable.
class BoxList {
 public:
  // Boxes in any order, also empty ones and several of one rank. Throws Error(invalid_argument) that names the entry,
  // its rank and the dimension for a box of other dimensions than `shape` or one that does not lie within it.
  BoxList(Dtype dtype, std::vector<Index> shape, std::vector<OwnedBox> boxes);

  Dtype dtype() const { return dtype_; }
  const std::vector<Index>& shape() const { return shape_; }
  const std::vector<OwnedBox>& boxes() const { return boxes_; }
  Index elements() const { return elements_; }
  // {"dtype": "bf16", "shape": [8, 4], "boxes": [{"rank": 0, "offsets": [0, 0], "sizes": [4, 4]}, ..]}
  std::string json() const;

 private:
  Dtype dtype_;
  std::vector<Index> shape_;
  std::vector<OwnedBox> boxes_;
  Index elements_ = 1;
};

// Reads that form. Throws Error(corrupt) that names the entry at fault, and as the constructor does.
BoxList box_list_from_json(std::string_view json);

// The boxes that each rank holds under a layout, by place in the mesh, those of a rank in row-major order.
// Throws Error(unsupported) for partial layouts and for more than 2^22 boxes.
BoxList boxes_of(const Layout& layout);

struct BoxFault {
  enum class Kind { overlap, hole };
  Kind kind = Kind::hole;
  Box region;                 // what is held by two different boxes, or by none
  std::vector<RankId> ranks;  // ascending: with a box that overlaps, or with one next to the hole
  std::string message;
};
// Why a list is not exactly the whole tensor; no faults if it is. At most `most` of each kind.
std::vector<BoxFault> check_boxes(const BoxList& list, std::size_t most = 16);

struct BoxTransfer {
  Index source = 0;  // positions in the lists
  Index target = 0;
  Box region;  // what both have in common
  friend bool operator==(const BoxTransfer&, const BoxTransfer&) = default;
};

struct BoxPlan {
  std::vector<BoxTransfer> transfers;  // by target, then in row-major order of where the source boxes begin
  Index sent = 0;                      // bytes to other ranks
  Index copied = 0;                    // bytes from a rank to itself
  Index comparisons = 0;               // of bounds with bounds, the work done
};

// Fills every box of the target once, each element from the rank itself if it holds it, else from its copies in turn.
// Target boxes may overlap and need not cover the tensor.
// Throws Error(invalid_argument) where shapes or dtypes differ, where source boxes overlap in part, and where a target
// box needs what no source rank holds.
BoxPlan plan_boxes(const BoxList& source, const BoxList& target);

}  // namespace reshard

#include "plan/megatron/mixed_packing.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/fail.h"

namespace reshard::megatron {
namespace {

struct Packed {
  std::vector<Index> pieces;  // of the whole dimension, none empty
  const Parameter* example = nullptr;
  Index parts = 1;  // ranks that share it
};

std::vector<Index> pieces_of(const ShardForm& form) {
  std::vector<Index> pieces;
  for (const Index size : form.sizes)
    if (size > 0) pieces.push_back(checked_mul(size, form.tp_size, "extent of a piece"));
  return pieces;
}

// True if cutting `form` by its stride already cuts each of the pieces on its own.
bool cuts_pieces(const ShardForm& form, const std::vector<Index>& pieces) {
  return form.stride == std::ssize(pieces) && std::ranges::adjacent_find(pieces, std::not_equal_to{}) == pieces.end();
}

class Settling {
 public:
  Settling(std::string_view name, MixedPacking mixed) : name_(name), mixed_(mixed) {}

  void note_packed(Holdings& side) {
    for (const HeldForm& held : side.forms()) {
      std::vector<Index> pieces = pieces_of(held.form);
      if (held.form.tp_dim < 0 || pieces.size() < 2) continue;
      const Packed packed{std::move(pieces), &side.example(held), held.form.tp_size};
      const auto [entry, fresh] = packed_.try_emplace(held.form.tp_dim, packed);
      if (!fresh) compare(entry->second, packed);
    }
  }

  void read_unpacked(Holdings& side) {
    for (std::size_t k = 0; k < side.forms().size(); ++k) {
      const HeldForm& held = side.forms()[k];
      const auto packed = packed_.find(held.form.tp_dim);
      if (packed == packed_.end() || !held.form.sizes.empty() || held.form.tp_size == 1) continue;
      const std::vector<Index>& pieces = packed->second.pieces;
      if (held.form.global_shape()[static_cast<std::size_t>(held.form.tp_dim)] !=
          std::accumulate(pieces.begin(), pieces.end(), Index{0}))
        continue;  // another shape altogether, which is refused as such
      if (!cuts_pieces(held.form, pieces)) read(side, k, packed->second);
    }
  }

 private:
  void compare(const Packed& a, const Packed& b) const {
    if (a.pieces == b.pieces || (a.parts == 1 && b.parts == 1) || mixed_ == MixedPacking::plain) return;
    fail(Code::unsupported,
         "tensor '{}': partition_sizes divide it in pieces {} on rank {} and {} on rank {}; list the same pieces on "
         "both sides, or say that both are cuts of the whole as it stands (mixed packing: plain)",
         name_, list_text(a.pieces), a.example->owner.value(), list_text(b.pieces), b.example->owner.value());
  }

  void read(Holdings& side, std::size_t k, const Packed& packed) const {
    const ShardForm& form = side.forms()[k].form;
    const Parameter& example = side.example(side.forms()[k]);
    if (mixed_ == MixedPacking::plain) return;
    if (mixed_ == MixedPacking::refuse)
      fail(Code::unsupported,
           "tensor '{}': rank {} lists partition_sizes, pieces {} of the whole, and rank {} cuts it in {} without; it "
           "may mean each piece cut on its own (packed) or the whole as it stands (plain), which move different bytes: "
           "list the sizes there too, or say which (mixed packing)",
           name_, packed.example->owner.value(), list_text(packed.pieces), example.owner.value(), form.tp_size);
    std::vector<Index> sizes;
    for (const Index piece : packed.pieces) {
      if (piece % form.tp_size != 0)
        fail(Code::invalid_argument,
             "tensor '{}': a piece of {} does not divide among the {} ranks of the tensor parallel group of rank {}",
             name_, piece, form.tp_size, example.owner.value());
      sizes.push_back(piece / form.tp_size);
    }
    side.read_as_packed(k, std::move(sizes));
  }

  std::string_view name_;
  MixedPacking mixed_;
  std::map<int, Packed> packed_;  // by dimension
};

}  // namespace

void settle_packing(Holdings& sources, std::vector<Holdings>& targets, MixedPacking mixed) {
  Settling settling(sources.name(), mixed);
  settling.note_packed(sources);
  for (Holdings& side : targets) settling.note_packed(side);
  settling.read_unpacked(sources);
  for (Holdings& side : targets) settling.read_unpacked(side);
}

}  // namespace reshard::megatron

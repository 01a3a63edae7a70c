#include "plan/megatron/shard_form.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/megatron/names.h"

namespace reshard::megatron {
namespace {

constexpr Index kMostPieces = Index{1} << 24;

void check_member(const Parameter& parameter, const RankGroup& group, std::string_view kind) {
  if (group.given() && !group.index_of(parameter.owner))
    fail(Code::invalid_argument, "{}: the rank is not in its own {} group {}", record_text(parameter), kind,
         group.text());
}

void check_given(const Parameter& parameter, const RankGroup& group, std::string_view flag, std::string_view kind) {
  if (!group.given() || group.size() == 0)
    fail(Code::invalid_argument, "{}: {} is set and the {} group is missing; list its ranks, or clear the flag",
         record_text(parameter), flag, kind);
}

int checked_dim(const Parameter& parameter) {
  const int dims = static_cast<int>(parameter.shape.size());
  const int dim = parameter.partition_dim < 0 ? parameter.partition_dim + dims : parameter.partition_dim;
  if (dim < 0 || dim >= dims)
    fail(Code::invalid_argument, "{}: partition_dim {} of a tensor of {} dimensions, {}", record_text(parameter),
         parameter.partition_dim, dims, list_text(parameter.shape));
  return dim;
}

void check_pieces(const Parameter& parameter, const ShardForm& form) {
  if (form.tp_dim < 0) return;
  const Index length = form.tp_local(form.tp_dim);
  if (!form.sizes.empty()) {
    Index sum = 0;
    for (const Index size : form.sizes) {
      if (size < 0)
        fail(Code::invalid_argument, "{}: partition_sizes {} has a negative size", record_text(parameter),
             list_text(form.sizes));
      sum = checked_add(sum, size, "sum of partition_sizes");
    }
    if (sum != length)
      fail(Code::invalid_argument,
           "{}: partition_sizes {} add up to {}, and a tensor parallel rank has {} elements along dimension {}; list "
           "the sizes of one rank, padding left out",
           record_text(parameter), list_text(form.sizes), sum, length, form.tp_dim);
  } else if (length % form.stride != 0) {
    fail(Code::invalid_argument,
         "{}: the {} elements of a tensor parallel rank along dimension {} are not divisible by partition_stride {}",
         record_text(parameter), length, form.tp_dim, form.stride);
  }
}

void set_tp(const Parameter& parameter, ShardForm& form) {
  if (!parameter.is_tp) {
    if (parameter.is_ep && parameter.tp_group.size() > 1)
      fail(
          Code::invalid_argument,
          "{}: an expert's tensor with tensor parallel group {} and is_tp not set, so that its shard would pass as the "
          "whole tensor; set is_tp, or give no group if every rank holds it whole",
          record_text(parameter), parameter.tp_group.text());
    return;
  }
  check_given(parameter, parameter.tp_group, "is_tp", "tensor parallel");
  if (parameter.partition_stride < 0)
    fail(Code::invalid_argument, "{}: partition_stride {} is negative", record_text(parameter),
         parameter.partition_stride);
  if (parameter.partition_stride > kMostPieces)
    fail(Code::unsupported, "{}: partition_stride {} makes more than {} pieces", record_text(parameter),
         parameter.partition_stride, kMostPieces);
  form.tp_dim = checked_dim(parameter);
  form.tp_size = parameter.tp_group.size();
  form.sizes = parameter.partition_sizes;
  form.stride = form.sizes.empty() ? std::max<Index>(parameter.partition_stride, 1) : 1;
}

void set_gtp(const Parameter& parameter, ShardForm& form) {
  if (!parameter.is_gtp) return;
  check_given(parameter, parameter.gtp_group, "is_gtp", "GTP");
  if (form.stored.empty())
    fail(Code::invalid_argument, "{}: a tensor without dimensions has no rows for GTP to cut", record_text(parameter));
  if (parameter.gtp_pad < 0)
    fail(Code::invalid_argument, "{}: gtp_pad_length {} is negative", record_text(parameter), parameter.gtp_pad);
  form.is_gtp = true;
  form.gtp_size = parameter.gtp_group.size();
  form.pad = parameter.gtp_pad;
  if (form.tp_local(0) <= 0)
    fail(Code::invalid_argument,
         "{}: {} stored rows on each of {} ranks less {} of padding leave {}; the padding is that of the whole group",
         record_text(parameter), form.stored[0], form.gtp_size, form.pad, form.tp_local(0));
}

void set_ep(const Parameter& parameter, ShardForm& form) {
  if (!parameter.is_ep || !expert_numbers(split_name(parameter.name)).empty()) return;
  form.fused = true;
  form.ep_size = std::max<Index>(parameter.ep_group.size(), 1);
  form.ep_index = parameter.ep_group.given() ? *parameter.ep_group.index_of(parameter.owner) : 0;
}

void push(Segments& segments, const Segment& segment) {
  if (segment.length <= 0) return;
  if (!segments.empty()) {
    Segment& last = segments.back();
    if (last.local + last.length == segment.local && last.global + last.length == segment.global) {
      last.length += segment.length;
      return;
    }
  }
  segments.push_back(segment);
}

// Of the TP-local axis of `length` elements.
Segments tp_segments(const ShardForm& form, int dim, Index tp, Index length) {
  Segments segments;
  if (dim != form.tp_dim) {
    push(segments, {LocalIndex(0), GlobalIndex(0), length});
    return segments;
  }
  if (length == 0) return segments;
  std::vector<Index> pieces = form.sizes;
  if (pieces.empty()) pieces.assign(static_cast<std::size_t>(form.stride), length / form.stride);
  Index before = 0;
  for (const Index piece : pieces) {
    push(segments, {LocalIndex(before), GlobalIndex(form.tp_size * before + tp * piece), piece});
    before += piece;
  }
  return segments;
}

// What lies in [begin, end) of the local axis, counted from `begin`.
Segments window_of(const Segments& segments, Index begin, Index end) {
  Segments inside;
  for (const Segment& segment : segments) {
    const Index first = std::max(segment.local.value(), begin);
    const Index last = std::min(segment.local.value() + segment.length, end);
    push(inside, {LocalIndex(first - begin), segment.global + (first - segment.local.value()), last - first});
  }
  return inside;
}

}  // namespace

Index ShardForm::tp_local(int dim) const {
  const Index length = stored[static_cast<std::size_t>(dim)];
  return is_gtp && dim == 0 ? checked_mul(length, gtp_size, "rows of a GTP group") - pad : length;
}

std::vector<Index> ShardForm::global_shape() const {
  std::vector<Index> shape;
  for (int dim = 0; dim < static_cast<int>(stored.size()); ++dim)
    shape.push_back(checked_mul(tp_local(dim), dim == tp_dim ? tp_size : 1, "extent of a tensor"));
  return shape;
}

ShardForm form_of(const Parameter& parameter) {
  ShardForm form;
  form.stored = parameter.shape;
  form.dtype = parameter.dtype;
  if (parameter.owner.value() < 0) fail(Code::invalid_argument, "{}: the rank is negative", record_text(parameter));
  for (const Index extent : parameter.shape)
    if (extent < 0)
      fail(Code::invalid_argument, "{}: shape {} has a negative extent", record_text(parameter),
           list_text(parameter.shape));
  check_member(parameter, parameter.tp_group, "tensor parallel");
  check_member(parameter, parameter.gtp_group, "GTP");
  check_member(parameter, parameter.ep_group, "expert parallel");
  check_member(parameter, parameter.dp_group, "data parallel");
  check_member(parameter, parameter.pp_group, "pipeline parallel");
  set_tp(parameter, form);
  set_gtp(parameter, form);
  set_ep(parameter, form);
  check_pieces(parameter, form);
  checked_product(form.global_shape(), "elements of a tensor");
  return form;
}

ShardPlace place_of(const Parameter& parameter) {
  return {.tp = parameter.is_tp ? *parameter.tp_group.index_of(parameter.owner) : 0,
          .gtp = parameter.is_gtp ? *parameter.gtp_group.index_of(parameter.owner) : 0};
}

std::vector<Segments> segments_of(const ShardForm& form, const ShardPlace& place) {
  std::vector<Segments> dims;
  for (int dim = 0; dim < static_cast<int>(form.stored.size()); ++dim) {
    const Index length = form.tp_local(dim);
    const Segments cut = tp_segments(form, dim, place.tp, length);
    const Index rows = form.stored[static_cast<std::size_t>(dim)];
    const bool windowed = form.is_gtp && dim == 0;
    dims.push_back(windowed ? window_of(cut, place.gtp * rows, std::min((place.gtp + 1) * rows, length)) : cut);
  }
  return dims;
}

std::string difference_text(const ShardForm& a, RankId a_rank, const ShardForm& b, RankId b_rank) {
  const auto text = [&](std::string_view what, const auto& x, const auto& y) {
    return fmt::format("{} is {} on rank {} and {} on rank {}", what, x, a_rank.value(), y, b_rank.value());
  };
  if (a.dtype != b.dtype) return text("dtype", name_of(a.dtype), name_of(b.dtype));
  if (a.stored != b.stored) return text("the stored shape", list_text(a.stored), list_text(b.stored));
  if ((a.tp_dim < 0) != (b.tp_dim < 0)) return text("is_tp", a.tp_dim >= 0, b.tp_dim >= 0);
  if (a.tp_dim != b.tp_dim) return text("partition_dim", a.tp_dim, b.tp_dim);
  if (a.tp_size != b.tp_size) return text("the size of the tensor parallel group", a.tp_size, b.tp_size);
  if (a.sizes != b.sizes) return text("partition_sizes", list_text(a.sizes), list_text(b.sizes));
  if (a.stride != b.stride) return text("partition_stride", a.stride, b.stride);
  if (a.is_gtp != b.is_gtp) return text("is_gtp", a.is_gtp, b.is_gtp);
  if (a.gtp_size != b.gtp_size) return text("the size of the GTP group", a.gtp_size, b.gtp_size);
  if (a.pad != b.pad) return text("gtp_pad_length", a.pad, b.pad);
  if (a.fused != b.fused) return text("holding several experts (is_ep)", a.fused, b.fused);
  if (a.ep_size != b.ep_size) return text("the size of the expert parallel group", a.ep_size, b.ep_size);
  return text("the part of the experts", a.ep_index, b.ep_index);
}

std::string record_text(const Parameter& parameter) {
  return fmt::format("tensor '{}' of rank {}", parameter.name, parameter.owner.value());
}

std::string list_text(std::span<const Index> values) { return fmt::format("[{}]", fmt::join(values, ",")); }

std::string ranks_text(std::vector<RankId> ranks) {
  constexpr std::size_t shown = 16;
  std::ranges::sort(ranks);
  std::vector<Index> values;
  for (const RankId rank : ranks) values.push_back(rank.value());
  if (values.size() <= shown) return fmt::format("[{}]", fmt::join(values, ", "));
  return fmt::format("[{}, and {} more]", fmt::join(values.begin(), values.begin() + shown, ", "),
                     values.size() - shown);
}

}  // namespace reshard::megatron

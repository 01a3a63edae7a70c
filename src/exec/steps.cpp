#include "exec/steps.h"

#include <algorithm>
#include <tuple>

#include "base/checked.h"
#include "base/fail.h"
#include "base/reducible.h"
#include "kernel/accumulate.h"
#include "reshard/unroll.h"

namespace reshard {
namespace {

// Bytes [begin, end) of a buffer that a block touches at one end.
struct Extent {
  Index begin = 0;
  Index end = 0;
};

Extent extent_of(const Block& block, Index offset, Index Loop::*stride) {
  Extent extent{offset, offset};
  for (const Loop& loop : block.loops) {
    if (loop.count == 0) return {};
    const Index reach = checked_mul(loop.count - 1, loop.*stride, "reach of a block");
    (reach < 0 ? extent.begin : extent.end) += reach;
  }
  if (block.row_bytes == 0) return {};
  extent.end = checked_add(extent.end, block.row_bytes, "end of a block");
  return extent;
}

// Appends `block` in parts of at most `limit` bytes; 0 = no limit.
void split(const Block& block, Index limit, std::vector<Block>& parts) {
  const Index bytes = block.bytes();
  if (limit == 0 || bytes <= limit) {
    parts.push_back(block);
    return;
  }
  const bool in_row = block.loops.empty();
  const Loop outer = in_row ? Loop{block.row_bytes, 1, 1} : block.loops.front();
  const Index step = std::max<Index>(1, limit / (bytes / outer.count));
  for (Index i = 0; i < outer.count; i += step) {
    Block part = block;
    part.source_offset += i * outer.source_stride;
    part.target_offset += i * outer.target_stride;
    (in_row ? part.row_bytes : part.loops.front().count) = std::min(step, outer.count - i);
    if (!in_row && part.loops.front().count == 1) part.loops.erase(part.loops.begin());
    split(part, limit, parts);
  }
}

bool moves_bytes(OpCode code) { return code == OpCode::copy || code == OpCode::get || code == OpCode::put; }
bool has_peer(OpCode code) { return code == OpCode::put || code == OpCode::get || code == OpCode::notify; }

// What an operand of a reduction touches, as a block of single elements.
Block touched(const Reduction& reduction, const Operand& operand, Index element_bytes) {
  Block block{.target_offset = operand.offset, .row_bytes = element_bytes};
  for (std::size_t loop = 0; loop < reduction.counts.size(); ++loop)
    block.loops.push_back({reduction.counts[loop], 0, operand.strides[loop]});
  return block;
}

std::string_view name_of(OpCode code) {
  constexpr std::string_view names[] = {"copy",  "put",    "get",  "notify", "wait",
                                        "fence", "reduce", "fill", "cast",   "deferred"};
  return names[static_cast<std::size_t>(code)];
}

std::array<std::byte, 16> filler_of(const Operation& operation) {
  if (operation.code != OpCode::fill) return {};
  if (!operation.number) return identity_of(operation.reduce_op, operation.dtype);
  std::array<std::byte, 16> element{};
  write_element(operation.dtype, *operation.number, element.data());
  return element;
}

Index bytes_of_work(const Operation& operation) {
  Index bytes = 0;
  for (const Block& block : operation.blocks) bytes += block.bytes();
  for (const Reduction& reduction : operation.reductions)
    bytes += touched(reduction, reduction.result, bytes_of(operation.dtype)).bytes();
  return bytes;
}

}  // namespace

Executor::Steps::Steps(const Program& program, const Endpoint& endpoint) : program_(&program), endpoint_(&endpoint) {}

void Executor::Steps::add(const Operation& op) {
  if (has_peer(op.code)) check_peer(op);
  if (op.code == OpCode::notify || op.code == OpCode::wait) check_signal(op);
  if (op.code == OpCode::fill) check_fill(op);
  if (op.code == OpCode::reduce || op.code == OpCode::cast) check_reductions(op);
  add_ends(op);
  const std::size_t first = copies_.size(), first_fold = folds_.size(), first_cast = casts_.size();
  const CopyKernel combine =
      op.code == OpCode::put && op.accumulate ? accumulate_kernel(op.reduce_op, op.dtype) : nullptr;
  lay_out(op.blocks, message_limit(op));
  if (op.code == OpCode::reduce) folds_.add(op);
  if (op.code == OpCode::cast) casts_.add(op);
  steps_.push_back({.code = op.code,
                    .source_window = op.source_window,
                    .target_window = op.target_window,
                    .signal = op.signal,
                    .far = nullptr,
                    .first_copy = first,
                    .copies = copies_.size() - first,
                    .bytes = bytes_of_work(op),
                    .peer = op.peer,
                    .feeds_cast = false,
                    .slot = op.slot,
                    .value = op.value,
                    .per_run = op.per_run,
                    .update = op.notify_op == NotifyOp::set ? Endpoint::Update::set : Endpoint::Update::add,
                    .until = op.compare == WaitCompare::equal ? Endpoint::Until::equal : Endpoint::Until::greater_equal,
                    .first_fold = first_fold,
                    .folds = folds_.size() - first_fold,
                    .first_cast = first_cast,
                    .casts = casts_.size() - first_cast,
                    .combine = combine,
                    .filler = filler_of(op),
                    .deferred = op.deferred,
                    .label = op.label});
}

void Executor::Steps::check_peer(const Operation& op) const {
  if (op.peer >= RankId(0) && op.peer < RankId(program_->ranks)) return;
  fail(Code::invalid_argument, "peer {} is outside the world of {} ranks", op.peer.value(), program_->ranks);
}

void Executor::Steps::check_signal(const Operation& op) const {
  if (op.signal < 0 || static_cast<std::size_t>(op.signal) >= program_->signals.size())
    fail(Code::invalid_argument, "there is no signal {}", op.signal);
  const SignalSpec& signal = program_->signals[static_cast<std::size_t>(op.signal)];
  if (op.slot < 0 || op.slot >= signal.slots)
    fail(Code::invalid_argument, "signal {} has {} slots, no slot {}", signal.name, signal.slots, op.slot);
}

void Executor::Steps::check_fill(const Operation& op) const {
  if (!op.number && !is_reducible(op.dtype, op.reduce_op))
    fail(Code::unsupported, "{} cannot be reduced by {}", reshard::name_of(op.dtype), reshard::name_of(op.reduce_op));
  // All rows are copies of one element.
  for (const Block& block : op.blocks) {
    const bool moves = std::ranges::any_of(block.loops, [](const Loop& loop) { return loop.source_stride != 0; });
    if (block.row_bytes != bytes_of(op.dtype) || block.source_offset != 0 || moves)
      fail(Code::invalid_argument, "fill writes rows of one {} each, from one place", reshard::name_of(op.dtype));
  }
}

void Executor::Steps::check_reductions(const Operation& op) {
  const bool is_cast = op.code == OpCode::cast;
  if (is_cast && !CastKernel::exists(op.source_dtype, op.dtype))
    fail(Code::unsupported, "{} cannot be cast to {}: the imaginary part would be dropped",
         reshard::name_of(op.source_dtype), reshard::name_of(op.dtype));
  if (!is_cast && !is_reducible(op.dtype, op.reduce_op))
    fail(Code::unsupported, "{} cannot be reduced by {}", reshard::name_of(op.dtype), reshard::name_of(op.reduce_op));
  if (op.divisor < 1) fail(Code::invalid_argument, "sums cannot be divided by {}", op.divisor);
  for (const Reduction& reduction : op.reductions) {
    if (reduction.terms.empty()) fail(Code::invalid_argument, "a reduction has no terms");
    if (is_cast && reduction.terms.size() != 1)
      fail(Code::invalid_argument, "a cast has {} terms, not one", reduction.terms.size());
    for (const Operand& term : reduction.terms) need(op, reduction, term, is_cast ? op.source_dtype : op.dtype);
    need(op, reduction, reduction.result, op.dtype);
  }
}

void Executor::Steps::add_ends(const Operation& op) {
  const RankId self = endpoint_->rank();
  const bool from_peer = op.code == OpCode::get, to_peer = op.code == OpCode::put;
  if (moves_bytes(op.code))
    need(op, op.source_window, from_peer ? op.peer : self, from_peer, &Block::source_offset, &Loop::source_stride);
  if (moves_bytes(op.code) || op.code == OpCode::fill)
    need(op, op.target_window, to_peer ? op.peer : self, to_peer, &Block::target_offset, &Loop::target_stride);
}

void Executor::Steps::need(const Operation& op, int window, RankId rank, bool far, Index Block::*offset,
                           Index Loop::*stride) {
  if (window < 0 || static_cast<std::size_t>(window) >= program_->windows.size())
    fail(Code::invalid_argument, "there is no window {}", window);
  const WindowSpec& spec = program_->windows[static_cast<std::size_t>(window)];
  if (far && spec.role != BufferRole::window)
    fail(Code::invalid_argument, "{} reaches {}, which is no window: peers reach windows only", name_of(op.code),
         spec.name);
  const Index there = spec.bytes[static_cast<std::size_t>(rank.value())];
  for (const Block& block : op.blocks) {
    const Extent extent = extent_of(block, block.*offset, stride);
    if (extent.begin >= 0 && extent.end <= there) continue;
    fail(Code::invalid_argument, "{} reaches bytes [{}, {}) of window {} on rank {}, which has {}", name_of(op.code),
         extent.begin, extent.end, spec.name, rank.value(), there);
  }
  needs_.push_back({window, rank, far, there});
}

void Executor::Steps::need(const Operation& op, const Reduction& reduction, const Operand& operand, Dtype dtype) {
  if (operand.strides.size() != reduction.counts.size())
    fail(Code::invalid_argument, "an operand of a reduction has {} strides for {} loops", operand.strides.size(),
         reduction.counts.size());
  const Operation one{.code = op.code, .blocks = {touched(reduction, operand, bytes_of(dtype))}};
  need(one, operand.window, endpoint_->rank(), false, &Block::target_offset, &Loop::target_stride);
}

// Elements that are accumulated are not split.
Index Executor::Steps::message_limit(const Operation& op) const {
  const bool is_message = op.code == OpCode::get || op.code == OpCode::put;
  const Index limit = is_message ? endpoint_->capabilities().max_message : 0;
  if (op.code != OpCode::put || !op.accumulate) return limit;
  if (accumulate_kernel(op.reduce_op, op.dtype) == nullptr)
    fail(Code::unsupported, "{} cannot be accumulated by {}", reshard::name_of(op.dtype),
         reshard::name_of(op.reduce_op));
  const Index element = bytes_of(op.dtype);
  for (const Block& block : op.blocks)
    if (block.row_bytes % element != 0)
      fail(Code::invalid_argument, "rows of {} bytes hold no whole number of {}", block.row_bytes,
           reshard::name_of(op.dtype));
  if (limit != 0 && limit < element)
    fail(Code::unsupported, "messages of at most {} bytes cannot carry one {}", limit, reshard::name_of(op.dtype));
  return limit / element * element;
}

void Executor::Steps::lay_out(const std::vector<Block>& blocks, Index limit) {
  parts_.clear();
  for (const Block& block : blocks) split(block, limit, parts_);
  for (const Block& part : parts_) {
    copies_.push_back({.source_offset = part.source_offset,
                       .target_offset = part.target_offset,
                       .row_bytes = part.row_bytes,
                       .leaves_stores = true});
    loops_.push_back(part.loops.size());
    for (const Loop& loop : part.loops) strides_.push_back({loop.count, loop.source_stride, loop.target_stride});
  }
}

// Once no more strides are added, so that the views stay valid; and the whole job's size is known.
void Executor::Steps::finish() {
  Index job_bytes = 0;
  for (const Step& step : steps_) job_bytes += step.bytes;
  std::span<const Stride> rest = strides_;
  for (std::size_t c = 0; c < copies_.size(); ++c) {
    copies_[c].loops = rest.first(loops_[c]);
    rest = rest.subspan(loops_[c]);
  }
  for (const Step& step : steps_) {
    if (is_kept_near(step)) continue;
    for (StridedCopy& copy : std::span(copies_).subspan(step.first_copy, step.copies)) copy.job_bytes = job_bytes;
    casts_.set_job(step.first_cast, step.casts, job_bytes);
  }
  find_far_casts();
}

// What comes to memory of the rank alone is soon read again: there the cache is not to be bypassed.
bool Executor::Steps::is_kept_near(const Step& step) const {
  if (step.code == OpCode::put || step.copies + step.casts == 0) return false;
  const int window = step.casts > 0 ? casts_.result_window(step.first_cast) : step.target_window;
  return program_->windows[static_cast<std::size_t>(window)].role == BufferRole::local;
}

void Executor::Steps::clear() {
  steps_.clear();
  strides_.clear();
  copies_.clear();
  loops_.clear();
  folds_.clear();
  casts_.clear();
  needs_.clear();
}

std::vector<Executor::Need> Executor::Steps::needs() const {
  std::vector<Need> needs = needs_;
  // What deferred operations will touch is not known yet: all of it, then.
  const std::size_t unknown = is_any_deferred() ? program_->windows.size() : 0;
  for (std::size_t w = 0; w < unknown; ++w) {
    const WindowSpec& spec = program_->windows[w];
    for (Index r = 0; r < program_->ranks; ++r) {
      const bool far = spec.role == BufferRole::window;
      if (far || RankId(r) == endpoint_->rank())
        needs.push_back({static_cast<int>(w), RankId(r), far, spec.bytes[static_cast<std::size_t>(r)]});
    }
  }
  const auto key = [](const Need& need) { return std::tuple(need.window, need.rank, need.far); };
  std::ranges::sort(needs, {}, key);
  needs.erase(std::ranges::unique(needs, {}, key).begin(), needs.end());
  return needs;
}

bool Executor::Steps::is_any_deferred() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return step.code == OpCode::deferred; });
}

std::string Executor::Steps::describe(const Step& step) const {
  // Where values grow from run to run, the label has those of the first.
  if (!step.label.empty() && step.per_run == 0) return step.label;
  const auto window = [&](int w) { return std::string_view(program_->windows[static_cast<std::size_t>(w)].name); };
  switch (step.code) {
    case OpCode::copy: return fmt::format("copy {} -> {}", window(step.source_window), window(step.target_window));
    case OpCode::get: return fmt::format("get {} on rank {}", window(step.source_window), step.peer.value());
    case OpCode::put: return fmt::format("put {} on rank {}", window(step.target_window), step.peer.value());
    case OpCode::notify:
    case OpCode::wait:
      return fmt::format("{} {}[{}]", name_of(step.code), program_->signals[static_cast<std::size_t>(step.signal)].name,
                         step.slot);
    case OpCode::fill: return fmt::format("fill {}", window(step.target_window));
    case OpCode::fence:
    case OpCode::reduce:
    case OpCode::cast:
    case OpCode::deferred: break;
  }
  return std::string(name_of(step.code));
}

}  // namespace reshard

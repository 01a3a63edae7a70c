#include "reshard/executor.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "base/reducible.h"
#include "exec/folds.h"
#include "kernel/copy.h"

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

// What an operand of a reduction touches, as a block of single elements.
Block touched(const Reduction& reduction, const Operand& operand, Index element_bytes) {
  Block block{.target_offset = operand.offset, .row_bytes = element_bytes};
  for (std::size_t loop = 0; loop < reduction.counts.size(); ++loop)
    block.loops.push_back({reduction.counts[loop], 0, operand.strides[loop]});
  return block;
}

Index window_bytes(const Program& program, int window, RankId rank) {
  return program.windows.at(static_cast<std::size_t>(window)).bytes.at(static_cast<std::size_t>(rank.value()));
}

std::string_view name_of(OpCode code) {
  constexpr std::string_view names[] = {"copy",  "put",    "get",  "notify", "wait",
                                        "fence", "reduce", "fill", "cast",   "deferred"};
  return names[static_cast<std::size_t>(code)];
}

void check_world(const Program& program, const Endpoint& endpoint) {
  if (program.ranks != endpoint.ranks() || program.operations.size() != static_cast<std::size_t>(program.ranks)) {
    fail(Code::invalid_argument, "program {} is for {} ranks, but the fabric has {}; plan it for this world",
         program.name, program.ranks, endpoint.ranks());
  }
  for (const WindowSpec& window : program.windows) {
    if (window.bytes.size() == static_cast<std::size_t>(program.ranks)) continue;
    fail(Code::invalid_argument, "program {}: window {} lists sizes of {} ranks, not {}", program.name, window.name,
         window.bytes.size(), program.ranks);
  }
}

}  // namespace

Executor::Executor(const Program& program, Endpoint& endpoint)
    : name_(program.name), endpoint_(&endpoint), folds_(std::make_unique<Folds>()) {
  check_world(program, endpoint);
  for (const WindowSpec& window : program.windows) window_names_.push_back(window.name);
  for (const SignalSpec& signal : program.signals) signal_names_.push_back(signal.name);
  const auto& operations = program.operations[static_cast<std::size_t>(endpoint.rank().value())];
  for (const Operation& operation : operations) add(program, operation);
  point_copies_at_strides();
  const auto key = [](const Need& need) { return std::pair(need.window, need.rank); };
  std::ranges::sort(needs_, {}, key);
  needs_.erase(std::ranges::unique(needs_, {}, key).begin(), needs_.end());
}

Executor::Executor(Executor&&) noexcept = default;
Executor::~Executor() = default;

void Executor::add(const Program& program, const Operation& op) {
  const auto number = steps_.size();
  if (op.code == OpCode::cast || op.code == OpCode::deferred || op.accumulate || op.number)
    fail(Code::unsupported, "program {}, operation {}: {} cannot be run yet", name_, number, name_of(op.code));
  const RankId self = endpoint_->rank();
  if ((op.code == OpCode::put || op.code == OpCode::get || op.code == OpCode::notify) &&
      (op.peer < RankId(0) || op.peer >= RankId(program.ranks))) {
    fail(Code::invalid_argument, "program {}, rank {}, operation {}: peer {} is outside the world of {} ranks", name_,
         self.value(), number, op.peer.value(), program.ranks);
  }
  const RankId source = op.code == OpCode::get ? op.peer : self;
  const RankId target = op.code == OpCode::put ? op.peer : self;
  if (moves_bytes(op.code)) {
    need(program, op, op.source_window, source, &Block::source_offset, &Loop::source_stride);
    need(program, op, op.target_window, target, &Block::target_offset, &Loop::target_stride);
  }
  if ((op.code == OpCode::reduce || op.code == OpCode::fill) && !is_reducible(op.dtype, op.reduce_op))
    fail(Code::unsupported, "program {}, operation {}: {} cannot be reduced by {}", name_, number,
         reshard::name_of(op.dtype), reshard::name_of(op.reduce_op));
  if (op.code == OpCode::fill) need(program, op, op.target_window, self, &Block::target_offset, &Loop::target_stride);
  if ((op.code == OpCode::notify || op.code == OpCode::wait) &&
      (op.signal < 0 || static_cast<std::size_t>(op.signal) >= signal_names_.size())) {
    fail(Code::invalid_argument, "program {}, operation {}: there is no signal {}", name_, number, op.signal);
  }
  const std::size_t first = copies_.size(), first_fold = folds_->size();
  const bool is_message = op.code == OpCode::get || op.code == OpCode::put;
  lay_out(op.blocks, is_message ? endpoint_->capabilities().max_message : 0);
  Index bytes = 0;
  for (const Block& block : op.blocks) bytes += block.bytes();
  if (op.code == OpCode::reduce) bytes += add_folds(program, op);
  steps_.push_back(
      {.code = op.code,
       .peer = op.peer,
       .source_window = op.source_window,
       .target_window = op.target_window,
       .signal = op.signal,
       .slot = op.slot,
       .value = op.value,
       .per_run = op.per_run,
       .update = op.notify_op == NotifyOp::set ? Endpoint::Update::set : Endpoint::Update::add,
       .until = op.compare == WaitCompare::equal ? Endpoint::Until::equal : Endpoint::Until::greater_equal,
       .first_copy = first,
       .copies = copies_.size() - first,
       .first_fold = first_fold,
       .folds = folds_->size() - first_fold,
       .identity = op.code == OpCode::fill ? identity_of(op.reduce_op, op.dtype) : decltype(Step::identity){},
       .bytes = bytes});
}

Index Executor::add_folds(const Program& program, const Operation& op) {
  if (op.divisor < 1)
    fail(Code::invalid_argument, "program {}, operation {}: sums cannot be divided by {}", name_, steps_.size(),
         op.divisor);
  Index bytes = 0;
  for (const Reduction& reduction : op.reductions) {
    if (reduction.terms.empty())
      fail(Code::invalid_argument, "program {}, operation {}: a reduction has no terms", name_, steps_.size());
    for (const Operand& term : reduction.terms) need(program, reduction, term, op.dtype);
    need(program, reduction, reduction.result, op.dtype);
    bytes += touched(reduction, reduction.result, bytes_of(op.dtype)).bytes();
  }
  folds_->add(op);
  return bytes;
}

void Executor::need(const Program& program, const Operation& op, int window, RankId rank, Index Block::*offset,
                    Index Loop::*stride) {
  const auto number = steps_.size();
  if (window < 0 || static_cast<std::size_t>(window) >= program.windows.size()) {
    fail(Code::invalid_argument, "program {}, operation {}: there is no window {}", name_, number, window);
  }
  const Index there = window_bytes(program, window, rank);
  for (const Block& block : op.blocks) {
    const Extent extent = extent_of(block, block.*offset, stride);
    if (extent.begin >= 0 && extent.end <= there) continue;
    fail(Code::invalid_argument,
         "program {}, operation {}: {} reaches bytes [{}, {}) of window {} on rank {}, which has {}", name_, number,
         name_of(op.code), extent.begin, extent.end, window_names_[static_cast<std::size_t>(window)], rank.value(),
         there);
  }
  needs_.push_back({window, rank, there});
}

void Executor::need(const Program& program, const Reduction& reduction, const Operand& operand, Dtype dtype) {
  if (operand.strides.size() != reduction.counts.size())
    fail(Code::invalid_argument, "program {}, operation {}: an operand of a reduction has {} strides for {} loops",
         name_, steps_.size(), operand.strides.size(), reduction.counts.size());
  Operation one{.code = OpCode::reduce, .blocks = {touched(reduction, operand, bytes_of(dtype))}};
  need(program, one, operand.window, endpoint_->rank(), &Block::target_offset, &Loop::target_stride);
}

void Executor::lay_out(const std::vector<Block>& blocks, Index limit) {
  std::vector<Block> parts;
  for (const Block& block : blocks) split(block, limit, parts);
  for (const Block& part : parts) {
    copies_.push_back({part.source_offset, part.target_offset, part.row_bytes, {}, 0});
    loops_.push_back(part.loops.size());
    for (const Loop& loop : part.loops) strides_.push_back({loop.count, loop.source_stride, loop.target_stride});
  }
}

// Once no more strides are added, so that the views stay valid; and the whole job's size is known.
void Executor::point_copies_at_strides() {
  Index job_bytes = 0;
  for (const Step& step : steps_) job_bytes += step.bytes;
  std::span<const Stride> rest = strides_;
  for (std::size_t c = 0; c < copies_.size(); ++c) {
    copies_[c].loops = rest.first(loops_[c]);
    copies_[c].job_bytes = job_bytes;
    rest = rest.subspan(loops_[c]);
  }
}

void Executor::bind(Binding binding) {
  if (binding.windows.size() != window_names_.size() || binding.signals.size() != signal_names_.size()) {
    fail(Code::invalid_argument, "program {} has {} windows and {} signals, but {} and {} were given", name_,
         window_names_.size(), signal_names_.size(), binding.windows.size(), binding.signals.size());
  }
  for (const Need& need : needs_) {
    const auto w = static_cast<std::size_t>(need.window);
    const Index there = endpoint_->window_bytes(binding.windows[w], need.rank);
    if (there >= need.bytes) continue;
    fail(Code::invalid_argument, "program {}: window {} needs {} bytes on rank {}, but the buffer there has {}", name_,
         window_names_[w], need.bytes, need.rank.value(), there);
  }
  memory_.clear();
  for (const WindowId window : binding.windows) memory_.push_back(endpoint_->memory(window));
  binding_ = std::move(binding);
  bound_ = true;
}

void Executor::run(std::uint64_t run, Clock::time_point deadline) {
  if (!bound_) fail(Code::invalid_argument, "program {} is not bound to windows and signals; call bind first", name_);
  Traffic traffic;
  std::size_t number = 0;
  try {
    for (; number < steps_.size(); ++number) execute(steps_[number], run, deadline, traffic);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("program {}, operation {} of rank {} ({}): {}", name_, number,
                                          endpoint_->rank().value(), describe(steps_[number]), error.what()));
  }
  traffic_ = traffic;
}

void Executor::execute(const Step& step, std::uint64_t run, Clock::time_point deadline, Traffic& traffic) {
  const std::span<const StridedCopy> copies(copies_.data() + step.first_copy, step.copies);
  const std::uint64_t value = step.value + run * step.per_run;
  const auto window = [&](int w) { return binding_.windows[static_cast<std::size_t>(w)]; };
  const auto memory = [&](int w) { return memory_[static_cast<std::size_t>(w)]; };
  switch (step.code) {
    case OpCode::copy:
      for (const StridedCopy& copy : copies) {
        copy_strided(memory(step.target_window).data(), memory(step.source_window).data(), copy);
      }
      traffic.bytes_copied += step.bytes;
      break;
    case OpCode::get:
      for (const StridedCopy& copy : copies) {
        endpoint_->get(step.peer, window(step.source_window), copy, memory(step.target_window));
      }
      traffic.bytes_got += step.bytes;
      ++traffic.gets;
      break;
    case OpCode::put:
      for (const StridedCopy& copy : copies) {
        endpoint_->put(step.peer, window(step.target_window), copy, memory(step.source_window));
      }
      traffic.bytes_put += step.bytes;
      ++traffic.puts;
      break;
    case OpCode::notify:
      endpoint_->notify(step.peer, binding_.signals[static_cast<std::size_t>(step.signal)], step.slot, value,
                        step.update);
      ++traffic.notifications;
      break;
    case OpCode::wait:
      endpoint_->wait(binding_.signals[static_cast<std::size_t>(step.signal)], step.slot, value, step.until, deadline);
      ++traffic.waits;
      break;
    case OpCode::fence: endpoint_->fence(); break;
    case OpCode::reduce:
      folds_->run(step.first_fold, step.folds, memory_);
      traffic.bytes_reduced += step.bytes;
      break;
    case OpCode::fill:
      for (const StridedCopy& copy : copies)
        copy_strided(memory(step.target_window).data(), step.identity.data(), copy);
      break;
    case OpCode::cast:
    case OpCode::deferred: break;
  }
}

std::string Executor::describe(const Step& step) const {
  const auto window = [&](int w) { return std::string_view(window_names_[static_cast<std::size_t>(w)]); };
  switch (step.code) {
    case OpCode::copy: return fmt::format("copy {} -> {}", window(step.source_window), window(step.target_window));
    case OpCode::get: return fmt::format("get {} on rank {}", window(step.source_window), step.peer.value());
    case OpCode::put: return fmt::format("put {} on rank {}", window(step.target_window), step.peer.value());
    case OpCode::notify:
    case OpCode::wait:
      return fmt::format("{} {}[{}]", name_of(step.code), signal_names_[static_cast<std::size_t>(step.signal)],
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

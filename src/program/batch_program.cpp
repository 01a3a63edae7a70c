// Many tensors as one-sided reads, and writes between hosts, with the epoch protocol.
//
// Between each two ranks, the packed messages from one to the other are events 1, 2, .. of a run, and all their direct
// transfers together are the event after the last. "ready" of event e says e + 1, "done" says e, both plus the run
// times kEventsPerRun: signals only grow, also from run to run. "ready" 1 says that the sources may be read; where
// there are packed messages nobody waits for it, since their "ready" says more.
//
// Of ranks that are apart, "ready" 1 says as well that the targets may be written, and the owner puts its direct
// transfers after all packed messages. That they are there is told by "done" of the other direction: the event after
// its last packed message, which it then has no direct transfers to use for.
//
// Why no rank waits for ever. Packed messages have one order on all ranks: by their number between their two ranks,
// then by the distance from source to target, then by source. Each rank takes part in its messages in this order. A
// sender waits for a slot that an earlier message holds, a reader for a message that its sender packs; so of all
// messages that are not through, the first has both its ends at it, or on their way to it, and gets through. Direct
// transfers come after all packed messages and need a "ready" that stands at the start of the run; puts are fenced and
// told before their owner waits for anything else.
//
// Why it is safe. A slot is packed anew only after the reader of its last message said "done": within a run by waiting
// for it, between runs because a rank leaves a run only after every reader's last "done". The incoming slot is the
// rank's own and is taken apart before the next get. A direct get follows its owner's "ready" of this run, and the
// owner stays in the run until it is done. Targets are written by their own rank alone.
#include "reshard/batch_program.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/fail.h"
#include "plan/packing.h"
#include "program/dense.h"

namespace reshard {
namespace {

constexpr int kReady = 0, kDone = 1;
constexpr std::uint64_t kEventsPerRun = std::uint64_t{1} << 24;

// One tensor's transfer; the place of its bytes in a packed message.
struct Piece {
  Index tensor = 0;
  const ClassTransfer* of = nullptr;
  Index offset = 0;
};

struct Message {
  RankId source;
  RankId target;
  Index number = 0;  // between these two, from 0
  Index bytes = 0;
  std::vector<Piece> pieces = {};
};

// All from one rank to another.
struct Channel {
  RankId source;
  RankId target;
  std::vector<Message> messages;
  std::vector<Piece> direct;
  bool is_put = false;  // what is direct
  // That its reader tells of.
  Index events() const { return packed() + (direct.empty() || is_put ? 0 : 1); }
  Index packed() const { return std::ssize(messages); }
};

Operation tell(RankId self, RankId peer, int signal, Index event) {
  return {.code = OpCode::notify,
          .peer = peer,
          .signal = signal,
          .slot = self.value(),
          .value = static_cast<std::uint64_t>(event),
          .per_run = kEventsPerRun};
}

Operation await(RankId peer, int signal, Index event) {
  return {.code = OpCode::wait,
          .signal = signal,
          .slot = peer.value(),
          .value = static_cast<std::uint64_t>(event),
          .per_run = kEventsPerRun};
}

class Builder {
 public:
  Builder(const BatchPlan& plan, RankId rank, Index world_ranks, const RankHosts& hosts)
      : plan_(plan),
        hosts_(hosts),
        packing_(plan.options().plan.staging_limit, plan.options().pack_below),
        self_(rank),
        world_ranks_(world_ranks),
        batch_(plan.of_rank(rank)) {
    for (const PeerTransfers& sends : batch_.sends) out_.push_back(channel(self_, sends.peer, sends.transfers));
    for (const PeerTransfers& receives : batch_.receives)
      in_.push_back(channel(receives.peer, self_, receives.transfers));
  }

  std::vector<Operation> operations() {
    for (const Channel& channel : out_)
      if (channel.messages.empty() && !channel.is_put) add(tell(self_, channel.target, kReady, 1));
    for (const Channel& channel : in_)
      if (channel.is_put && !channel.direct.empty()) add(tell(self_, channel.source, kReady, 1));
    for (const ClassTransfer& copy : batch_.copies)
      each_tensor(copy, [&](Index tensor) { add_move(OpCode::copy, self_, {tensor, &copy, 0}); });
    for (const Message* message : in_order()) message->source == self_ ? send(*message) : receive(*message);
    put_direct();
    read_direct();
    for (const Channel& channel : in_)
      if (channel.is_put && !channel.direct.empty())
        add(await(channel.source, kDone, packed(out_, &Channel::target, channel.source) + 1));
    for (const Channel& channel : out_)
      if (channel.events() > 0) add(await(channel.target, kDone, channel.events()));
    return std::move(operations_);
  }

 private:
  template <class Visit>
  void each_tensor(const ClassTransfer& transfer, Visit&& visit) const {
    const BatchClass& c = plan_.classes()[static_cast<std::size_t>(transfer.of_class)];
    for (Index tensor = c.first; tensor < c.first + c.count; ++tensor) visit(tensor);
  }
  const Layout& source(const ClassTransfer& t) const {
    return plan_.source(plan_.classes()[static_cast<std::size_t>(t.of_class)]);
  }
  const Layout& target(const ClassTransfer& t) const {
    return plan_.target(plan_.classes()[static_cast<std::size_t>(t.of_class)]);
  }
  int staging_window() const { return static_cast<int>(2 * plan_.tensors().size()); }

  Channel channel(RankId from, RankId to, const std::vector<ClassTransfer>& transfers) const;
  // Packed messages from and to this rank, in the order of all ranks.
  std::vector<const Message*> in_order() const;
  void send(const Message& message);
  void receive(const Message& message);
  void put_direct();
  void read_direct();
  // Messages of the channel to or from the peer.
  static Index packed(const std::vector<Channel>& channels, RankId Channel::*end, RankId peer) {
    const auto channel = std::ranges::find(channels, peer, end);
    return channel == channels.end() ? 0 : channel->packed();
  }

  void add(Operation operation) { operations_.push_back(std::move(operation)); }
  void add_move(OpCode code, RankId peer, const Piece& piece);
  void add_copy(int from, int to, std::vector<Block> blocks) {
    add({.code = OpCode::copy, .peer = self_, .source_window = from, .target_window = to, .blocks = std::move(blocks)});
  }

  const BatchPlan& plan_;
  const RankHosts& hosts_;
  Packing packing_;
  RankId self_;
  Index world_ranks_;
  RankBatch batch_;
  std::vector<Channel> out_;
  std::vector<Channel> in_;
  std::array<std::optional<std::pair<RankId, Index>>, Packing::slots_out> holders_;  // of slots: target, event
  std::vector<Operation> operations_;
};

Channel Builder::channel(RankId from, RankId to, const std::vector<ClassTransfer>& transfers) const {
  Channel channel{.source = from, .target = to, .messages = {}, .direct = {}, .is_put = hosts_.are_apart(from, to)};
  const bool is_any_packed = !hosts_.are_together(from, to);
  PackedMessages packed;
  for (const ClassTransfer& transfer : transfers) {
    const Index alignment = bytes_of(source(transfer).dtype()), bytes = transfer.transfer.elements() * alignment;
    each_tensor(transfer, [&](Index tensor) {
      if (!is_any_packed || !packing_.packs(bytes)) return channel.direct.push_back({tensor, &transfer, 0});
      const auto [number, offset] = packed.add(packing_, bytes, alignment);
      if (number == std::ssize(channel.messages))
        channel.messages.push_back({.source = from, .target = to, .number = number});
      channel.messages.back().bytes = packed.used;
      channel.messages.back().pieces.push_back({tensor, &transfer, offset});
    });
  }
  if (channel.events() + 1 >= static_cast<Index>(kEventsPerRun))
    fail(Code::unsupported, "{} packed messages from rank {} to {} are more than {}; raise the limit of staging",
         channel.messages.size(), from.value(), to.value(), kEventsPerRun - 2);
  return channel;
}

std::vector<const Message*> Builder::in_order() const {
  std::vector<const Message*> order;
  for (const std::vector<Channel>* channels : {&out_, &in_})
    for (const Channel& channel : *channels)
      for (const Message& message : channel.messages) order.push_back(&message);
  std::ranges::sort(order, {}, [&](const Message* m) {
    const Index distance = (m->target - m->source + world_ranks_) % world_ranks_;
    return std::tuple(m->number, distance, m->source);
  });
  return order;
}

void Builder::send(const Message& message) {
  const Index slot = Packing::slot_out(message.source, message.target, message.number);
  auto& holder = holders_[static_cast<std::size_t>(slot)];
  if (holder) add(await(holder->first, kDone, holder->second));
  holder.emplace(message.target, message.number + 1);
  for (const Piece& piece : message.pieces)
    add_copy(static_cast<int>(2 * piece.tensor), staging_window(),
             packing_blocks(piece.of->transfer, bytes_of(source(*piece.of).dtype()), source(*piece.of).storage(self_),
                            packing_.offset_out(slot) + piece.offset));
  add(tell(self_, message.target, kReady, message.number + 2));
}

void Builder::receive(const Message& message) {
  const Index slot = Packing::slot_out(message.source, message.target, message.number);
  add(await(message.source, kReady, message.number + 2));
  add({.code = OpCode::get,
       .peer = message.source,
       .source_window = staging_window(),
       .target_window = staging_window(),
       .blocks = {{packing_.offset_out(slot), packing_.offset_in(), message.bytes, {}}}});
  add(tell(self_, message.source, kDone, message.number + 1));
  for (const Piece& piece : message.pieces)
    add_copy(staging_window(), static_cast<int>(2 * piece.tensor + 1),
             unpacking_blocks(piece.of->transfer, bytes_of(target(*piece.of).dtype()),
                              packing_.offset_in() + piece.offset, target(*piece.of).storage(self_)));
}

void Builder::put_direct() {
  std::vector<const Channel*> channels;
  for (const Channel& channel : out_)
    if (channel.is_put && !channel.direct.empty()) channels.push_back(&channel);
  if (channels.empty()) return;
  std::ranges::rotate(channels, channels.begin() + self_.value() % std::ssize(channels));
  for (const Channel* channel : channels) {
    add(await(channel->target, kReady, 1));
    for (const Piece& piece : channel->direct) add_move(OpCode::put, channel->target, piece);
  }
  add({.code = OpCode::fence});
  for (const Channel* channel : channels)
    add(tell(self_, channel->target, kDone, packed(in_, &Channel::source, channel->target) + 1));
}

// Neighbouring readers begin with different owners, so that no owner is read by all at once.
void Builder::read_direct() {
  std::vector<const Channel*> channels;
  for (const Channel& channel : in_)
    if (!channel.direct.empty() && !channel.is_put) channels.push_back(&channel);
  if (channels.empty()) return;
  std::ranges::rotate(channels, channels.begin() + self_.value() % std::ssize(channels));
  for (const Channel* channel : channels) {
    if (channel->messages.empty()) add(await(channel->source, kReady, 1));
    for (const Piece& piece : channel->direct) add_move(OpCode::get, channel->source, piece);
    add(tell(self_, channel->source, kDone, channel->events()));
  }
}

void Builder::add_move(OpCode code, RankId peer, const Piece& piece) {
  const Layout &from = source(*piece.of), &to = target(*piece.of);
  add({.code = code,
       .peer = peer,
       .source_window = static_cast<int>(2 * piece.tensor),
       .target_window = static_cast<int>(2 * piece.tensor + 1),
       .blocks = blocks_of(piece.of->transfer, bytes_of(from.dtype()), from.storage(piece.of->transfer.source),
                           to.storage(piece.of->transfer.target))});
}

std::vector<std::vector<Index>> local_bytes(std::span<const Layout> layouts, Index world_ranks) {
  std::vector<std::vector<Index>> bytes;
  for (const Layout& layout : layouts) {
    if (layout.mesh().end_rank().value() > world_ranks)
      fail(Code::invalid_argument, "{} names rank {}, but the world has {} ranks; start more ranks or move the mesh",
           layout.text(), layout.mesh().end_rank().value() - 1, world_ranks);
    std::vector<Index>& per_rank = bytes.emplace_back();
    for (Index r = 0; r < world_ranks; ++r) per_rank.push_back(layout.local_bytes(RankId(r)));
  }
  return bytes;
}

std::vector<WindowSpec> windows_of(const BatchPlan& plan, Index world_ranks) {
  const auto sources = local_bytes(plan.sources(), world_ranks), targets = local_bytes(plan.targets(), world_ranks);
  std::vector<WindowSpec> windows;
  for (const BatchTensor& tensor : plan.tensors()) {
    windows.push_back({"source of " + tensor.name, sources[static_cast<std::size_t>(tensor.source)]});
    windows.push_back({"target of " + tensor.name, targets[static_cast<std::size_t>(tensor.target)]});
  }
  windows.push_back({"staging", std::vector<Index>(static_cast<std::size_t>(world_ranks), staging_bytes(plan))});
  return windows;
}

}  // namespace

Index staging_bytes(const BatchPlan& plan) {
  return Packing(plan.options().plan.staging_limit, plan.options().pack_below).staging_bytes();
}

Program batch_program(const BatchPlan& plan, RankId rank, Index world_ranks, const RankHosts& hosts) {
  if (rank < RankId(0) || rank >= RankId(world_ranks))
    fail(Code::invalid_argument, "rank {} is outside the world of {} ranks", rank.value(), world_ranks);
  Program program{.name = "batch", .ranks = world_ranks};
  program.windows = windows_of(plan, world_ranks);
  program.signals = {{.name = "ready", .slots = world_ranks, .is_by_rank = true},
                     {.name = "done", .slots = world_ranks, .is_by_rank = true}};
  program.operations.resize(static_cast<std::size_t>(world_ranks));
  program.operations[static_cast<std::size_t>(rank.value())] = Builder(plan, rank, world_ranks, hosts).operations();
  return program;
}

}  // namespace reshard

// Hops as one-sided reads, with the epoch protocol: signals only grow, run k uses k + 1.
//
// Why it is safe. Every byte of a target window is written by its own rank only, by the one hop that brings it.
//   - A read of a source follows "ready", which the holder sets at the start of its run: it reads data of this run.
//   - A read of a target follows "arrived", which the forwarding rank sets in its run after its own get of that data
//   has
//     returned. It cannot be that of an earlier run (the value grows), nor be overtaken by the next one: the forwarding
//     rank enters its next run only after all its readers have said "done" for this one.
//   - A rank leaves a run only after everybody who reads its source or its target has said "done", which a reader does
//     after its last read from that rank. So whatever the owner then does to either buffer, the next run included,
//     nobody reads them; and no rank is more than one run ahead of a rank that it reads or is read by.
//   - It ends: hops are in an order in which each comes after the one that it waits for, and every rank runs its own in
//     that order. The first hop of this order that has not run waits for nothing that has not run. Notifications never
//     block, and a rank waits for its readers only after all its own hops.
#include "reshard/multicast_program.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/fail.h"

namespace reshard {
namespace {

constexpr int source_window = 0, target_window = 1;
constexpr int ready = 0, arrived = 1, done = 2;

Operation tell(RankId peer, int signal, Index slot) {
  return {.code = OpCode::notify, .peer = peer, .signal = signal, .slot = slot, .value = 1, .per_run = 1};
}

Operation await(int signal, Index slot) {
  return {.code = OpCode::wait, .signal = signal, .slot = slot, .value = 1, .per_run = 1};
}

std::size_t place(Index number) { return static_cast<std::size_t>(number); }

class Writer {
 public:
  Writer(const Multicast& multicast, Index world_ranks)
      : multicast_(multicast), ranks_(world_ranks), slots_(multicast.hops().size(), -1) {
    for (const Layout* side : {&multicast.source(), &multicast.target()})
      if (side->mesh().end_rank().value() > world_ranks)
        fail(Code::invalid_argument, "{} names rank {}, but the world has {} ranks; start more ranks or move the mesh",
             side->text(), side->mesh().end_rank().value() - 1, world_ranks);
    std::map<RankId, Index> forwarded;  // hops into each rank that wait for another
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const Hop& hop = multicast.hops()[k];
      if (hop.after >= 0) slots_[k] = forwarded[hop.to]++;
    }
    for (const auto& [rank, count] : forwarded) most_slots_ = std::max(most_slots_, count);
  }

  Program empty() const {
    Program program{.name = "multicast", .ranks = ranks_};
    program.windows = {window("source", multicast_.source()), window("target", multicast_.target())};
    program.signals = {{.name = "ready", .slots = ranks_},
                       {.name = "arrived", .slots = most_slots_},
                       {.name = "done", .slots = ranks_}};
    program.operations.resize(place(ranks_));
    return program;
  }

  // What a rank has to do with hops, by their places.
  struct Part {
    std::vector<std::size_t> in;         // hops into it, copies included
    std::vector<std::size_t> followers;  // hops out of it that wait for one into it
    std::set<RankId> source_readers, readers;
  };
  void count(std::size_t k, const auto& part_of) const {
    const Hop& hop = multicast_.hops()[k];
    if (Part* to = part_of(hop.to)) to->in.push_back(k);
    Part* from = hop.is_local() ? nullptr : part_of(hop.from);
    if (from == nullptr) return;
    from->readers.insert(hop.to);
    if (hop.after < 0) {
      from->source_readers.insert(hop.to);
    } else {
      from->followers.push_back(k);
    }
  }

  std::vector<Operation> operations(RankId self, const Part& part) const {
    std::vector<Operation> operations;
    for (const RankId reader : part.source_readers) operations.push_back(tell(reader, ready, self.value()));
    std::map<Index, std::vector<std::size_t>> followers;  // of each hop into this rank
    for (const std::size_t k : part.followers) followers[multicast_.hops()[k].after].push_back(k);
    std::map<RankId, std::size_t> last;  // hop from each peer
    for (const std::size_t k : part.in) last[multicast_.hops()[k].from] = k;
    std::set<RankId> known_ready;
    for (const std::size_t k : part.in) {
      const Hop& hop = multicast_.hops()[k];
      if (hop.is_local()) {
        operations.push_back(move(OpCode::copy, hop));
        continue;
      }
      if (hop.after >= 0) {
        operations.push_back(await(arrived, slots_[k]));
      } else if (known_ready.insert(hop.from).second) {
        operations.push_back(await(ready, hop.from.value()));
      }
      operations.push_back(move(OpCode::get, hop));
      if (const auto found = followers.find(static_cast<Index>(k)); found != followers.end())
        for (const std::size_t follower : found->second)
          operations.push_back(tell(multicast_.hops()[follower].to, arrived, slots_[follower]));
      if (last[hop.from] == k) operations.push_back(tell(hop.from, done, self.value()));
    }
    for (const RankId reader : part.readers) operations.push_back(await(done, reader.value()));
    return operations;
  }

 private:
  WindowSpec window(std::string name, const Layout& layout) const {
    WindowSpec window{.name = std::move(name), .bytes = {}};
    for (Index r = 0; r < ranks_; ++r) window.bytes.push_back(layout.local_bytes(RankId(r)));
    return window;
  }

  Operation move(OpCode code, const Hop& hop) const {
    const bool forwarded = hop.after >= 0;
    const LocalStorage from = (forwarded ? multicast_.target() : multicast_.source()).storage(hop.from);
    return {.code = code,
            .peer = hop.from,
            .source_window = forwarded ? target_window : source_window,
            .target_window = target_window,
            .blocks = blocks_of(multicast_.transfer(hop), bytes_of(multicast_.source().dtype()), from,
                                multicast_.target().storage(hop.to))};
  }

  const Multicast& multicast_;
  Index ranks_;
  std::vector<Index> slots_;  // per hop: of "arrived" at its receiver; -1 for one that reads a source
  Index most_slots_ = 1;
};

}  // namespace

Program multicast_program(const Multicast& multicast, Index world_ranks) {
  const Writer writer(multicast, world_ranks);
  Program program = writer.empty();
  std::vector<Writer::Part> parts(place(world_ranks));
  for (std::size_t k = 0; k < multicast.hops().size(); ++k)
    writer.count(k, [&](RankId rank) { return &parts[place(rank.value())]; });
  for (Index r = 0; r < world_ranks; ++r) program.operations[place(r)] = writer.operations(RankId(r), parts[place(r)]);
  return program;
}

Program multicast_program(const Multicast& multicast, RankId rank, Index world_ranks) {
  if (rank < RankId(0) || rank >= RankId(world_ranks))
    fail(Code::invalid_argument, "rank {} is outside the world of {} ranks", rank.value(), world_ranks);
  const Writer writer(multicast, world_ranks);
  Program program = writer.empty();
  Writer::Part part;
  for (std::size_t k = 0; k < multicast.hops().size(); ++k)
    writer.count(k, [&](RankId asked) { return asked == rank ? &part : nullptr; });
  program.operations[place(rank.value())] = writer.operations(rank, part);
  return program;
}

}  // namespace reshard

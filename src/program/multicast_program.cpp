// Hops as one-sided reads, and writes between hosts, with the epoch protocol: signals only grow, run k uses k + 1.
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
//   - A put of a hop follows "ready" of its receiver, which stays in that run until the hop has arrived, and the put of
//   the
//     data's own way to the sender: its get has returned, or it was told "arrived". The fence before "arrived" frees
//     the buffers of the sender.
//   - It ends: hops are in an order in which each comes after the one that it waits for, and every rank runs its own in
//     that order. The first hop of this order that has not run waits for nothing that has not run. Notifications never
//     block, and a rank waits for its readers only after all its own hops.
//     What it has put it has also told before it waits for anything.
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
  Writer(const Multicast& multicast, Index world_ranks, const RankHosts& hosts)
      : multicast_(multicast), ranks_(world_ranks), hosts_(hosts), slots_(multicast.hops().size(), -1) {
    for (const Layout* side : {&multicast.source(), &multicast.target()})
      if (side->mesh().end_rank().value() > world_ranks)
        fail(Code::invalid_argument, "{} names rank {}, but the world has {} ranks; start more ranks or move the mesh",
             side->text(), side->mesh().end_rank().value() - 1, world_ranks);
    std::map<RankId, Index> announced;  // hops into each rank that it is told of
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const Hop& hop = multicast.hops()[k];
      if (hop.after >= 0 || is_put(hop)) slots_[k] = announced[hop.to]++;
    }
    for (const auto& [rank, count] : announced) most_slots_ = std::max(most_slots_, count);
  }

  Program empty() const {
    Program program{.name = "multicast", .ranks = ranks_};
    program.windows = {window("source", multicast_.source()), window("target", multicast_.target())};
    program.signals = {{.name = "ready", .slots = ranks_, .is_by_rank = true},
                       {.name = "arrived", .slots = most_slots_},
                       {.name = "done", .slots = ranks_}};
    program.operations.resize(place(ranks_));
    return program;
  }

  // What a rank has to do with hops, by their places.
  struct Part {
    std::vector<std::size_t> own;        // hops that it carries out or waits for, in order
    std::vector<std::size_t> followers;  // reads of others that wait for a hop into it
    std::set<RankId> source_readers, readers, writers;
  };
  void count(std::size_t k, const auto& part_of) const {
    const Hop& hop = multicast_.hops()[k];
    Part *to = part_of(hop.to), *from = hop.is_local() ? nullptr : part_of(hop.from);
    if (to != nullptr) to->own.push_back(k);
    if (is_put(hop)) {
      if (to != nullptr) to->writers.insert(hop.from);
      if (from != nullptr) from->own.push_back(k);
      return;
    }
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
    for (const std::set<RankId>* peers : {&part.source_readers, &part.writers})
      for (const RankId peer : *peers) operations.push_back(tell(peer, ready, self.value()));
    std::map<Index, std::vector<std::size_t>> followers;  // of each hop into this rank
    for (const std::size_t k : part.followers) followers[multicast_.hops()[k].after].push_back(k);
    std::map<RankId, std::size_t> last;  // read from each peer
    for (const std::size_t k : part.own)
      if (is_read_by(self, multicast_.hops()[k])) last[multicast_.hops()[k].from] = k;
    std::set<RankId> known_ready;
    std::vector<std::size_t> untold;  // puts on their way
    const auto before_wait = [&] {
      if (untold.empty()) return;
      operations.push_back({.code = OpCode::fence});
      for (const std::size_t k : untold) operations.push_back(tell(multicast_.hops()[k].to, arrived, slots_[k]));
      untold.clear();
    };
    const auto await_ready = [&](RankId peer) {
      if (!known_ready.insert(peer).second) return;
      before_wait();
      operations.push_back(await(ready, peer.value()));
    };
    for (const std::size_t k : part.own) {
      const Hop& hop = multicast_.hops()[k];
      if (is_put(hop) && hop.from == self) {
        await_ready(hop.to);
        operations.push_back(move(OpCode::put, hop));
        untold.push_back(k);
        continue;
      }
      if (hop.is_local()) {
        operations.push_back(move(OpCode::copy, hop));
        continue;
      }
      if (slots_[k] >= 0) {
        before_wait();
        operations.push_back(await(arrived, slots_[k]));
      } else {
        await_ready(hop.from);
      }
      if (!is_put(hop)) operations.push_back(move(OpCode::get, hop));
      if (const auto found = followers.find(static_cast<Index>(k)); found != followers.end())
        for (const std::size_t follower : found->second)
          operations.push_back(tell(multicast_.hops()[follower].to, arrived, slots_[follower]));
      if (const auto read = last.find(hop.from); read != last.end() && read->second == k)
        operations.push_back(tell(hop.from, done, self.value()));
    }
    before_wait();
    for (const RankId reader : part.readers) operations.push_back(await(done, reader.value()));
    return operations;
  }

 private:
  bool is_put(const Hop& hop) const { return hosts_.are_apart(hop.from, hop.to); }
  bool is_read_by(RankId self, const Hop& hop) const { return hop.to == self && !hop.is_local() && !is_put(hop); }
  WindowSpec window(std::string name, const Layout& layout) const {
    WindowSpec window{.name = std::move(name), .bytes = {}};
    for (Index r = 0; r < ranks_; ++r) window.bytes.push_back(layout.local_bytes(RankId(r)));
    return window;
  }

  Operation move(OpCode code, const Hop& hop) const {
    const bool forwarded = hop.after >= 0;
    const LocalStorage from = (forwarded ? multicast_.target() : multicast_.source()).storage(hop.from);
    return {.code = code,
            .peer = code == OpCode::put ? hop.to : hop.from,
            .source_window = forwarded ? target_window : source_window,
            .target_window = target_window,
            .blocks = blocks_of(multicast_.transfer(hop), bytes_of(multicast_.source().dtype()), from,
                                multicast_.target().storage(hop.to))};
  }

  const Multicast& multicast_;
  Index ranks_;
  const RankHosts& hosts_;
  std::vector<Index> slots_;  // per hop: of "arrived" at its receiver; -1 for one that reads a source
  Index most_slots_ = 1;
};

}  // namespace

Program multicast_program(const Multicast& multicast, Index world_ranks, const RankHosts& hosts) {
  const Writer writer(multicast, world_ranks, hosts);
  Program program = writer.empty();
  std::vector<Writer::Part> parts(place(world_ranks));
  for (std::size_t k = 0; k < multicast.hops().size(); ++k)
    writer.count(k, [&](RankId rank) { return &parts[place(rank.value())]; });
  for (Index r = 0; r < world_ranks; ++r) program.operations[place(r)] = writer.operations(RankId(r), parts[place(r)]);
  return program;
}

Program multicast_program(const Multicast& multicast, RankId rank, Index world_ranks, const RankHosts& hosts) {
  if (rank < RankId(0) || rank >= RankId(world_ranks))
    fail(Code::invalid_argument, "rank {} is outside the world of {} ranks", rank.value(), world_ranks);
  const Writer writer(multicast, world_ranks, hosts);
  Program program = writer.empty();
  Writer::Part part;
  for (std::size_t k = 0; k < multicast.hops().size(); ++k)
    writer.count(k, [&](RankId asked) { return asked == rank ? &part : nullptr; });
  program.operations[place(rank.value())] = writer.operations(rank, part);
  return program;
}

}  // namespace reshard

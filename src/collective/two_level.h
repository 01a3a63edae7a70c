// The parts of TwoLevel (write.h), one for each way that bytes go.
#pragma once

#include "collective/draft.h"
#include "collective/hosts.h"
#include "collective/job.h"

namespace reshard::collective {

// "What I have is there, what is written to me is free", to whom it concerns; the first phase of all.
inline constexpr Index kBegin = 1;
// What a rank of another host has put here.
inline constexpr Index kCame = 2;

// all_gather and broadcast: one row of each rank, for all.
class RowsForAll {
 public:
  static constexpr Index kRounds = 4;
  RowsForAll(const Job& job, RankId me);
  Index mailbox() const { return 0; }
  Index staging() const { return 0; }
  void write(Draft& draft) const;

 private:
  void gather(Draft& draft) const;
  void pass_down_the_tree(RankId root, Draft& draft) const;
  void finish(Draft& draft) const;
  Flow row(RankId from) const { return job_.flow(from, me_); }

  const Job& job_;
  RankId me_;
  Hosts hosts_;
  Index host_;
  std::vector<RankId> neighbours_;
};

// all_to_all: rows from each rank to each.
class RowsInBundles {
 public:
  static constexpr Index kRounds = 4;
  RowsInBundles(const Job& job, RankId me);
  Index mailbox() const;
  Index staging() const { return 0; }
  void write(Draft& draft) const;

 private:
  // Who sends and who receives for two hosts.
  RankId sender(Index from, Index to) const { return hosts_.member(from, to % size(from)); }
  RankId receiver(Index from, Index to) const { return hosts_.member(to, from % size(to)); }
  Index size(Index host) const { return static_cast<Index>(hosts_.members(host).size()); }
  Index bundle_bytes(Index from, Index to) const;
  // In the mailbox of its sender and its receiver.
  Spot bundle_sent(Index from, Index to) const;
  Spot bundle_received(Index from, Index to) const;
  void collect(Index to, Draft& draft) const;
  void hand_out(Index from, Draft& draft) const;

  const Job& job_;
  RankId me_;
  Hosts hosts_;
  Index host_;
  std::vector<RankId> neighbours_;
};

// A type that holds sums of the dtype as they are folded.
Dtype wide_dtype(Dtype dtype);

// Folds by host, then by hosts, in tiles.
class FoldByHost {
 public:
  FoldByHost(const Job& job, RankId me);
  // For tiles: terms as they are, and wide; then, beyond, `wide_elements` that the user of this has for itself.
  Index staging(Index wide_elements) const;
  Spot kept(Index wide_element) const;
  Index wide_bytes(Index elements) const { return elements * bytes_of(wide_); }
  // result[0, count) = the terms of this host from element `first` of the input on, folded, wide.
  void fold_host(Index first, Index count, Spot result, Draft& draft) const;
  // result = partial results in the order of hosts, as the job's dtype.
  void fold_hosts(const std::vector<Spot>& partials, Spot result, Index count, Draft& draft) const;
  Index tile() const { return tile_; }

 private:
  Spot raw(Index place) const { return {kStaging, place * tile_ * bytes_of(dtype_)}; }
  Spot widened(Index place) const;

  const Job& job_;
  RankId me_;
  Hosts hosts_;
  Dtype dtype_, wide_;
  Index tile_;  // elements
};

class ReduceScatterByHost {
 public:
  static constexpr Index kRounds = 3;
  ReduceScatterByHost(const Job& job, RankId me);
  Index mailbox() const;
  Index staging() const;
  void write(Draft& draft) const;

 private:
  // Ranks of other hosts for which I fold what this host has.
  std::vector<RankId> served() const;
  RankId server(Index host, RankId of) const { return hosts_.partner(of, host); }
  Index slot(Index host, Index elements) const;
  void serve(Draft& draft) const;
  void fold(Draft& draft) const;

  const Job& job_;
  RankId me_;
  Hosts hosts_;
  FoldByHost folder_;
  std::vector<RankId> neighbours_;
};

class AllReduceByHost {
 public:
  static constexpr Index kRounds = 5;
  AllReduceByHost(const Job& job, RankId me);
  Index mailbox() const;
  Index staging() const;
  void write(Draft& draft) const;

 private:
  struct Range {
    Index begin = 0, count = 0;
  };
  // A column of the elements for each of as many members as all hosts have, and of that a part for each host.
  Range column(Index place) const;
  Range part(Index place, Index host) const;
  bool has_column() const { return place_ < hosts_.columns(); }
  void fold_column(Draft& draft) const;
  void fold_part(Draft& draft) const;

  const Job& job_;
  RankId me_;
  Hosts hosts_;
  Index host_, place_, element_;
  FoldByHost folder_;
  std::vector<RankId> neighbours_;
};

}  // namespace reshard::collective

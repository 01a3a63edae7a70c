// All moves of one tensor: which boxes fill a target's shard, and from whom.
#pragma once

#include <set>
#include <unordered_map>

#include "plan/megatron/holdings.h"
#include "plan/megatron/representative.h"

namespace reshard::megatron {

class TensorMoves {
 public:
  // `targets`: records by resolved name; more than one name where an output layer is tied to this tensor.
  TensorMoves(const Rosters& rosters, const ShardOptions& options, std::string_view name, std::vector<Index> sources,
              const std::map<std::string_view, std::vector<Index>>& targets, Index& steps);

  // The boxes that fill the shard of a target record, by where they begin in it.
  std::vector<ShardOperation> receives(Index target, Index& steps);
  // Target records that need something of what `rank` holds, whoever sends it; ascending.
  std::set<Index> receivers_of(RankId rank, Index& steps);

 private:
  struct Chosen {
    std::unordered_map<Index, Index> sender;  // source record by target record
  };
  // Of a target record.
  Holdings& side_of(Index target);
  const std::vector<Segments>& wanted_by(Index target);
  const Parameter& parameter(Index target) const;

  void check_sources() const;
  void check_alike(Index source_form, Index target) const;
  // The form of the sources that fills a target.
  Index source_form(Index target);
  Index form_by_rank(Index target) const;
  std::optional<Index> sender(Index form, Index shard, Index target, Index& steps);
  // Senders of a shard to all of its receivers, the copies dealt by bytes.
  const Chosen& chosen(Index form, Index shard, Index& steps);
  [[noreturn]] void fail_uncovered(Index form, Index target, Index covered, const std::vector<RankId>& from);

  const Rosters& rosters_;
  const ShardOptions& options_;
  Holdings sources_;
  std::vector<Holdings> targets_;
  std::unordered_map<Index, std::size_t> side_;  // of targets_, by record
  std::unordered_map<Index, Index> form_;        // of the sources, by target record
  Representatives representatives_;
  std::map<std::pair<Index, Index>, Chosen> chosen_;  // by form and shard
};

}  // namespace reshard::megatron

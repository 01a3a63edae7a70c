// The records of one tensor on one side, sorted: forms, the shards of each form, the copies of each shard; and grids,
// the sets of ranks that hold one copy of the tensor between them.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "plan/megatron/shard_index.h"

namespace reshard::megatron {

struct HeldShard {
  ShardPlace place;
  std::vector<Segments> dims;
  std::vector<Index> copies;  // records by ascending rank
  Index elements() const;
};

struct HeldForm {
  ShardForm form;
  std::vector<HeldShard> shards;
};

// Where a record is found.
struct Held {
  Index form = 0;
  Index shard = 0;
  Index grid = 0;
};

// A kind of group whose members must list it alike; with a flag, they hold shards of one form.
struct GroupKind {
  std::string_view name;
  RankGroup Parameter::*group;
  bool Parameter::*flag;
};

class Holdings {
 public:
  // `records`: places in `roster` of the tensor `name`, in any order; `side` is "source" or "target".
  // Throws as ShardPlanner::plan does where records contradict each other. Cost: O(records + members of their groups).
  Holdings(const Roster& roster, std::string_view side, std::string_view name, std::vector<Index> records);

  std::string_view name() const { return name_; }
  const Parameter& parameter(Index record) const { return roster_.parameters[static_cast<std::size_t>(record)]; }
  // By ascending rank, one per rank unless it is there under several local names.
  const std::vector<Index>& records() const { return records_; }
  const std::vector<HeldForm>& forms() const { return forms_; }
  const HeldForm& form_with(Index record) const { return forms_[static_cast<std::size_t>(held(record).form)]; }
  const Held& held(Index record) const { return held_.at(record); }
  // The first record of a rank.
  std::optional<Index> record_of(RankId rank) const;
  // The record of `grid` that holds a shard of its form; nothing if it is missing.
  std::optional<Index> member(Index grid, Index shard) const;
  Index grids() const { return grids_; }
  // The first record of a form, to name it in errors.
  const Parameter& example(const HeldForm& form) const { return parameter(form.shards.front().copies.front()); }

  // Cuts a form by other pieces than its records say.
  void read_as_packed(std::size_t form, std::vector<Index> sizes);
  // Of a form; built when it is first asked for.
  const ShardIndex& index(Index form);

 private:
  void sort_records(std::vector<Index> records);
  void sort_into_forms();
  void find_grids();
  void number_grids(const std::vector<std::size_t>& root);
  void check_member(const Parameter& listing, const GroupKind& kind, Index member) const;

  const Roster& roster_;
  std::string side_, name_;
  std::vector<Index> records_;
  std::vector<HeldForm> forms_;
  std::map<Index, Held> held_;                        // by record
  std::map<std::pair<Index, Index>, Index> members_;  // record by grid and shard
  Index grids_ = 0;
  std::vector<std::unique_ptr<ShardIndex>> indices_;  // by form
};

// "[0:4, 2:8]": the bounds of what a shard holds.
std::string bounds_text(const std::vector<Segments>& dims);

}  // namespace reshard::megatron

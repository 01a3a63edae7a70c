// Rosters as JSON: the fields of ParameterMetadata, with rank lists that may be shared by name.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fail.h"
#include "plan/megatron/shard_form.h"

namespace reshard::megatron {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFields[] = {"name",
                                        "resolved_name",
                                        "shape",
                                        "dtype",
                                        "element_size",
                                        "owner_rank",
                                        "is_tp",
                                        "partition_dim",
                                        "partition_stride",
                                        "partition_sizes",
                                        "is_gtp",
                                        "gtp_pad_length",
                                        "is_ep",
                                        "num_experts",
                                        "global_expert_index",
                                        "tensor_parallel_group_ranks",
                                        "gtp_remat_group_ranks",
                                        "expert_parallel_group_ranks",
                                        "data_parallel_group_ranks",
                                        "pipeline_parallel_group_ranks"};

struct GroupField {
  const char* name;
  RankGroup Parameter::*group;
};
constexpr GroupField kGroups[] = {{"tensor_parallel_group_ranks", &Parameter::tp_group},
                                  {"gtp_remat_group_ranks", &Parameter::gtp_group},
                                  {"expert_parallel_group_ranks", &Parameter::ep_group},
                                  {"data_parallel_group_ranks", &Parameter::dp_group},
                                  {"pipeline_parallel_group_ranks", &Parameter::pp_group}};

// What PyTorch calls them, after "torch.".
constexpr std::pair<std::string_view, Dtype> kTorchNames[] = {{"bool", Dtype::boolean},
                                                              {"uint8", Dtype::u8},
                                                              {"int8", Dtype::i8},
                                                              {"uint16", Dtype::u16},
                                                              {"int16", Dtype::i16},
                                                              {"uint32", Dtype::u32},
                                                              {"int32", Dtype::i32},
                                                              {"uint64", Dtype::u64},
                                                              {"int64", Dtype::i64},
                                                              {"float8_e4m3fn", Dtype::f8e4m3},
                                                              {"float8_e5m2", Dtype::f8e5m2},
                                                              {"float16", Dtype::f16},
                                                              {"bfloat16", Dtype::bf16},
                                                              {"float32", Dtype::f32},
                                                              {"float64", Dtype::f64},
                                                              {"complex64", Dtype::complex64},
                                                              {"complex128", Dtype::complex128}};

const Json& field(const Json& object, const char* name, std::string_view where) {
  const auto found = object.find(name);
  if (found == object.end()) fail(Code::corrupt, "{}: \"{}\" is missing", where, name);
  return *found;
}

// JSON's null stands for a field that is not set, as in what a job writes out.
const Json* set_field(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// What a field holds, for errors: a list or an object only by its kind.
std::string shown(const Json& value) { return value.is_structured() ? value.type_name() : value.dump(); }

Index integer(const Json& value, const char* name, std::string_view where) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
  if (!fits) fail(Code::corrupt, "{}: \"{}\" is {}, not a 64-bit integer", where, name, shown(value));
  return value.get<Index>();
}

std::string string(const Json& value, const char* name, std::string_view where) {
  if (!value.is_string()) fail(Code::corrupt, "{}: \"{}\" is {}, not a string", where, name, shown(value));
  return value.get<std::string>();
}

std::vector<Index> integers(const Json& value, const char* name, std::string_view where) {
  if (!value.is_array()) fail(Code::corrupt, "{}: \"{}\" is {}, not a list", where, name, shown(value));
  std::vector<Index> list;
  for (const Json& entry : value) list.push_back(integer(entry, name, where));
  return list;
}

void check_known(const Json& object, std::span<const std::string_view> known, std::string_view where) {
  for (const auto& [name, value] : object.items())
    if (std::ranges::find(known, name) == known.end()) fail(Code::corrupt, "{}: there is no field \"{}\"", where, name);
}

Dtype dtype_of(const Json& value, std::string_view where) {
  const std::string name = string(value, "dtype", where);
  if (const auto known = dtype_named(name)) return *known;
  const std::string_view torch = std::string_view(name).substr(name.starts_with("torch.") ? 6 : 0);
  for (const auto& [other, dtype] : kTorchNames)
    if (torch == other) return dtype;
  fail(Code::corrupt, "{}: \"dtype\" is \"{}\"; write bf16, f32, .. or torch.bfloat16, torch.float32, ..", where, name);
}

// Rank lists of the file by name, and equal lists by content, so that all of them are stored once.
class Groups {
 public:
  explicit Groups(const Json& file) {
    const Json* groups = set_field(file, "groups");
    if (groups == nullptr) return;
    if (!groups->is_object()) fail(Code::corrupt, "rosters: \"groups\" is no object");
    for (const auto& [name, ranks] : groups->items()) named_[name] = integers(ranks, name.c_str(), "rosters: groups");
  }

  RankGroup group(const Json& value, const char* name, Index offset, std::string_view where) {
    if (!value.is_string()) return shared(integers(value, name, where), offset, name, where);
    const auto found = named_.find(value.get<std::string>());
    if (found == named_.end())
      fail(Code::corrupt, "{}: \"{}\" is {}, and \"groups\" has no such list", where, name, shown(value));
    return shared(found->second, offset, name, where);
  }

 private:
  RankGroup shared(const std::vector<Index>& listed, Index offset, const char* name, std::string_view where) {
    std::vector<RankId> ranks;
    for (const Index rank : listed) {
      if (rank < 0 || rank > INT64_MAX - offset)
        fail(Code::corrupt, "{}: \"{}\": {} is no rank with offset {}", where, name, rank, offset);
      ranks.push_back(RankId(rank) + offset);
    }
    RankGroup& group = known_[ranks];
    if (group.given()) return group;
    try {
      group = RankGroup(ranks);
    } catch (const Error& error) {
      fail(Code::corrupt, "{}: \"{}\": {}", where, name, error.what());
    }
    return group;
  }

  std::map<std::string, std::vector<Index>> named_;
  std::map<std::vector<RankId>, RankGroup> known_;
};

class SideReader {
 public:
  SideReader(Groups& groups, const char* side, const Json& value) : groups_(groups), side_(side), value_(value) {
    if (!value.is_object()) fail(Code::corrupt, "{}: this is no object", side);
    constexpr std::string_view known[] = {"rank_offset", "components", "layers", "parameters"};
    check_known(value, known, side);
    if (const Json* offset = set_field(value, "rank_offset")) offset_ = integer(*offset, "rank_offset", side);
    if (offset_ < 0) fail(Code::corrupt, "{}: \"rank_offset\" {} is negative", side, offset_);
  }

  Roster roster() {
    Roster roster;
    read_layers(roster);
    read_components(roster);
    const Json& parameters = field(value_, "parameters", side_);
    if (!parameters.is_array()) fail(Code::corrupt, "{}: \"parameters\" is no list", side_);
    for (std::size_t k = 0; k < parameters.size(); ++k)
      roster.parameters.push_back(parameter(parameters[k], fmt::format("{}: parameter {}", side_, k)));
    return roster;
  }

 private:
  RankId rank(const Json& value, const char* name, std::string_view where) const {
    const Index rank = integer(value, name, where);
    if (rank < 0 || rank > INT64_MAX - offset_)
      fail(Code::corrupt, "{}: \"{}\" {} is no rank with offset {}", where, name, rank, offset_);
    return RankId(rank + offset_);
  }

  void read_layers(Roster& roster) const {
    const Json* layers = set_field(value_, "layers");
    if (layers == nullptr) return;
    const std::string where = fmt::format("{}: layers", side_);
    if (!layers->is_object()) fail(Code::corrupt, "{}: this is no object of ranks", where);
    for (const auto& [rank_text, modules] : layers->items()) {
      const Json number = Json::parse(rank_text, nullptr, false);
      if (!number.is_number_integer()) fail(Code::corrupt, "{}: \"{}\" is no rank", where, rank_text);
      if (!modules.is_object()) fail(Code::corrupt, "{}: rank {}: this is no object of paths", where, rank_text);
      for (const auto& [path, layer] : modules.items())
        roster.modules.push_back({rank(number, "layers", where), path, integer(layer, path.c_str(), where)});
    }
    std::ranges::sort(roster.modules, {}, [](const NumberedModule& m) { return std::pair(m.rank, m.path); });
  }

  void read_components(Roster& roster) const {
    const Json* components = set_field(value_, "components");
    if (components == nullptr) return;
    if (!components->is_array()) fail(Code::corrupt, "{}: \"components\" is no list", side_);
    for (const Json& component : *components) {
      const std::string where = fmt::format("{}: component {}", side_, roster.components.size());
      if (!component.is_object()) fail(Code::corrupt, "{}: this is no object", where);
      constexpr std::string_view known[] = {"label", "path"};
      check_known(component, known, where);
      roster.components.push_back({string(field(component, "label", where), "label", where),
                                   string(field(component, "path", where), "path", where)});
    }
  }

  Parameter parameter(const Json& record, const std::string& number) {
    if (!record.is_object()) fail(Code::corrupt, "{}: this is no object", number);
    Parameter out;
    out.name = string(field(record, "name", number), "name", number);
    const std::string where = fmt::format("{}, '{}'", number, out.name);
    check_known(record, kFields, where);
    out.owner = rank(field(record, "owner_rank", where), "owner_rank", where);
    out.shape = integers(field(record, "shape", where), "shape", where);
    out.dtype = dtype_of(field(record, "dtype", where), where);
    if (const Json* size = set_field(record, "element_size"))
      if (integer(*size, "element_size", where) != bytes_of(out.dtype))
        fail(Code::corrupt, "{}: \"element_size\" is {}, and {} has {} bytes", where, shown(*size), name_of(out.dtype),
             bytes_of(out.dtype));
    if (const Json* value = set_field(record, "resolved_name"))
      out.resolved_name = string(*value, "resolved_name", where);
    if (const Json* value = set_field(record, "partition_sizes"))
      out.partition_sizes = integers(*value, "partition_sizes", where);
    read_flags(record, out, where);
    read_numbers(record, out, where);
    for (const auto& [name, group] : kGroups)
      if (const Json* value = set_field(record, name)) out.*group = groups_.group(*value, name, offset_, where);
    return out;
  }

  static void read_flags(const Json& record, Parameter& out, std::string_view where) {
    const std::pair<const char*, bool*> flags[] = {
        {"is_tp", &out.is_tp}, {"is_gtp", &out.is_gtp}, {"is_ep", &out.is_ep}};
    for (const auto& [name, flag] : flags) {
      const Json* value = set_field(record, name);
      if (value == nullptr) continue;
      if (!value->is_boolean()) fail(Code::corrupt, "{}: \"{}\" is {}, not true or false", where, name, shown(*value));
      *flag = value->get<bool>();
    }
  }

  static void read_numbers(const Json& record, Parameter& out, std::string_view where) {
    const std::pair<const char*, Index*> numbers[] = {{"partition_stride", &out.partition_stride},
                                                      {"gtp_pad_length", &out.gtp_pad},
                                                      {"num_experts", &out.num_experts}};
    for (const auto& [name, number] : numbers)
      if (const Json* value = set_field(record, name)) *number = integer(*value, name, where);
    if (const Json* value = set_field(record, "global_expert_index"))
      out.global_expert = integer(*value, "global_expert_index", where);
    if (const Json* value = set_field(record, "partition_dim")) {
      const Index dim = integer(*value, "partition_dim", where);
      if (dim < INT32_MIN || dim > INT32_MAX)
        fail(Code::corrupt, "{}: \"partition_dim\" {} is no dimension", where, dim);
      out.partition_dim = static_cast<int>(dim);
    }
  }

  Groups& groups_;
  const char* side_;
  const Json& value_;
  Index offset_ = 0;
};

// Gives every different list a name: g0, g1, ..
class GroupNames {
 public:
  std::string name_of(const RankGroup& group) {
    const auto [entry, fresh] = names_.try_emplace(group.ranks(), fmt::format("g{}", names_.size()));
    return entry->second;
  }
  nlohmann::ordered_json json() const {
    std::map<Index, const std::vector<RankId>*> by_number;
    for (const auto& [ranks, name] : names_) by_number[std::stoll(name.substr(1))] = &ranks;
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [number, ranks] : by_number) {
      nlohmann::ordered_json& list = out[fmt::format("g{}", number)] = nlohmann::ordered_json::array();
      for (const RankId rank : *ranks) list.push_back(rank.value());
    }
    return out;
  }

 private:
  std::map<std::vector<RankId>, std::string> names_;
};

nlohmann::ordered_json json_of(const Parameter& parameter, GroupNames& groups) {
  nlohmann::ordered_json out{{"name", parameter.name}};
  if (!parameter.resolved_name.empty()) out["resolved_name"] = parameter.resolved_name;
  out["owner_rank"] = parameter.owner.value();
  out["shape"] = parameter.shape;
  out["dtype"] = name_of(parameter.dtype);
  if (parameter.is_tp) out["is_tp"] = true;
  if (parameter.partition_dim != 0) out["partition_dim"] = parameter.partition_dim;
  if (parameter.partition_stride != 1) out["partition_stride"] = parameter.partition_stride;
  if (!parameter.partition_sizes.empty()) out["partition_sizes"] = parameter.partition_sizes;
  if (parameter.is_gtp) out["is_gtp"] = true;
  if (parameter.gtp_pad != 0) out["gtp_pad_length"] = parameter.gtp_pad;
  if (parameter.is_ep) out["is_ep"] = true;
  if (parameter.num_experts != 0) out["num_experts"] = parameter.num_experts;
  if (parameter.global_expert) out["global_expert_index"] = *parameter.global_expert;
  for (const auto& [name, group] : kGroups)
    if ((parameter.*group).given()) out[name] = groups.name_of(parameter.*group);
  return out;
}

nlohmann::ordered_json json_of(const Roster& roster, GroupNames& groups) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Component& component : roster.components)
    out["components"].push_back({{"label", component.label}, {"path", component.path}});
  for (const NumberedModule& module : roster.modules)
    out["layers"][std::to_string(module.rank.value())][module.path] = module.layer_number;
  out["parameters"] = nlohmann::ordered_json::array();
  for (const Parameter& parameter : roster.parameters) out["parameters"].push_back(json_of(parameter, groups));
  return out;
}

}  // namespace

Rosters rosters_from_json(std::string_view text) {
  const Json file = Json::parse(text, nullptr, false);
  if (file.is_discarded()) fail(Code::corrupt, "rosters: this is no JSON");
  if (!file.is_object()) fail(Code::corrupt, "rosters: this is no object of \"sources\" and \"targets\"");
  constexpr std::string_view known[] = {"groups", "sources", "targets"};
  check_known(file, known, "rosters");
  Groups groups(file);
  Rosters rosters;
  rosters.sources = SideReader(groups, "sources", field(file, "sources", "rosters")).roster();
  rosters.targets = SideReader(groups, "targets", field(file, "targets", "rosters")).roster();
  return rosters;
}

std::string rosters_json(const Rosters& rosters) {
  GroupNames groups;
  nlohmann::ordered_json sources = json_of(rosters.sources, groups), targets = json_of(rosters.targets, groups);
  nlohmann::ordered_json out;
  out["groups"] = groups.json();
  out["sources"] = std::move(sources);
  out["targets"] = std::move(targets);
  return out.dump(1);
}

}  // namespace reshard::megatron

// The JSON form of plans: {"format": "reshard plan 1", "source": layout, "target": layout, "policy": .., "transfers":
// [{"source": rank, "target": rank, "dims": [[[source, target, length], ..], ..]}, ..]}.
#include <array>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

using json = nlohmann::json;
using ordered_json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "reshard plan 1";
constexpr std::array kPolicies{SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::modulo};

ordered_json transfer_json(const Transfer& transfer) {
  ordered_json dims = ordered_json::array();
  for (const std::vector<Span>& spans : transfer.dims) {
    ordered_json list = ordered_json::array();
    for (const Span& span : spans)
      list.push_back(ordered_json::array({span.source.value(), span.target.value(), span.length}));
    dims.push_back(std::move(list));
  }
  return {{"source", transfer.source.value()}, {"target", transfer.target.value()}, {"dims", std::move(dims)}};
}

const json& field(const json& object, const char* key, const std::string& where) {
  if (!object.is_object() || !object.contains(key)) fail(Code::corrupt, "{}: \"{}\" is missing", where, key);
  return object.at(key);
}

Index number(const json& value, const std::string& where) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
    fail(Code::corrupt, "{}: {} is no 64-bit integer", where, value.dump());
  return value.get<Index>();
}

std::string string(const json& value, const std::string& where) {
  if (!value.is_string()) fail(Code::corrupt, "{}: {} is no string", where, value.dump());
  return value.get<std::string>();
}

Span span_of(const json& value, const std::string& where) {
  if (!value.is_array() || value.size() != 3)
    fail(Code::corrupt, "{}: {} is not [source, target, length]", where, value.dump());
  return {LocalIndex(number(value[0], where)), LocalIndex(number(value[1], where)), number(value[2], where)};
}

Transfer transfer_of(const json& value, const std::string& where) {
  Transfer transfer{
      RankId(number(field(value, "source", where), where)), RankId(number(field(value, "target", where), where)), {}};
  const json& dims = field(value, "dims", where);
  if (!dims.is_array()) fail(Code::corrupt, "{}: \"dims\" is no list", where);
  for (const json& spans : dims) {
    if (!spans.is_array()) fail(Code::corrupt, "{}: an entry of \"dims\" is no list", where);
    std::vector<Span>& list = transfer.dims.emplace_back();
    for (const json& span : spans) list.push_back(span_of(span, where));
  }
  return transfer;
}

SenderPolicy policy_of(const std::string& name) {
  for (const SenderPolicy policy : kPolicies)
    if (name_of(policy) == name) return policy;
  fail(Code::corrupt, "plan: unknown policy \"{}\" (local, balanced, modulo)", name);
}

}  // namespace

std::string Plan::json() const {
  nlohmann::ordered_json out;
  out["format"] = kFormat;
  out["source"] = source_.text();
  out["target"] = target_.text();
  out["policy"] = name_of(options_.policy);
  out["ranks_per_host"] = options_.ranks_per_host;
  out["rotation"] = options_.rotation;
  out["transfers"] = nlohmann::ordered_json::array();
  for (const Transfer& transfer : transfers_) out["transfers"].push_back(transfer_json(transfer));
  return out.dump(1);
}

Plan plan_from_json(std::string_view text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) fail(Code::corrupt, "plan: this is no JSON");
  if (string(field(value, "format", "plan"), "plan") != kFormat)
    fail(Code::corrupt, "plan: format {} is not \"{}\"", value.at("format").dump(), kFormat);
  PlanOptions options;
  options.policy = policy_of(string(field(value, "policy", "plan"), "plan"));
  options.ranks_per_host = number(field(value, "ranks_per_host", "plan"), "plan");
  options.rotation = number(field(value, "rotation", "plan"), "plan");
  std::vector<Transfer> transfers;
  const nlohmann::json& list = field(value, "transfers", "plan");
  if (!list.is_array()) fail(Code::corrupt, "plan: \"transfers\" is no list");
  for (std::size_t k = 0; k < list.size(); ++k)
    transfers.push_back(transfer_of(list[k], fmt::format("plan: transfer {}", k)));
  return Plan(layout(string(field(value, "source", "plan"), "plan")),
              layout(string(field(value, "target", "plan"), "plan")), options, std::move(transfers));
}

}  // namespace reshard

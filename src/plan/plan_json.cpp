// The JSON form of plans: {"format": "reshard plan 1", "source": layout, "target": layout, "policy": .., "transfers":
// [{"source": rank, "target": rank, "dims": [[[source, target, length], ..], ..]}, ..]}.
#include <algorithm>

#include "base/fail.h"
#include "plan/json_fields.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

using json = nlohmann::json;
using ordered_json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "reshard plan 1";

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

Span span_of(const json& value, const std::string& where) {
  if (!value.is_array() || value.size() != 3) fail(Code::corrupt, "{}: a span is [source, target, length]", where);
  const Index source = number(value[0], where), target = number(value[1], where), length = number(value[2], where);
  Index end = 0;
  if (source < 0 || target < 0 || length < 1 || __builtin_add_overflow(std::max(source, target), length, &end))
    fail(Code::corrupt, "{}: there is no span [{}, {}, {}]", where, source, target, length);
  return {LocalIndex(source), LocalIndex(target), length};
}

// So that what is counted of a plan fits, also of one that is not right.
void check_bytes(const Transfer& transfer, Index element_bytes, const std::string& where) {
  Index bytes = element_bytes;
  bool fits = true;
  for (const std::vector<Span>& spans : transfer.dims) {
    Index along = 0;
    for (const Span& span : spans) fits = !__builtin_add_overflow(along, span.length, &along) && fits;
    fits = !__builtin_mul_overflow(bytes, along, &bytes) && fits;
  }
  if (!fits) fail(Code::corrupt, "{}: its bytes do not fit in 64 bits", where);
}

Transfer transfer_of(const json& value, const Layout& source, const std::string& where) {
  Transfer transfer{
      RankId(number(field(value, "source", where), where)), RankId(number(field(value, "target", where), where)), {}};
  const json& dims = field(value, "dims", where);
  if (!dims.is_array()) fail(Code::corrupt, "{}: \"dims\" is no list", where);
  for (const json& spans : dims) {
    if (!spans.is_array()) fail(Code::corrupt, "{}: an entry of \"dims\" is no list", where);
    std::vector<Span>& list = transfer.dims.emplace_back();
    for (const json& span : spans) list.push_back(span_of(span, where));
  }
  check_bytes(transfer, bytes_of(source.dtype()), where);
  return transfer;
}

Layout layout_of(const json& plan, const char* side) {
  const std::string text = string(field(plan, side, "plan"), "plan");
  try {
    return layout(text);
  } catch (const Error& error) {
    fail(Code::corrupt, "plan: {}: {}", side, error.what());
  }
}

SenderPolicy policy_of(const std::string& name) {
  if (const auto policy = sender_policy_named(name)) return *policy;
  std::string known;
  for (const SenderPolicy policy : all_sender_policies())
    known += (known.empty() ? "" : ", ") + std::string(name_of(policy));
  fail(Code::corrupt, "plan: unknown policy \"{}\" ({})", name, known);
}

// Plans written before an option was known have its default.
PlanOptions options_of(const json& plan) {
  PlanOptions options;
  const auto optional = [&](const char* key, Index otherwise) {
    return plan.contains(key) ? number(plan.at(key), "plan") : otherwise;
  };
  options.policy = policy_of(string(field(plan, "policy", "plan"), "plan"));
  options.ranks_per_host = number(field(plan, "ranks_per_host", "plan"), "plan");
  options.ranks_per_rack = optional("ranks_per_rack", options.ranks_per_rack);
  options.rotation = number(field(plan, "rotation", "plan"), "plan");
  options.staging_limit = optional("staging_limit", options.staging_limit);
  if (std::min({options.ranks_per_host, options.ranks_per_rack, options.rotation, options.staging_limit}) < 0)
    fail(Code::corrupt,
         "plan: ranks per host ({}), ranks per rack ({}), rotation ({}) and staging limit ({}) must not be negative",
         options.ranks_per_host, options.ranks_per_rack, options.rotation, options.staging_limit);
  return options;
}

}  // namespace

std::string Plan::json() const {
  nlohmann::ordered_json out;
  out["format"] = kFormat;
  out["source"] = source_.text();
  out["target"] = target_.text();
  out["policy"] = name_of(options_.policy);
  out["ranks_per_host"] = options_.ranks_per_host;
  out["ranks_per_rack"] = options_.ranks_per_rack;
  out["rotation"] = options_.rotation;
  out["staging_limit"] = options_.staging_limit;
  out["transfers"] = nlohmann::ordered_json::array();
  for (const Transfer& transfer : transfers_) out["transfers"].push_back(transfer_json(transfer));
  return out.dump(1);
}

Plan plan_from_json(std::string_view text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) fail(Code::corrupt, "plan: this is no JSON");
  if (string(field(value, "format", "plan"), "plan") != kFormat)
    fail(Code::corrupt, "plan: the format is not \"{}\"", kFormat);
  const PlanOptions options = options_of(value);
  Layout source = layout_of(value, "source"), target = layout_of(value, "target");
  std::vector<Transfer> transfers;
  const nlohmann::json& list = field(value, "transfers", "plan");
  if (!list.is_array()) fail(Code::corrupt, "plan: \"transfers\" is no list");
  for (std::size_t k = 0; k < list.size(); ++k)
    transfers.push_back(transfer_of(list[k], source, fmt::format("plan: transfer {}", k)));
  return Plan(std::move(source), std::move(target), options, std::move(transfers));
}

}  // namespace reshard

#include "op/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBoxesShown = 3;

std::string box_text(const MemoryBox& box) {
  std::string out;
  for (std::size_t dim = 0; dim < box.begin.size(); ++dim)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ", ", box.begin[dim], box.end[dim]);
  return "[" + out + "]";
}

std::string boxes_text(const std::vector<MemoryBox>& boxes) {
  std::string out;
  for (std::size_t k = 0; k < std::min(boxes.size(), kBoxesShown); ++k) out += (k > 0 ? " " : "") + box_text(boxes[k]);
  if (boxes.size() > kBoxesShown) out += fmt::format(" +{}", boxes.size() - kBoxesShown);
  return out;
}

std::string messages_text(const Direction& direction) {
  Table table({"round>", "from>", "to>", "hops>", "bytes>", "box at the sender", "box at the receiver"});
  for (const Message& message : direction.messages) {
    const bool stays = message.from == message.to;
    table.row({fmt::format("{}", message.round), fmt::format("{}", message.from.value()),
               fmt::format("{}", message.to.value()), stays ? "-" : fmt::format("{}", message.hops),
               count_text(message.bytes), boxes_text(message.sent),
               message.received.empty() ? "to be folded" : boxes_text(message.received)});
  }
  return direction.messages.empty() ? "" : "\n" + table.text();
}

Index sent_messages(const Direction& direction) {
  return std::ranges::count_if(direction.messages, [](const Message& message) { return message.from != message.to; });
}

std::string direction_text(std::string_view title, const Direction& direction, bool explains) {
  std::string out =
      fmt::format("   {:<10}{}\n             -> {}\n", title, direction.op.in().text(), direction.op.out().text());
  out += fmt::format("   {:<10}{} in {}, {} copied, {} folded\n", "", bytes_text(direction.bytes),
                     count_text(sent_messages(direction), "message"), bytes_text(direction.copied),
                     bytes_text(direction.folded));
  return out + (explains ? messages_text(direction) : "");
}

Json boxes_json(const std::vector<MemoryBox>& boxes) {
  Json all = Json::array();
  for (const MemoryBox& box : boxes) all.push_back({{"begin", box.begin}, {"end", box.end}});
  return all;
}

Json direction_json(const Direction& direction) {
  Json messages = Json::array();
  for (const Message& message : direction.messages)
    messages.push_back({{"round", message.round},
                        {"from", message.from.value()},
                        {"to", message.to.value()},
                        {"hops", message.hops},
                        {"bytes", message.bytes},
                        {"sent", boxes_json(message.sent)},
                        {"received", boxes_json(message.received)}});
  return {{"in", direction.op.in().text()}, {"out", direction.op.out().text()}, {"bytes", direction.bytes},
          {"copied", direction.copied},     {"folded", direction.folded},       {"messages", std::move(messages)}};
}

}  // namespace

std::string op_text(const OpReport& report, bool explains) {
  std::string out = fmt::format("   {:<10}{}\n", "operator", report.forward.op.name());
  out += direction_text("forward", report.forward, explains);
  out += (explains ? "\n" : "") + direction_text("adjoint", report.adjoint, explains);
  if (report.check)
    out += fmt::format("   {:<10}<A x, y> = {}, <x, A* y> = {}, off by {:.3g} of at most {:.3g}\n", "check",
                       report.check->forward, report.check->adjoint, report.check->error, report.check->tolerance);
  return out;
}

std::string op_json(const OpReport& report) {
  Json json{{"operator", report.forward.op.name()},
            {"forward", direction_json(report.forward)},
            {"adjoint", direction_json(report.adjoint)}};
  if (report.check)
    json["check"] = {{"forward", report.check->forward},
                     {"adjoint", report.check->adjoint},
                     {"error", report.check->error},
                     {"tolerance", report.check->tolerance}};
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli

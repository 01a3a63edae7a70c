// reshard boxes SOURCE [TARGET]: box lists of checkpoints, checked, planned, and written for other programs.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "output/numbers.h"
#include "output/output.h"
#include "output/table.h"
#include "reshard/boxes.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Request {
  std::string source, target;
  bool json = false;
};

// A layout says what it lies on; anything else is a file.
BoxList boxes_named(const std::string& name) {
  if (name.find("] on") != std::string::npos) return boxes_of(layout(name));
  return box_list_from_json(read_file(name));
}

std::string head_text(const char* side, const BoxList& list) {
  std::map<RankId, Index> ranks;
  for (const OwnedBox& owned : list.boxes()) ++ranks[owned.rank];
  std::string shape;
  for (const Index size : list.shape()) shape += (shape.empty() ? "" : ",") + std::to_string(size);
  return fmt::format("   {:<17} {}[{}], {} on {}\n", side, name_of(list.dtype()), shape,
                     count_text(std::ssize(list.boxes()), "box"), count_text(std::ssize(ranks), "rank"));
}

int show_list(const Request& request) {
  const BoxList list = boxes_named(request.source);
  const std::vector<BoxFault> faults = check_boxes(list);
  if (request.json) {
    Json out = Json::parse(list.json());
    out["faults"] = Json::array();
    for (const BoxFault& fault : faults) out["faults"].push_back(fault.message);
    print(out.dump(1) + "\n");
    return faults.empty() ? kDone : kWrong;
  }
  std::string out = head_text("boxes", list);
  out += faults.empty() ? "   check             every element is held, and no two boxes overlap in part\n" : "";
  for (const BoxFault& fault : faults) out += "   fault             " + fault.message + "\n";
  Table table({"rank>", "box", "elements>"});
  for (const OwnedBox& owned : list.boxes())
    table.row({std::to_string(owned.rank.value()), owned.box.text(), std::to_string(owned.box.elements())});
  print(out + "\n" + table.text());
  return faults.empty() ? kDone : kWrong;
}

int show_plan(const Request& request) {
  const BoxList source = boxes_named(request.source), target = boxes_named(request.target);
  const BoxPlan plan = plan_boxes(source, target);
  const auto rank_of = [](const BoxList& list, Index k) {
    return list.boxes()[static_cast<std::size_t>(k)].rank.value();
  };
  if (request.json) {
    Json out{{"sent", plan.sent}, {"copied", plan.copied}, {"transfers", Json::array()}};
    for (const BoxTransfer& transfer : plan.transfers) {
      std::vector<Index> offsets;
      for (const GlobalIndex offset : transfer.region.offsets) offsets.push_back(offset.value());
      out["transfers"].push_back({{"source_rank", rank_of(source, transfer.source)},
                                  {"source_box", transfer.source},
                                  {"target_rank", rank_of(target, transfer.target)},
                                  {"target_box", transfer.target},
                                  {"offsets", offsets},
                                  {"sizes", transfer.region.sizes}});
    }
    print(out.dump(1) + "\n");
    return kDone;
  }
  std::string out = head_text("source", source) + head_text("target", target);
  out +=
      fmt::format("   sent              {}\n   copied in place   {}\n", bytes_text(plan.sent), bytes_text(plan.copied));
  Table table({"from>", "to>", "elements of the tensor"});
  for (const BoxTransfer& transfer : plan.transfers)
    table.row({std::to_string(rank_of(source, transfer.source)), std::to_string(rank_of(target, transfer.target)),
               transfer.region.text()});
  print(out + "\n" + table.text());
  return kDone;
}

}  // namespace

void add_boxes(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "boxes", "Check lists of boxes, as checkpoints describe tensors, and plan between two of them");
  const auto request = std::make_shared<Request>();
  command
      ->add_option(
          "source", request->source,
          "File with {\"dtype\": .., \"shape\": [..], \"boxes\": [{\"rank\": .., \"offsets\": [..], \"sizes\": "
          "[..]}]}, - for standard input, or a layout as text")
      ->required()
      ->type_name("BOXES");
  command->add_option("target", request->target, "The same: boxes to fill; they need not cover the tensor")
      ->type_name("BOXES");
  command->add_flag("--json", request->json, "Print as JSON: of one list the list itself, of two the transfers");
  command->footer(
      "Exit codes: 0 done, 1 one list with holes or overlaps, 2 no boxes, or none to plan with.\nExamples:\n"
      "  reshard boxes \"f32[6,4] on (a=2, b=2) {0: a, 1: b}\"\n"
      "  reshard boxes \"f32[6,4] on (a=3) {0: a}\" --json | reshard boxes - \"f32[6,4] on (b=2) {1: b}\"");
  command->callback([request, &action] {
    action = [request] { return request->target.empty() ? show_list(*request) : show_plan(*request); };
  });
}

}  // namespace reshard::cli

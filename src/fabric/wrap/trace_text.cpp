// Parts of a trace as JSON, and the file made of them.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/fail.h"
#include "reshard/wrap.h"

namespace reshard {
namespace {

using Json = nlohmann::ordered_json;

struct TracedCall {
  int rank = 0;
  std::string kind, object;
  int peer = 0;
  Index slot = 0, bytes = 0;
  std::uint64_t value = 0;
  bool is_comparison_or_add = false;
  Index begin = 0, end = 0;  // ns
};

struct Part {
  int rank = 0;
  Index dropped = 0;
  std::vector<TracedCall> calls;
};

Part read_part(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    Part part{.rank = json.at("rank"), .dropped = json.at("dropped"), .calls = {}};
    for (const Json& c : json.at("calls")) {
      part.calls.push_back({.rank = part.rank,
                            .kind = c.at(0),
                            .object = c.at(1),
                            .peer = c.at(2),
                            .slot = c.at(3),
                            .bytes = c.at(4),
                            .value = c.at(5),
                            .is_comparison_or_add = c.at(6),
                            .begin = c.at(7),
                            .end = c.at(8)});
    }
    return part;
  } catch (const Json::exception& error) {
    fail(Code::corrupt, "not a part of a trace: {}", error.what());
  }
}

double microseconds(Index ns, Index origin) { return static_cast<double>(ns - origin) / 1000; }

std::string title(const TracedCall& call) {
  const auto cell = [&] { return fmt::format("{} {}[{}]", call.kind, call.object, call.slot); };
  if (call.kind == "put" || call.kind == "accumulate")
    return fmt::format("{} {} to {}", call.kind, call.object, call.peer);
  if (call.kind == "get") return fmt::format("get {} from {}", call.object, call.peer);
  if (call.kind == "notify") return fmt::format("{} of {}", cell(), call.peer);
  if (call.kind == "wait") return cell();
  return call.kind;
}

Json slice(const TracedCall& call, Index origin) {
  Json args = Json::object();
  if (!call.object.empty()) args["object"] = call.object;
  if (call.peer != call.rank) args["peer"] = call.peer;
  if (call.bytes > 0) args["bytes"] = call.bytes;
  if (call.kind == "notify") args[call.is_comparison_or_add ? "add" : "set"] = call.value;
  if (call.kind == "wait") args[call.is_comparison_or_add ? ">=" : "=="] = call.value;
  return {{"name", title(call)},
          {"cat", call.kind},
          {"ph", "X"},
          {"pid", 0},
          {"tid", call.rank},
          {"ts", microseconds(call.begin, origin)},
          {"dur", static_cast<double>(call.end - call.begin) / 1000},
          {"args", std::move(args)}};
}

// One cell: whose, which signal, which slot.
using Cell = std::tuple<int, std::string, Index>;

struct Cells {
  std::vector<const TracedCall*> notifications, waits;
};

struct Arrow {
  const TracedCall* from;
  const TracedCall* to;
};

// The counter is followed from notification to notification: the one that made true what a wait asked for, and after
// which it stayed true until the wait ended, let it go on.
void add_arrows(Cells& cell, std::vector<Arrow>& arrows) {
  std::ranges::stable_sort(cell.notifications, {}, [](const TracedCall* c) { return c->begin; });
  for (const TracedCall* wait : cell.waits) {
    std::uint64_t counter = 0;
    const TracedCall* cause = nullptr;
    for (const TracedCall* n : cell.notifications) {
      if (n->begin > wait->end) break;
      counter = n->is_comparison_or_add ? counter + n->value : n->value;
      const bool is_true = wait->is_comparison_or_add ? counter >= wait->value : counter == wait->value;
      if (!is_true) cause = nullptr;
      if (is_true && cause == nullptr) cause = n;
    }
    if (cause != nullptr) arrows.push_back({cause, wait});
  }
}

std::vector<Arrow> arrows_of(const std::vector<Part>& parts) {
  std::map<Cell, Cells> cells;
  for (const Part& part : parts) {
    for (const TracedCall& call : part.calls) {
      if (call.kind == "notify") cells[{call.peer, call.object, call.slot}].notifications.push_back(&call);
      if (call.kind == "wait") cells[{call.rank, call.object, call.slot}].waits.push_back(&call);
    }
  }
  std::vector<Arrow> arrows;
  for (auto& [key, cell] : cells) add_arrows(cell, arrows);
  return arrows;
}

// Its ends lie inside the slices that it joins.
void add_arrow(Json& events, const Arrow& arrow, std::size_t id, Index origin) {
  const auto end = [&](const char* phase, const TracedCall& call, Index at) {
    Json event{
        {"name", "notification"},        {"cat", "signal"}, {"ph", phase}, {"id", id}, {"pid", 0}, {"tid", call.rank},
        {"ts", microseconds(at, origin)}};
    if (*phase == 'f') event["bp"] = "e";
    events.push_back(std::move(event));
  };
  end("s", *arrow.from, arrow.from->begin);
  end("f", *arrow.to, arrow.to->end);
}

}  // namespace

std::string trace_part(const TraceLog& log) {
  Json calls = Json::array();
  for (const TraceLog::Call& c : log.calls()) {
    const std::string object = c.object >= 0 ? log.names()[static_cast<std::size_t>(c.object)] : "";
    calls.push_back({name_of(c.kind), object, c.peer, c.slot, c.bytes, c.value, c.is_comparison_or_add, c.begin.count(),
                     c.end.count()});
  }
  const Json part{{"rank", log.rank().value()}, {"dropped", log.dropped()}, {"calls", std::move(calls)}};
  return part.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string chrome_trace(const std::vector<std::string>& parts) {
  std::vector<Part> read;
  Index origin = std::numeric_limits<Index>::max();
  for (const std::string& text : parts) {
    read.push_back(read_part(text));
    for (const TracedCall& call : read.back().calls) origin = std::min(origin, call.begin);
  }
  Json events = Json::array(), dropped = Json::object();
  for (const Part& part : read) {
    const std::string name = fmt::format("rank {}", part.rank);
    events.push_back(
        {{"name", "thread_name"}, {"ph", "M"}, {"pid", 0}, {"tid", part.rank}, {"args", {{"name", name}}}});
    for (const TracedCall& call : part.calls) events.push_back(slice(call, origin));
    if (part.dropped > 0) dropped[name] = part.dropped;
  }
  std::size_t id = 0;
  for (const Arrow& arrow : arrows_of(read)) add_arrow(events, arrow, ++id, origin);
  Json file{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  if (!dropped.empty()) file["dropped"] = std::move(dropped);
  return file.dump(1) + "\n";
}

}  // namespace reshard

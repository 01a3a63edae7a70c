#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/fail.h"
#include "reshard/simulate.h"

namespace reshard {
namespace {

using Track = SimulatedEvent::Track;

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

constexpr int number_of(Track track) { return track == Track::operations ? 0 : 1; }
std::string_view category_of(OpCode code) {
  switch (code) {
    case OpCode::wait: return "wait";
    case OpCode::notify: return "notify";
    case OpCode::put:
    case OpCode::get: return "transfer";
    case OpCode::fence: return "fence";
    default: return "local";
  }
}
double micro(double seconds) { return seconds * 1e6; }

class TraceWriter {
 public:
  void process(std::size_t rank, Index device) {
    metadata(rank, "process_name", 0, fmt::format("rank {} (device {})", rank, device));
    metadata(rank, "thread_name", number_of(Track::operations), "operations");
    metadata(rank, "thread_name", number_of(Track::arrivals), "arrivals");
    add(R"({{"ph":"M","pid":{},"tid":0,"name":"process_sort_index","args":{{"sort_index":{}}}}})", rank, rank);
  }

  void event(const SimulatedEvent& event) {
    add(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.4f},"dur":{:.4f},"name":{},"cat":"{}","args":{{"call":{}}}}})",
        event.rank.value(), number_of(event.track), micro(event.begin), micro(event.end - event.begin),
        quoted(event.text), category_of(event.code), event.call);
  }

  // From the middle of the notification to the middle of the time after which the wait went on.
  void flow(std::size_t id, const SimulatedEvent& notification, const SimulatedEvent& wait) {
    const double from = (notification.begin + notification.end) / 2;
    const double to = std::max(from, (std::max(wait.begin, notification.end) + wait.end) / 2);
    add(R"({{"ph":"s","pid":{},"tid":0,"ts":{:.4f},"id":{},"name":"notify","cat":"signal"}})",
        notification.rank.value(), micro(from), id);
    add(R"({{"ph":"f","bp":"e","pid":{},"tid":0,"ts":{:.4f},"id":{},"name":"notify","cat":"signal"}})",
        wait.rank.value(), micro(to), id);
  }

  std::string take() && { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + std::move(text_) + "\n]}\n"; }

 private:
  void metadata(std::size_t rank, std::string_view what, int track, std::string_view name) {
    add(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", rank, track, what, quoted(name));
  }
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (!text_.empty()) text_ += ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  std::string text_;
};

}  // namespace

std::string chrome_trace(const SimulateReport& report, const std::vector<Index>& devices) {
  if (devices.size() != report.rank_seconds.size())
    fail(Code::invalid_argument, "{} devices are named, but {} ranks ran", devices.size(), report.rank_seconds.size());
  TraceWriter writer;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) writer.process(rank, devices[rank]);
  for (std::size_t number = 0; number < report.timeline.size(); ++number) {
    const SimulatedEvent& event = report.timeline[number];
    writer.event(event);
    if (event.cause && report.timeline[*event.cause].rank != event.rank)
      writer.flow(number, report.timeline[*event.cause], event);
  }
  return std::move(writer).take();
}

}  // namespace reshard

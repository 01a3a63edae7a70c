#include "reshard/topology_file.h"

#include <fmt/format.h>

#include <charconv>
#include <span>

#include "format/text_file.h"
#include "format/yaml_reader.h"

namespace reshard {
namespace {

constexpr Index kMostBytes = Index{1} << 24;

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kSeconds[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}};
constexpr Unit kRates[] = {{"B/s", 1},         {"kB/s", 1e3},     {"MB/s", 1e6},      {"GB/s", 1e9},
                           {"TB/s", 1e12},     {"KiB/s", 1024},   {"MiB/s", 1048576}, {"GiB/s", 1073741824},
                           {"Mb/s", 1e6 / 8},  {"Gb/s", 1e9 / 8}, {"Tb/s", 1e12 / 8}, {"Mbit/s", 1e6 / 8},
                           {"Gbit/s", 1e9 / 8}};

class TopologyReader {
 public:
  explicit TopologyReader(std::string_view source) : source_(source), reader_(source) {}

  TopologySpec read(std::string_view text) {
    const YAML::Node root = reader_.parse(text);
    reader_.mapping(root, "a topology", {"ranks", "levels", "links"}, [&](const std::string& key, const auto& value) {
      if (key == "ranks") spec_.ranks = reader_.integer(value, "ranks");
      if (key == "levels") levels(value);
      if (key == "links") links(value);
    });
    if (!root["ranks"]) reader_.fault(root, "a topology needs 'ranks': how many there are");
    if (!root["levels"]) reader_.fault(root, "a topology needs 'levels': the ranks first, then what holds them");
    return std::move(spec_);
  }

 private:
  std::string where(const YAML::Node& node) const { return fmt::format("{}:{}", source_, reader_.line(node)); }

  void levels(const YAML::Node& node) {
    reader_.mapping(node, "levels", {}, [&](const std::string& name, const YAML::Node& value) {
      TopologyLevel level{.name = name, .where = where(value)};
      bool rate = false;
      const std::string what = fmt::format("level '{}'", name);
      reader_.mapping(value, what, {"alpha", "rate", "holds"}, [&](const std::string& key, const YAML::Node& entry) {
        if (key == "alpha") level.link.alpha = alpha(entry);
        if (key == "holds") holds(entry, level);
        if (key != "rate") return;
        level.link.rate = this->rate(entry);
        rate = true;
      });
      if (!rate) reader_.fault(value, what + " needs 'rate': bytes per second of a link, each way, as '50 GB/s'");
      spec_.levels.push_back(std::move(level));
    });
  }

  void links(const YAML::Node& node) {
    reader_.mapping(node, "links", {}, [&](const std::string& name, const YAML::Node& value) {
      LinkOverride link{.node = name, .where = where(value)};
      reader_.mapping(value, "a link", {"alpha", "rate"}, [&](const std::string& key, const YAML::Node& entry) {
        if (key == "alpha") link.alpha = alpha(entry);
        if (key == "rate") link.rate = rate(entry);
      });
      spec_.links.push_back(std::move(link));
    });
  }

  void holds(const YAML::Node& node, TopologyLevel& level) {
    if (node.IsScalar()) {
      level.holds = reader_.integer(node, "holds");
      if (level.holds < 1) reader_.fault(node, fmt::format("holds is {}; give 1 or more", level.holds));
    } else if (node.IsMap()) {
      reader_.mapping(node, "holds", {}, [&](const std::string& name, const YAML::Node& members) {
        level.nodes.push_back({name, ranges(members)});
      });
    } else {
      reader_.sequence(node, "holds", [&](const YAML::Node& members) { level.nodes.push_back({"", ranges(members)}); });
    }
  }

  // "0-7", "3", "0-3 8-11".
  std::vector<NodeRange> ranges(const YAML::Node& node) {
    const std::string text = reader_.scalar(node, "a range");
    std::vector<NodeRange> found;
    const char *at = text.data(), *const end = at + text.size();
    while (at != end) {
      if (*at == ' ' || *at == ',') {
        ++at;
        continue;
      }
      NodeRange range;
      auto read = std::from_chars(at, end, range.first);
      Index last = range.first;
      if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
        read = std::from_chars(read.ptr + 1, end, last);
      range.count = last - range.first + 1;
      if (range.count < 1 || read.ec != std::errc() || (read.ptr != end && *read.ptr != ' ' && *read.ptr != ','))
        reader_.fault(node, fmt::format("'{}' is no range; write numbers as '0-7' or '0-3 8-11'", text));
      found.push_back(range);
      at = read.ptr;
    }
    return found;
  }

  double alpha(const YAML::Node& node) { return quantity(node, "alpha", kSeconds, "'5 us', or seconds"); }
  double rate(const YAML::Node& node) { return quantity(node, "rate", kRates, "'50 GB/s', or bytes per second"); }

  double quantity(const YAML::Node& node, std::string_view what, std::span<const Unit> units, std::string_view hint) {
    const std::string text = reader_.scalar(node, what);
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    if (error == std::errc() && unit.empty()) return value;
    for (const Unit& known : units)
      if (error == std::errc() && known.name == unit) return value * known.factor;
    reader_.fault(node, fmt::format("{} is '{}'; write {}", what, text, hint));
  }

  std::string source_;
  YamlReader reader_;
  TopologySpec spec_;
};

}  // namespace

Topology topology_from_yaml(std::string_view yaml, std::string_view source) {
  return Topology(TopologyReader(source).read(yaml));
}

Topology load_topology(const std::string& path) { return topology_from_yaml(read_text_file(path, kMostBytes), path); }

}  // namespace reshard

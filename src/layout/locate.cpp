#include "layout/locate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/fail.h"

namespace reshard {

Index cut_width(const Mesh& mesh, const Cut& cut) {
  Index width = 1;
  for (const int axis : cut.axes) width *= mesh.axes()[axis].size;
  return width;
}

Index cut_coordinate(const Mesh& mesh, const Cut& cut, std::span<const Index> coordinate) {
  Index at = 0;
  for (const int axis : cut.axes) at = at * mesh.axes()[axis].size + coordinate[axis];
  return at;
}

void set_cut_coordinate(const Mesh& mesh, const Cut& cut, Index at, std::span<Index> coordinate) {
  for (std::size_t k = cut.axes.size(); k-- > 0;) {
    const int axis = cut.axes[k];
    coordinate[axis] = at % mesh.axes()[axis].size;
    at /= mesh.axes()[axis].size;
  }
}

namespace {

// A cut of single elements makes as many runs as there are elements: past this many they are refused, not listed.
constexpr Index kGreatestRuns = Index{1} << 24;

[[noreturn]] void fail_too_many_runs(const LayoutSpec& spec, int dim) {
  fail(Code::unsupported, "dimension {} of {}[{}]: its cuts make more than {} runs; use larger blocks or fewer pieces",
       dim, name_of(spec.dtype), fmt::join(spec.shape, ","), kGreatestRuns);
}

// A run of wanted elements, at `position` of the axis that the next cut divides.
struct Run {
  Index position = 0;
  LocalIndex here;
  Index length = 0;
};

class Descent {
 public:
  Descent(const LayoutSpec& spec, int dim) : spec_(spec), dim_(dim), mesh_(spec.mesh), cuts_(spec.cuts[dim]) {
    at_.reserve(cuts_.size());
  }

  void down(std::size_t level, Index n, std::span<const Run> runs) {
    if (level == cuts_.size()) return emit(runs);
    const Division division(cuts_[level], n, cut_width(mesh_, cuts_[level]));
    if (runs.size() == 1 && division.is_contiguous()) {
      // Every coordinate has one part of one run, in order: nothing to gather.
      const Run& run = runs.front();
      division.locate({run.position, run.length}, [&](Index coordinate, Index child, Interval part) {
        const Run own{child, run.here + (part.begin - run.position), part.length};
        into(level, division, coordinate, {&own, 1});
      });
      return;
    }
    struct Found {
      Index coordinate = 0;
      Run run;
    };
    std::vector<Found> found;
    for (const Run& run : runs)
      division.locate({run.position, run.length}, [&](Index coordinate, Index child, Interval part) {
        if (std::ssize(found) == kGreatestRuns) fail_too_many_runs(spec_, dim_);
        found.push_back({coordinate, {child, run.here + (part.begin - run.position), part.length}});
      });
    std::ranges::stable_sort(found, {}, &Found::coordinate);
    std::vector<Run> own;
    for (auto first = found.begin(); first != found.end();) {
      const Index coordinate = first->coordinate;
      own.clear();
      for (; first != found.end() && first->coordinate == coordinate; ++first) own.push_back(first->run);
      into(level, division, coordinate, own);
    }
  }

  std::vector<Share> take() { return std::move(shares_); }

 private:
  void into(std::size_t level, const Division& division, Index coordinate, std::span<const Run> own) {
    const bool last = level + 1 == cuts_.size();
    at_.push_back(coordinate);
    down(level + 1, last ? 0 : division.held(coordinate), own);
    at_.pop_back();
  }

  void emit(std::span<const Run> runs) {
    if (std::ssize(shares_) == kGreatestRuns) fail_too_many_runs(spec_, dim_);
    Share share{at_, {}, 0};
    share.overlaps.reserve(runs.size());
    for (const Run& run : runs) {
      share.length += run.length;
      const LocalIndex there(run.position);
      if (!share.overlaps.empty()) {
        Overlap& last = share.overlaps.back();
        if (last.here + last.length == run.here && last.there + last.length == there) {
          last.length += run.length;
          continue;
        }
      }
      share.overlaps.push_back({run.here, there, run.length});
    }
    shares_.push_back(std::move(share));
  }

  const LayoutSpec& spec_;
  int dim_;
  const Mesh& mesh_;
  const std::vector<Cut>& cuts_;
  std::vector<Index> at_;
  std::vector<Share> shares_;
};

// The segments that remain when only `kept` intervals of their axis are held; local indices count anew.
Segments restrict_to(const Segments& segments, const std::vector<Interval>& kept) {
  Segments out;
  Index local = 0;
  auto segment = segments.begin();
  for (const Interval& interval : kept) {
    for (Index position = interval.begin; position < interval.begin + interval.length;) {
      while (segment->local.value() + segment->length <= position) ++segment;
      const Index into = position - segment->local.value();
      const Index length = std::min(segment->length - into, interval.begin + interval.length - position);
      const GlobalIndex global = segment->global + into;
      if (!out.empty() && out.back().global + out.back().length == global) {
        out.back().length += length;
      } else {
        out.push_back({LocalIndex(local), global, length});
      }
      local += length;
      position += length;
    }
  }
  return out;
}

}  // namespace

std::vector<Share> locate(const Layout& layout, int dim, const Segments& wanted) {
  const LayoutSpec& spec = layout.spec();
  std::vector<Run> runs;
  for (const Segment& segment : wanted)
    if (segment.length > 0) runs.push_back({segment.global.value(), segment.local, segment.length});
  if (runs.empty()) return {};
  Descent descent(spec, dim);
  descent.down(0, spec.shape[dim], runs);
  return descent.take();
}

Segments segments_along(const LayoutSpec& spec, int dim, std::span<const Index> coordinate) {
  Segments segments;
  Index n = spec.shape[dim];
  if (n > 0) segments.push_back({LocalIndex(0), GlobalIndex(0), n});
  std::vector<Interval> kept;
  for (const Cut& cut : spec.cuts[dim]) {
    const Division division(cut, n, cut_width(spec.mesh, cut));
    const Index at = cut_coordinate(spec.mesh, cut, coordinate);
    if (division.runs(at) > kGreatestRuns) fail_too_many_runs(spec, dim);
    division.select(at, kept);
    segments = restrict_to(segments, kept);
    n = division.held(at);
  }
  return segments;
}

Index stored_along(const LayoutSpec& spec, int dim, std::span<const Index> coordinate) {
  Index n = spec.shape[dim];
  for (const Cut& cut : spec.cuts[dim]) {
    const Division division(cut, n, cut_width(spec.mesh, cut));
    n = division.stored(cut_coordinate(spec.mesh, cut, coordinate));
  }
  return n;
}

}  // namespace reshard

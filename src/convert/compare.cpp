#include "convert/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/fail.h"

namespace reshard::convert_detail {
namespace {

// The segments that lie within [begin, end) of local memory.
Segments within(const Segments& segments, Index begin, Index end) {
  Segments out;
  for (const Segment& segment : segments) {
    const LocalIndex first = std::max(segment.local, LocalIndex(begin));
    const LocalIndex last = std::min(segment.local + segment.length, LocalIndex(end));
    if (first < last) out.push_back({first, segment.global + (first - segment.local), last - first});
  }
  return out;
}

// A run of elements that both sides hold, along one dimension.
struct Run {
  LocalIndex output;
  LocalIndex source;
  GlobalIndex global;
  Index length = 0;
};

std::vector<Run> common_runs(const Segments& output, const Segments& source) {
  const Segments a = intersect(output, source), b = intersect(source, output);
  std::vector<Run> runs;
  for (std::size_t k = 0; k < a.size(); ++k) runs.push_back({a[k].local, b[k].local, a[k].global, a[k].length});
  return runs;
}

struct Side {
  const std::byte* base = nullptr;
  const LocalStorage* storage = nullptr;
};

// Calls row(output offset, source offset, elements, global index of the first) for every run of the last dimension.
class Rows {
 public:
  Rows(const std::vector<std::vector<Run>>& runs, const LocalStorage& output, const LocalStorage& source)
      : runs_(runs), output_(output), source_(source), at_(runs.size()) {}

  template <class Row>
  Index visit(const Row& row) {
    return descend(0, output_.offset, source_.offset, row);
  }

 private:
  template <class Row>
  Index descend(std::size_t dim, Index output, Index source, const Row& row) {
    if (dim == runs_.size()) {  // 0-d
      row(output, source, Index{1}, at_);
      return 1;
    }
    Index elements = 0;
    for (const Run& run : runs_[dim]) {
      if (dim + 1 == runs_.size()) {
        at_[dim] = run.global.value();
        row(output + run.output.value() * output_.strides[dim], source + run.source.value() * source_.strides[dim],
            run.length, at_);
        elements += run.length;
        continue;
      }
      for (Index k = 0; k < run.length; ++k) {
        at_[dim] = run.global.value() + k;
        elements += descend(dim + 1, output + (run.output.value() + k) * output_.strides[dim],
                            source + (run.source.value() + k) * source_.strides[dim], row);
      }
    }
    return elements;
  }

  const std::vector<std::vector<Run>>& runs_;
  const LocalStorage& output_;
  const LocalStorage& source_;
  std::vector<Index> at_;
};

}  // namespace

Comparer::Comparer(const Job& job, const PartialFolder& folder, Index resident_bytes)
    : job_(job), folder_(folder), source_(resident_bytes / 2), output_(resident_bytes / 2) {}

const std::vector<Comparer::Holder>& Comparer::holders(int place) {
  const auto [entry, fresh] = holders_.try_emplace(place);
  if (!fresh) return entry->second;
  const Layout& layout = job_.from.layouts()[static_cast<std::size_t>(place)];
  for (Index ordinal = 0; ordinal < layout.mesh().size(); ++ordinal) {
    const RankId rank = layout.mesh().rank_at_ordinal(ordinal);
    Region region = layout.region(rank);
    if (region.elements() == 0) continue;
    if (std::ranges::find(entry->second, region, &Holder::region) != entry->second.end()) continue;
    entry->second.push_back({rank, std::move(region)});
  }
  return entry->second;
}

// A source that changed explains any difference, so it is named first.
void Comparer::differs(const std::string& message) const {
  source_.check();
  throw OutputDiffers(message);
}

void Comparer::compare(const Unit& unit) {
  const StoredTensor& stored = job_.to.stored()[static_cast<std::size_t>(unit.stored)];
  for (int part = 0; part < std::ssize(stored.parts); ++part) {
    LocalBox box = unit.box;
    if (!box.begin.empty()) {
      const LocalStorage storage = job_.to.part_storage(stored, part, unit.rank);
      const std::size_t dim = static_cast<std::size_t>(stored.dim);
      const Index before = storage.strides[dim] == 0 ? 0 : storage.offset / storage.strides[dim];
      box.begin[dim] = std::max<Index>(0, box.begin[dim] - before);
      box.end[dim] = std::min(storage.extents[dim], box.end[dim] - before);
      if (box.begin[dim] >= box.end[dim]) continue;
    }
    compare_part(unit, stored, part, box);
  }
  source_.check();
}

void Comparer::compare_part(const Unit& unit, const StoredTensor& stored, int part, const LocalBox& box) {
  const int place = stored.parts[static_cast<std::size_t>(part)];
  const ModelTensor& tensor = job_.to.tensors()[static_cast<std::size_t>(place)];
  const ModelTensor& origin =
      job_.from.tensors()[static_cast<std::size_t>(job_.source_tensor[static_cast<std::size_t>(place)])];
  const StoredTensor& origin_stored = job_.from.stored()[static_cast<std::size_t>(origin.stored)];
  const OutputFile& file = job_.output.files()[static_cast<std::size_t>(unit.file)];
  const Index size = bytes_of(tensor.tensor.dtype);
  const LocalStorage output_storage = job_.to.part_storage(stored, part, unit.rank);
  const std::byte* output =
      output_.base(unit.file, folder_.path_of(file), file.bytes) + job_.output.find(stored.name, unit.rank)->offset;

  Region region = job_.to.layout(tensor).region(unit.rank);
  Index expected = 1, compared = 0;
  for (std::size_t dim = 0; dim < region.dims.size(); ++dim) {
    region.dims[dim] = within(region.dims[dim], box.begin[dim], box.end[dim]);
    expected *= length_of(region.dims[dim]);
  }
  for (const Holder& holder : holders(origin.layout)) {
    std::vector<std::vector<Run>> runs;
    for (std::size_t dim = 0; dim < region.dims.size(); ++dim)
      runs.push_back(common_runs(region.dims[dim], holder.region.dims[dim]));
    if (std::ranges::any_of(runs, [](const auto& along) { return along.empty(); })) continue;
    const CheckpointTensor& bytes = *job_.checkpoint.find(origin_stored.name, holder.rank);
    const std::byte* source = source_.base(bytes.file, job_.checkpoint.path_of(bytes.file),
                                           job_.checkpoint.files()[static_cast<std::size_t>(bytes.file)].bytes) +
                              bytes.offset;
    const LocalStorage source_storage = job_.from.part_storage(origin_stored, origin.part, holder.rank);
    compared += Rows(runs, output_storage, source_storage)
                    .visit([&](Index out, Index in, Index elements, const std::vector<Index>& at) {
                      const std::size_t length = static_cast<std::size_t>(elements * size);
                      source_.touch(source + in * size, elements * size);
                      output_.touch(output + out * size, elements * size);
                      if (std::memcmp(output + out * size, source + in * size, length) == 0) return;
                      differs(fmt::format(
                          "{}: tensor {} of rank {} differs from rank {} of the source in the {} elements from [{}] on",
                          folder_.path_of(file), tensor.tensor.name, unit.rank.value(), holder.rank.value(), elements,
                          fmt::join(at, ",")));
                    });
  }
  if (compared != expected)
    differs(fmt::format("{}: tensor {} of rank {}: {} of {} elements have a source", folder_.path_of(file),
                        tensor.tensor.name, unit.rank.value(), compared, expected));
}

}  // namespace reshard::convert_detail

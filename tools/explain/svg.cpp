// explain as a picture: both cuttings with the common grid between them, coloured by source rank, and who sends what.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "explain/explained.h"
#include "explain/frame.h"
#include "explain/svg_page.h"
#include "output/numbers.h"
#include "output/palette.h"

namespace reshard::cli {
namespace {

constexpr Index kShownLines = 16;   // cells of the grid along one side of a picture
constexpr Index kShownRows = 16;    // of the table, and of the legend
constexpr double kPanelSide = 300;  // what a picture strives for
constexpr double kLeast = 40;       // the least side of a cell, so that its stamp fits
constexpr double kGapWidth = 26;    // where cells are left out
constexpr double kMargin = 36;
constexpr double kBetween = 96;  // pictures, with an arrow
constexpr std::string_view kWhite = "#ffffff";

// One direction of all pictures: the cells of the grid that are drawn, and where.
struct Scale {
  std::vector<Index> shown;   // kGap where some are left out
  std::vector<Index> begin;   // first element of each; of the first one left out for a gap
  std::vector<double> edge;   // in pixels, one more than shown
  std::vector<Index> bounds;  // of the grid
  double length() const { return edge.back(); }
};

Scale scale_of(const std::vector<std::vector<Index>>& bounds, std::optional<int> dim, double least) {
  Scale scale;
  scale.bounds = dim ? bounds[static_cast<std::size_t>(*dim)] : std::vector<Index>{0, 1};
  const Index count = std::ssize(scale.bounds) - 1;
  scale.shown = visible(count, kShownLines);
  Index elements = 0;
  for (const Index k : scale.shown)
    if (k != kGap)
      elements += scale.bounds[static_cast<std::size_t>(k) + 1] - scale.bounds[static_cast<std::size_t>(k)];
  const double per_element = kPanelSide / static_cast<double>(std::max<Index>(elements, 1));
  scale.edge.push_back(0);
  Index next = 0;
  for (const Index k : scale.shown) {
    const Index cell = k == kGap ? next : k;
    next = cell + 1;
    const Index begin = scale.bounds[static_cast<std::size_t>(cell)],
                end = scale.bounds[static_cast<std::size_t>(cell) + 1];
    scale.begin.push_back(begin);
    const double side = std::max(least, per_element * static_cast<double>(end - begin));
    scale.edge.push_back(scale.edge.back() + (k == kGap ? kGapWidth : side));
  }
  return scale;
}

// Cells of the scale grouped by the parts of a coarser division: [first, last) of each, none across a gap.
struct Group {
  std::size_t first, last;
  Index begin, end;  // elements
  bool gap;
};

std::vector<Group> groups_of(const Scale& scale, const std::vector<Index>& cuts) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < scale.shown.size(); ++k) {
    const bool gap = scale.shown[k] == kGap;
    const auto after = std::ranges::upper_bound(cuts, scale.begin[k]);
    const Index begin = *std::prev(after), end = after == cuts.end() ? begin : *after;
    if (!gap && !groups.empty() && !groups.back().gap && groups.back().begin == begin) {
      groups.back().last = k + 1;
    } else {
      groups.push_back({k, k + 1, begin, end, gap});
    }
  }
  return groups;
}

class Picture {
 public:
  explicit Picture(const Explained& explained) : explained_(explained), source_(explained.source) {
    const auto& bounds = explained.move ? explained.move->grid.bounds : source_.bounds();
    frame_ = frame_of(bounds);
    double least = kLeast;
    if (explained.move && source_.holdings().size() > 99) least = 58;
    columns_ = scale_of(bounds, frame_.column_dim, least);
    rows_ = scale_of(bounds, frame_.row_dim, 30);
    hidden_ = hidden_text(frame_, bounds);
  }

  std::string draw() {
    title();
    const double top = page_.bottom() + 58;
    cutting(source_, kMargin + kBetween / 2, top, "source", true);
    double right = kMargin + kBetween / 2 + columns_.length();
    if (explained_.move) {
      arrow(right, top, "stamp");
      right += kBetween;
      grid(right, top);
      right += columns_.length();
      arrow(right, top, "re-cut");
      right += kBetween;
      cutting(explained_.move->target, right, top, "target", false);
      right += columns_.length();
    }
    page_.grow(right + kMargin + kBetween / 2, top + rows_.length() + 40);
    notes();
    explained_.move ? transfers() : shards();
    return page_.finish();
  }

 private:
  void title() {
    const Layout& layout = source_.layout();
    page_.text(kMargin, 40, explained_.move ? "From one layout to another" : "A layout", {.size = 20, .bold = true});
    page_.text(kMargin, 64, (explained_.move ? "source   " : "layout   ") + layout.text(), {.size = 13, .mono = true});
    if (explained_.move)
      page_.text(kMargin, 82, "target   " + explained_.move->target.layout().text(), {.size = 13, .mono = true});
    page_.grow(0, explained_.move ? 90 : 72);
  }

  std::string_view fill_at(std::span<const Index> corner) const {
    const auto holders = source_.holders(corner);
    return holders.empty() ? kWhite : colour_of(source_.place_of(holders.front())).fill;
  }

  std::vector<Index> corner(Index row, Index column) const {
    return corner_of(frame_, source_.layout().dims(), row, column);
  }

  // The cells of the grid in the colours of their source ranks.
  void cells(double left, double top, std::string_view line) {
    for (std::size_t r = 0; r < rows_.shown.size(); ++r)
      for (std::size_t c = 0; c < columns_.shown.size(); ++c) {
        const bool gap = rows_.shown[r] == kGap || columns_.shown[c] == kGap;
        const double x = left + columns_.edge[c], y = top + rows_.edge[r];
        const double width = columns_.edge[c + 1] - columns_.edge[c], height = rows_.edge[r + 1] - rows_.edge[r];
        page_.box(x, y, width, height, gap ? "#f4f4f4" : fill_at(corner(rows_.begin[r], columns_.begin[c])), line, 1);
        if (gap) page_.text(x + width / 2, y + height / 2 + 4, "…", {.size = 13, .middle = true});
      }
  }

  void cutting(const Cutting& cutting, double left, double top, std::string_view name, bool is_source) {
    caption(left, top, explained_.move ? name : "shards", parts(cutting));
    if (source_.layout().elements() == 0) return;
    cells(left, top, is_source ? "none" : "#ffffff");
    const auto row_groups = groups_of(rows_, cuts(cutting, frame_.row_dim));
    const auto column_groups = groups_of(columns_, cuts(cutting, frame_.column_dim));
    for (const Group& r : row_groups)
      for (const Group& c : column_groups) {
        if (r.gap || c.gap) continue;
        const double x = left + columns_.edge[c.first], y = top + rows_.edge[r.first];
        const double width = left + columns_.edge[c.last] - x, height = top + rows_.edge[r.last] - y;
        page_.box(x, y, width, height, "none", "#333333", 2);
        const auto holders = cutting.holders(corner(r.begin, c.begin));
        const std::string label = holders.empty() ? "-" : ranks_text(holders, static_cast<std::size_t>(width / 10));
        page_.text(x + width / 2, y + height / 2 + 6, label,
                   {.size = 17, .bold = true, .middle = true, .halo = !is_source});
      }
    ranges(left, top, row_groups, column_groups, is_source);
  }

  // Beside and below a cutting: which elements each part has.
  void ranges(double left, double top, const std::vector<Group>& rows, const std::vector<Group>& columns,
              bool at_left) {
    if (frame_.row_dim)
      for (const Group& r : rows) {
        if (r.gap) continue;
        const double y = top + (rows_.edge[r.first] + rows_.edge[r.last]) / 2 + 4;
        const std::string range = fmt::format("{}:{}", r.begin, r.end);
        page_.text(at_left ? left - 6 : left + columns_.length() + 6, y, range,
                   {.size = 10, .faint = true, .right = at_left});
      }
    if (frame_.column_dim)
      for (const Group& c : columns) {
        const double x = left + (columns_.edge[c.first] + columns_.edge[c.last]) / 2;
        const std::string range = fmt::format("{}:{}", c.begin, c.end);
        if (c.gap || 6.2 * static_cast<double>(range.size()) > columns_.edge[c.last] - columns_.edge[c.first]) continue;
        page_.text(x, top + rows_.length() + 15, range, {.size = 10, .faint = true, .middle = true});
      }
  }

  void grid(double left, double top) {
    const CommonGrid& grid = explained_.move->grid;
    caption(left, top, "common grid", extents_text(grid.extents()));
    if (source_.layout().elements() == 0) return;
    cells(left, top, "#8a8a8a");
    for (std::size_t r = 0; r < rows_.shown.size(); ++r)
      for (std::size_t c = 0; c < columns_.shown.size(); ++c) {
        if (rows_.shown[r] == kGap || columns_.shown[c] == kGap) continue;
        page_.text(left + (columns_.edge[c] + columns_.edge[c + 1]) / 2,
                   top + (rows_.edge[r] + rows_.edge[r + 1]) / 2 + 4,
                   stamp_text(source_, grid, corner(rows_.begin[r], columns_.begin[c])),
                   {.size = 12, .mono = true, .middle = true});
      }
    target_lines(left, top);
    page_.text(left + columns_.length() / 2, top + rows_.length() + 15, "heavy lines: where the target cuts",
               {.size = 10, .faint = true, .middle = true});
  }

  void target_lines(double left, double top) {
    const auto inside = [&](const Scale& scale, std::optional<int> dim, const std::function<void(double)>& line) {
      const auto cut = cuts(explained_.move->target, dim);
      for (std::size_t k = 1; k < scale.shown.size(); ++k)
        if (scale.shown[k] != kGap && std::ranges::binary_search(cut, scale.begin[k])) line(scale.edge[k]);
    };
    inside(rows_, frame_.row_dim,
           [&](double y) { page_.line(left, top + y, left + columns_.length(), top + y, "#222222", 3.5); });
    inside(columns_, frame_.column_dim,
           [&](double x) { page_.line(left + x, top, left + x, top + rows_.length(), "#222222", 3.5); });
    page_.box(left, top, columns_.length(), rows_.length(), "none", "#333333", 2);
  }

  static std::vector<Index> cuts(const Cutting& cutting, std::optional<int> dim) {
    return dim ? cutting.bounds()[static_cast<std::size_t>(*dim)] : std::vector<Index>{0, 1};
  }

  static std::string parts(const Cutting& cutting) {
    std::vector<Index> parts;
    for (const auto& lines : cutting.bounds()) parts.push_back(std::ssize(lines) - 1);
    return extents_text(parts);
  }

  void caption(double left, double top, std::string_view name, const std::string& parts) {
    page_.text(left + columns_.length() / 2, top - 24, name, {.size = 15, .bold = true, .middle = true});
    page_.text(left + columns_.length() / 2, top - 8, parts, {.size = 12, .faint = true, .middle = true});
  }

  void arrow(double left, double top, std::string_view name) {
    const double y = top + rows_.length() / 2;
    page_.arrow(left + 30, y, left + kBetween - 14);
    page_.text(left + kBetween / 2 + 6, y - 10, name, {.size = 12, .faint = true, .middle = true});
  }

  void notes() {
    double y = page_.bottom() + 10;
    const auto note = [&](const std::string& text) {
      page_.text(kMargin, y, text, {.size = 12});
      y += 18;
    };
    if (explained_.move)
      note(
          "A colour is what one source rank holds; its copies share it. A number in a box is the rank that holds it; "
          "r1.0 is cell 0 of rank 1.");
    const Index rows = hidden_count(rows_.shown, std::ssize(rows_.bounds) - 1);
    const Index columns = hidden_count(columns_.shown, std::ssize(columns_.bounds) - 1);
    if (rows + columns > 0)
      note(fmt::format("… stands for what is not drawn: {} and {} of the grid.", count_text(rows, "row"),
                       count_text(columns, "column")));
    if (source_.holdings().size() > std::size(kPalette))
      note(
          fmt::format("There are more ranks than colours: ranks {} apart in the mesh share one.", std::size(kPalette)));
    if (!hidden_.empty()) note(hidden_ + ".");
    page_.grow(0, y);
  }

  void transfers() {
    const Move& move = *explained_.move;
    std::vector<const Transfer*> transfers;
    for (const Transfer& transfer : move.plan.transfers()) transfers.push_back(&transfer);
    std::ranges::stable_sort(transfers, {}, &Transfer::source);
    double y = head("Who sends what to whom, in slices of the whole tensor");
    const auto shown = std::min<std::size_t>(transfers.size(), kShownRows);
    for (const Transfer* transfer : std::span(transfers).first(shown)) {
      const Index bytes = transfer->elements() * bytes_of(move.plan.source().dtype());
      chip(kMargin, y, transfer->source);
      page_.text(kMargin + 118, y, transfer->is_local() ? "stays on" : "──▶", {.size = 12});
      page_.text(kMargin + 182, y, fmt::format("rank {}", transfer->target.value()), {.size = 12});
      page_.text(kMargin + 260, y, bytes_text(bytes), {.size = 12});
      page_.text(kMargin + 340, y, slice_text(global_slice(*transfer, source_)), {.size = 12, .mono = true});
      y += 20;
    }
    if (shown < transfers.size()) {
      page_.text(kMargin, y, fmt::format("… {} more", transfers.size() - shown), {.size = 12, .faint = true});
      y += 20;
    }
    const Certificate& certificate = move.certificate;
    page_.text(kMargin, y + 12,
               fmt::format("Sent {}{} lower bound {}; copied in place {}; {}.", bytes_text(certificate.sent),
                           certificate.optimal() ? " =" : ",", bytes_text(certificate.needed),
                           bytes_text(certificate.copied), count_text(certificate.messages, "message")),
               {.size = 13, .bold = true});
    page_.grow(kMargin + 760, y + 36);
  }

  void shards() {
    double y = head("What each rank holds");
    const auto shown = std::min<std::size_t>(source_.holdings().size(), kShownRows);
    for (const Holding& holding : std::span(source_.holdings()).first(shown)) {
      chip(kMargin, y, holding.rank);
      page_.text(kMargin + 110, y, coordinate_text(source_.layout().mesh(), holding.coordinate), {.size = 12});
      page_.text(kMargin + 240, y, holding.region.held ? slice_text(holding.region.dims) : "nothing",
                 {.size = 12, .mono = true});
      y += 20;
    }
    if (shown < source_.holdings().size()) {
      page_.text(kMargin, y, fmt::format("… {} more", source_.holdings().size() - shown), {.size = 12, .faint = true});
      y += 20;
    }
    page_.grow(kMargin + 560, y + 16);
  }

  double head(std::string_view text) {
    const double y = page_.bottom() + 22;
    page_.text(kMargin, y, text, {.size = 15, .bold = true});
    return y + 26;
  }

  void chip(double x, double y, RankId source) {
    page_.box(x, y - 12, 22, 15, colour_of(source_.place_of(source_.first_copy(source))).fill, "#555555", 1);
    page_.text(x + 32, y, fmt::format("rank {}", source.value()), {.size = 12});
  }

  const Explained& explained_;
  const Cutting& source_;
  Frame frame_;
  Scale columns_, rows_;
  std::string hidden_;
  SvgPage page_;
};

}  // namespace

std::string explain_svg(const Explained& explained) { return Picture(explained).draw(); }

}  // namespace reshard::cli

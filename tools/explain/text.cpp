// explain for a terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/pictures.h"
#include "explain/section.h"
#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

constexpr int kIndent = 3;
constexpr int kRightColumn = 40;
constexpr int kCaptionWidth = 36;  // of a stamped grid

// "4×1 (rows×4, cols×1)".
std::string parts_text(const std::vector<std::vector<Index>>& bounds) {
  std::vector<Index> parts;
  std::vector<std::string> names;
  for (const auto& lines : bounds) {
    names.push_back(fmt::format("{}×{}", dim_name(static_cast<int>(parts.size()), static_cast<int>(bounds.size())),
                                lines.size() - 1));
    parts.push_back(std::ssize(lines) - 1);
  }
  return parts.empty() ? "one element" : fmt::format("{} ({})", extents_text(parts), fmt::join(names, ", "));
}

// Two pictures beside each other, or one above the other where they do not fit.
std::string side_by_side(const std::vector<std::string>& captions, const std::vector<Picture>& pictures,
                         const ShowOptions& options) {
  std::vector<Canvas> blocks;
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    Canvas block;
    block.put(0, 0, captions[k]);
    block.paste(1, 0, pictures[k].canvas);
    if (!pictures[k].left_out.empty())
      block.put(block.height(), 0, fmt::format("… {} not drawn", pictures[k].left_out), {.faint = true});
    blocks.push_back(std::move(block));
  }
  Canvas page;
  page.paste(0, kIndent, blocks[0]);
  if (blocks.size() > 1) {
    const int column = std::max(kRightColumn, page.width() + kIndent);
    if (column + blocks[1].width() <= options.width) {
      page.paste(0, column, blocks[1]);
    } else {
      page.paste(page.height() + 1, kIndent, blocks[1]);
    }
  }
  return page.text(options.colour);
}

std::string empty_text(const Cutting& cutting, std::string_view side) {
  const std::vector<RankId> empty = cutting.empty_ranks();
  if (empty.empty()) return "";
  return indented(fmt::format("{}: {} hold{} no element: {}", side, count_text(std::ssize(empty), "rank"),
                              empty.size() == 1 ? "s" : "", ranks_text(empty, 60)));
}

bool nothing_to_draw(const Cutting& cutting) { return cutting.layout().elements() == 0; }

std::string lcm_text(const Explained& explained) {
  const CommonGrid& grid = explained.move->grid;
  if (!grid.even)
    return fmt::format("{}: wherever either side cuts (they do not all divide evenly)", extents_text(grid.extents()));
  std::vector<Index> source, target;
  for (int dim = 0; dim < std::ssize(grid.bounds); ++dim) {
    source.push_back(explained.source.equal_parts(dim));
    target.push_back(explained.move->target.equal_parts(dim));
  }
  const std::string middle = middle_text(source, target, grid.extents());
  return grid.bounds.empty() ? middle : middle + ": the coarsest that both sides divide";
}

// The stamped grid before and after the target's cuts; where both do not fit, after, which shows all of it.
std::string stamps_text(const Explained& explained, const Frame& frame, const ShowOptions& options) {
  const Picture grid = stamp_picture(explained, frame, options, Lines::grid, Note::below);
  const int second = std::max(kRightColumn, kIndent + std::max(grid.canvas.width(), kCaptionWidth) + kIndent);
  for (const int column : {second, kIndent})
    for (const Note note : {Note::beside, Note::below}) {
      const Picture cut = stamp_picture(explained, frame, options, Lines::target, note);
      const bool last = column == kIndent && note == Note::below;
      if (!last && column + cut.canvas.width() > options.width) continue;
      if (column == second)
        return side_by_side({"stamped r{rank}.{cell} by the source", "the same, cut by the target"}, {grid, cut},
                            options);
      return side_by_side({"stamped r{rank}.{cell} by the source, cut by the target"}, {cut}, options);
    }
  return "";
}

std::string pictures_text(const Explained& explained, const ShowOptions& options) {
  const Move& move = *explained.move;
  const Frame frame = frame_of(move.grid.bounds);
  std::string out = heading("1. Two cuttings of one tensor: which rank holds what", options);
  if (nothing_to_draw(explained.source)) return out + indented("no elements: nothing to draw");
  out += side_by_side(
      {"source = " + parts_text(explained.source.bounds()), "target = " + parts_text(move.target.bounds())},
      {cutting_picture(explained.source, frame, options, true), cutting_picture(move.target, frame, options, false)},
      options);
  out += empty_text(explained.source, "source") + empty_text(move.target, "target");
  out += heading("2. The common grid = " + lcm_text(explained), options);
  out += stamps_text(explained, frame, options);
  const std::string hidden = hidden_text(frame, move.grid.bounds);
  return hidden.empty() ? out : out + indented(hidden);
}

std::string map_text(const Explained& explained, const ShowOptions& options) {
  const Move& move = *explained.move;
  const Index all = count_cells(move.plan, explained.source, move.grid);
  const auto moves = cell_moves(move.plan, explained.source, move.target, move.grid, limit_of(all, options));
  std::string out = heading(fmt::format("3. The map: {}", count_text(all, "cell")), options);
  if (moves.empty()) return out + indented("nothing moves");
  out += cells_table(moves);
  return out + more_text(std::ssize(moves), all);
}

std::string transfers_text(const Explained& explained, const ShowOptions& options) {
  const Move& move = *explained.move;
  std::vector<const Transfer*> transfers;
  for (const Transfer& transfer : move.plan.transfers()) transfers.push_back(&transfer);
  std::ranges::stable_sort(transfers, {}, &Transfer::source);
  std::string out = heading("4. Who sends what to whom, in slices of the whole tensor", options);
  if (transfers.empty()) return out + indented("nothing moves");
  Table table({"source", "", "target", "slice", "bytes>", ""});
  const Index shown = limit_of(std::ssize(transfers), options);
  for (const Transfer* transfer : std::span(transfers).first(static_cast<std::size_t>(shown))) {
    const Index bytes = transfer->elements() * bytes_of(move.plan.source().dtype());
    table.row({fmt::format("rank {}", transfer->source.value()), "──▶",
               fmt::format("rank {}", transfer->target.value()), slice_text(global_slice(*transfer, explained.source)),
               bytes_text(bytes), transfer->is_local() ? "in place" : ""});
  }
  return out + table.text() + more_text(shown, std::ssize(transfers));
}

std::string certificate_text(const Certificate& certificate, const ShowOptions& options) {
  std::string out = heading("5. Certificate", options);
  out += indented(certificate.optimal() ? fmt::format("sent {} = lower bound {}: no plan sends less",
                                                      bytes_text(certificate.sent), bytes_text(certificate.needed))
                                        : fmt::format("sent {}, lower bound {}", bytes_text(certificate.sent),
                                                      bytes_text(certificate.needed)));
  return out + indented(fmt::format("copied in place {} · {} · imbalance out {:.2f}, in {:.2f}",
                                    bytes_text(certificate.copied), count_text(certificate.messages, "message"),
                                    certificate.imbalance_out, certificate.imbalance_in));
}

std::string move_text(const Explained& explained, const ShowOptions& options) {
  const Move& move = *explained.move;
  const Layout& source = explained.source.layout();
  std::string out = indented("source  " + source.text()) + indented("target  " + move.target.layout().text());
  out += indented(fmt::format("tensor  {}, {}", count_text(source.elements(), "element"), bytes_text(source.bytes())));
  out += pictures_text(explained, options);
  out += map_text(explained, options) + transfers_text(explained, options);
  return out + certificate_text(move.certificate, options);
}

std::string ranks_table(const Cutting& cutting, const ShowOptions& options) {
  const Layout& layout = cutting.layout();
  Table table({"rank>", "at", "holds", "local shape", "strides", "offset>", "bytes>"});
  const Index shown = limit_of(std::ssize(cutting.holdings()), options);
  for (const Holding& holding : std::span(cutting.holdings()).first(static_cast<std::size_t>(shown))) {
    const LocalStorage storage = layout.storage_at(holding.coordinate);
    const std::string rank = fmt::format("{}", holding.rank.value()),
                      at = coordinate_text(layout.mesh(), holding.coordinate);
    if (!holding.region.held) {
      table.row({rank, at, "nothing", "-", "-", "-", "0 B"});
      continue;
    }
    table.row({rank, at, slice_text(holding.region.dims), tuple_text(storage.extents), tuple_text(storage.strides),
               fmt::format("{}", storage.offset), bytes_text(storage.elements * bytes_of(layout.dtype()))});
  }
  return table.text() + more_text(shown, std::ssize(cutting.holdings()));
}

std::string layout_text(const Cutting& cutting, const ShowOptions& options) {
  const Layout& layout = cutting.layout();
  Index stored = 0, held = 0;
  for (const Holding& holding : cutting.holdings()) {
    stored += layout.storage_at(holding.coordinate).elements * bytes_of(layout.dtype());
    held += holding.region.elements();
  }
  const double copies = layout.elements() == 0 ? 1 : static_cast<double>(held) / static_cast<double>(layout.elements());
  std::string out = indented("layout  " + layout.text());
  const std::string_view what = layout.has_partial() ? "pending term" : copies == 1 ? "copy" : "copie";
  out += indented(fmt::format("tensor  {}, {}; {} store {}, {:.4g} {}{} of each element",
                              count_text(layout.elements(), "element"), bytes_text(layout.bytes()),
                              count_text(layout.mesh().size(), "rank"), bytes_text(stored), copies, what,
                              copies == 1 ? "" : "s"));
  const Frame frame = frame_of(cutting.bounds());
  out += heading("1. The tensor cut into shards, each with the ranks that hold it", options);
  if (nothing_to_draw(cutting)) {
    out += indented("no elements: nothing to draw");
  } else {
    out += side_by_side({parts_text(cutting.bounds())}, {cutting_picture(cutting, frame, options, true)}, options);
  }
  out += empty_text(cutting, "empty");
  if (const std::string hidden = hidden_text(frame, cutting.bounds()); !hidden.empty()) out += indented(hidden);
  return out + heading("2. What each rank holds, and how it stores it", options) + ranks_table(cutting, options);
}

}  // namespace

std::string explain_text(const Explained& explained, const ShowOptions& options) {
  return explained.move ? move_text(explained, options) : layout_text(explained.source, options);
}

}  // namespace reshard::cli

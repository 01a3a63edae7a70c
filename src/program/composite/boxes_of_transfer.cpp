#include "program/composite/boxes_of_transfer.h"

namespace reshard {

std::vector<TransferBox> boxes_of(const Transfer& transfer) {
  std::vector<TransferBox> boxes(1);
  for (const std::vector<Span>& spans : transfer.dims) {
    std::vector<TransferBox> longer;
    for (const TransferBox& box : boxes) {
      for (const Span& span : spans) {
        TransferBox& made = longer.emplace_back(box);
        made.source.push_back({span.source.value(), span.source.value() + span.length});
        made.target.push_back({span.target.value(), span.target.value() + span.length});
      }
    }
    boxes = std::move(longer);
  }
  return boxes;
}

SliceRef part_of(const CompositeOperand& whole, const std::vector<LocalRun>& box) {
  SliceRef part(BufferSlice{whole.buffer()});
  for (const LocalRun& run : box) part = part.rows(run.from, run.to);
  return part;
}

}  // namespace reshard

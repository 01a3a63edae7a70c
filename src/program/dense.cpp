#include "program/dense.h"

namespace reshard {
namespace {

// The transfer with one end replaced by a dense array.
Transfer with_dense_end(Transfer transfer, LocalIndex Span::*end) {
  for (std::vector<Span>& spans : transfer.dims) {
    LocalIndex at;
    for (Span& span : spans) {
      span.*end = at;
      at += span.length;
    }
  }
  return transfer;
}

LocalStorage dense_storage(const Transfer& transfer, Index offset) {
  LocalStorage storage{.extents = {}, .strides = std::vector<Index>(transfer.dims.size()), .offset = offset};
  Index stride = 1;
  for (std::size_t d = transfer.dims.size(); d-- > 0;) {
    storage.strides[d] = stride;
    Index length = 0;
    for (const Span& span : transfer.dims[d]) length += span.length;
    stride *= length;
  }
  return storage;
}

}  // namespace

std::vector<Block> packing_blocks(const Transfer& transfer, Index element_bytes, const LocalStorage& source,
                                  Index offset) {
  return blocks_of(with_dense_end(transfer, &Span::target), element_bytes, source,
                   dense_storage(transfer, offset / element_bytes));
}

std::vector<Block> unpacking_blocks(const Transfer& transfer, Index element_bytes, Index offset,
                                    const LocalStorage& target) {
  return blocks_of(with_dense_end(transfer, &Span::source), element_bytes,
                   dense_storage(transfer, offset / element_bytes), target);
}

}  // namespace reshard

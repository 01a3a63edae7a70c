#include "reshard/tensor.h"

#include <algorithm>

#include "base/fail.h"
#include "exec/released.h"

namespace reshard {

void Tensor::Released::expect_one_more() { numbers_.reserve(++live_ + numbers_.size()); }

void Tensor::Released::add(std::int64_t number) noexcept {
  --live_;
  numbers_.insert(std::upper_bound(numbers_.begin(), numbers_.end(), number), number);
}

void Tensor::Released::remove(std::int64_t number) { std::erase(numbers_, number); }

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this != &other) {
    let_go();
    part_ = std::move(other.part_);
  }
  return *this;
}

Tensor::~Tensor() { let_go(); }

void Tensor::let_go() noexcept {
  if (part_ != nullptr) part_->released->add(part_->number);
  part_.reset();
}

std::byte* Tensor::address(std::initializer_list<Index> local, std::size_t bytes) const {
  const Part& p = *part_;
  const Index element_bytes = bytes_of(p.layout.dtype());
  if (static_cast<Index>(bytes) != element_bytes) {
    fail(Code::invalid_argument, "tensor {}: an element of {} has {} bytes, but was read as a type of {}", p.name,
         reshard::name_of(p.layout.dtype()), element_bytes, bytes);
  }
  if (!p.region.held || local.size() != p.region.dims.size()) {
    fail(Code::invalid_argument, "tensor {}: rank {} holds {} dimensions, but {} indices were given", p.name,
         p.rank.value(), p.region.held ? p.region.dims.size() : 0, local.size());
  }
  Index offset = p.storage.offset;
  for (std::size_t d = 0; d < local.size(); ++d) {
    const Index i = local.begin()[d];
    if (i < 0 || i >= p.storage.extents[d]) {
      fail(Code::invalid_argument, "tensor {}: index {} of dimension {} is outside the {} that rank {} holds", p.name,
           i, d, p.storage.extents[d], p.rank.value());
    }
    offset += i * p.storage.strides[d];
  }
  return p.bytes.data() + offset * element_bytes;
}

}  // namespace reshard

// What a rank holds of a tensor, as one block: by its own indices, and by those of the whole tensor.
#pragma once

#include <array>
#include <cstddef>

#include "reshard/tensor.h"

template <class T, std::size_t dims>
class Shard {
 public:
  using Indices = std::array<reshard::Index, dims>;

  explicit Shard(reshard::Tensor& tensor) : elements_(reinterpret_cast<T*>(tensor.bytes().data())) {
    for (std::size_t d = 0; d < dims; ++d) {
      const reshard::Segments* segments = tensor.region().held ? &tensor.region().dims[d] : nullptr;
      if (segments == nullptr || segments->empty()) continue;
      first[d] = segments->front().global.value();
      size[d] = segments->front().length;
      strides_[d] = tensor.storage().strides[d];
    }
  }

  Indices first{}, size{};  // of the block, in the whole tensor

  template <class... I>
  T& operator()(I... local) const {
    const Indices at{local...};
    reshard::Index place = 0;
    for (std::size_t d = 0; d < dims; ++d) place += at[d] * strides_[d];
    return elements_[place];
  }

  // visit(element, local indices..); first[d] + local is the place in the whole tensor.
  template <class Visit>
  void each(const Visit& visit) const {
    Indices at{};
    walk(visit, at, 0);
  }

 private:
  template <class Visit>
  void walk(const Visit& visit, Indices& at, std::size_t dim) const {
    if (dim == dims) return std::apply([&](auto... local) { visit((*this)(local...), local...); }, at);
    for (at[dim] = 0; at[dim] < size[dim]; ++at[dim]) walk(visit, at, dim + 1);
  }

  T* elements_;
  Indices strides_{};
};

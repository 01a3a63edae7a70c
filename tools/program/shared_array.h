// Memory that processes made by fork share with the one that made them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

namespace reshard::cli {

// Zeroed. Every rank writes places of its own; whoever reads has waited for it to end.
template <class T>
class SharedArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  explicit SharedArray(std::size_t count) : bytes_(count * sizeof(T)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    values_ = {new (memory) T[count], count};
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;
  ~SharedArray() { munmap(values_.data(), bytes_); }

  std::span<T> values() const { return values_; }

 private:
  std::size_t bytes_;
  std::span<T> values_;
};

}  // namespace reshard::cli

// One rank's part of a distributed tensor: a window, the layout that says what lies where in it, and whose it is.
//
// Made by World::allocate or redistribute. Every rank of a world has a tensor object, also ranks outside the mesh,
// whose tensor is empty.
//
// Thread rule: confined, as its world. A tensor must not be used after its world has ended; destroying it then is
// harmless.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "reshard/fabric.h"
#include "reshard/layout.h"

namespace reshard {

class World;

class Tensor {
 public:
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept;
  // Gives the memory back: it is freed by the first collective call after all ranks have let go of the tensor. Never
  // blocks, so ranks may destroy their tensors in any order.
  ~Tensor();

  const std::string& name() const { return part_->name; }
  const Layout& layout() const { return part_->layout; }
  // Layout::text(), kept.
  const std::string& layout_text() const { return part_->layout_text; }
  RankId rank() const { return part_->rank; }
  // What this rank holds and how it is stored.
  const Region& region() const { return part_->region; }
  const LocalStorage& storage() const { return part_->storage; }
  // This rank's buffer, padding included; peers read it while a move runs.
  std::span<std::byte> bytes() { return part_->bytes; }
  std::span<const std::byte> bytes() const { return part_->bytes; }
  WindowId window() const { return part_->window; }

  // The element at local indices, one per dimension. Throws Error(invalid_argument) when sizeof(T) is not the
  // element's size, or the indices are not inside what this rank holds.
  template <class T>
  T& at(std::initializer_list<Index> local) {
    return *reinterpret_cast<T*>(address(local, sizeof(T)));
  }
  template <class T>
  const T& at(std::initializer_list<Index> local) const {
    return *reinterpret_cast<const T*>(address(local, sizeof(T)));
  }

 private:
  friend class World;
  // Windows whose tensors are gone on this rank; shared with the world, which may end first.
  class Released;
  struct Part {
    std::string name;
    Layout layout;
    std::string layout_text;
    RankId rank;
    Region region;
    LocalStorage storage;
    std::span<std::byte> bytes;
    WindowId window;
    std::int64_t number;  // of the tensor in its world, the same on every rank
    std::shared_ptr<Released> released;
  };
  explicit Tensor(Part part) : part_(std::make_unique<Part>(std::move(part))) {}
  void let_go() noexcept;
  std::byte* address(std::initializer_list<Index> local, std::size_t bytes) const;

  std::unique_ptr<Part> part_;  // null only when moved from
};

}  // namespace reshard

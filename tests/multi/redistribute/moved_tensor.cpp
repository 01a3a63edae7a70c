#include "redistribute/moved_tensor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "oracle/ownership.h"

namespace reshard::multi {
namespace {

using Element = std::array<std::byte, 16>;

// In 4 bytes and more the value is readable; narrow elements get all bits mixed, so that neighbours differ.
Element element_of(std::uint64_t epoch, Index linear, Index bytes) {
  auto value = static_cast<std::uint64_t>(linear) + 1'000'003 * epoch;
  if (bytes < 4) value = value * 0x9e3779b97f4a7c15u >> 40;
  const std::uint64_t other = ~value;
  Element element;
  std::memcpy(element.data(), &value, 8);
  std::memcpy(element.data() + 8, &other, 8);
  return element;
}

std::int64_t readable(const std::byte* at, Index bytes) {
  std::int64_t value = 0;
  std::memcpy(&value, at, static_cast<std::size_t>(std::min<Index>(bytes, 8)));
  return value;
}

// At each address of this rank's buffer: the linear index, or oracle::hole. Empty outside the mesh.
std::vector<Index> contents(const World& world, const Layout& layout) {
  const auto parts = oracle::ownership_of(layout).parts;
  const auto part = parts.find(world.rank().value());
  return part == parts.end() ? std::vector<Index>{} : part->second.buffer;
}

std::vector<Index> contents_checked(World& world, const Tensor& tensor) {
  std::vector<Index> buffer = contents(world, tensor.layout());
  const Index needed = static_cast<Index>(buffer.size()) * bytes_of(tensor.layout().dtype());
  if (needed != static_cast<Index>(tensor.bytes().size())) {
    report(world, "buffer of " + tensor.layout_text() + " has " + std::to_string(tensor.bytes().size()) +
                      " bytes, expected " + std::to_string(needed));
  }
  return buffer;
}

}  // namespace

void run_ranks(const Fabric* fabric, Index ranks, const std::function<void(World&)>& body, WorldOptions options) {
  run_worlds(*fabric, ranks, body, options);
}

Index world_of(const Layout& source, const Layout& target) {
  return std::max(source.mesh().end_rank(), target.mesh().end_rank()).value();
}

void report(const World& world, const std::string& what) {
  throw std::logic_error("rank " + std::to_string(world.rank().value()) + ": " + what);
}

void poison_all(Tensor& tensor, std::byte poison) { std::ranges::fill(tensor.bytes(), poison); }

void fill(World& world, Tensor& tensor, std::uint64_t epoch, std::byte poison) {
  const Index bytes = bytes_of(tensor.layout().dtype());
  poison_all(tensor, poison);
  std::byte* at = tensor.bytes().data();
  for (const Index linear : contents_checked(world, tensor)) {
    const Element element = element_of(epoch, linear, bytes);
    if (linear != oracle::hole) std::memcpy(at, element.data(), static_cast<std::size_t>(bytes));
    at += bytes;
  }
}

void expect_filled(World& world, const Tensor& tensor, std::uint64_t epoch, std::byte poison) {
  const Index bytes = bytes_of(tensor.layout().dtype());
  const std::byte* at = tensor.bytes().data();
  Index address = 0;
  for (const Index linear : contents_checked(world, tensor)) {
    Element expected = element_of(epoch, linear, bytes);
    if (linear == oracle::hole) expected.fill(poison);
    if (std::memcmp(at, expected.data(), static_cast<std::size_t>(bytes)) != 0) {
      report(world, tensor.layout_text() + ": address " + std::to_string(address) + " holds " +
                        std::to_string(readable(at, bytes)) + ", expected " +
                        std::to_string(readable(expected.data(), bytes)) +
                        (linear == oracle::hole ? " (poison)" : ", element " + std::to_string(linear)) + " of epoch " +
                        std::to_string(epoch));
    }
    at += bytes;
    ++address;
  }
}

Traffic expect_redistribute(World& world, const Layout& source, const Layout& target, int calls,
                            const PlanOptions& options) {
  Tensor a = world.allocate(source, "a"), b = world.allocate(target, "b");
  poison_all(b, target_poison);
  Traffic traffic;
  for (int call = 0; call < calls; ++call) {
    const auto epoch = static_cast<std::uint64_t>(call + 1);
    fill(world, a, epoch, source_poison);
    traffic = redistribute(world, a, b, options);
    expect_filled(world, b, epoch, target_poison);
    expect_filled(world, a, epoch, source_poison);
  }
  return traffic;
}

}  // namespace reshard::multi

// Tensors over memory that the caller has: shared with peers, or left as it is.
#include <gtest/gtest.h>

#include "every_fabric.h"
#include "redistribute/moved_tensor.h"

namespace reshard::multi {
namespace {

class Adopted : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Adopted, {1, 2, 3, 4, 7});

// Memory that begins in the middle of a page, between bytes that must stay as they are.
class Own {
 public:
  Own(const World& world, const Layout& layout) : bytes_(static_cast<std::size_t>(layout.local_bytes(world.rank()))) {
    buffer_.resize(bytes_ + 2 * kAround, kGuard);
  }
  std::span<std::byte> memory() { return std::span(buffer_).subspan(kAround, bytes_); }
  bool is_intact_around() const {
    const auto is_guard = [](std::byte b) { return b == kGuard; };
    return std::all_of(buffer_.begin(), buffer_.begin() + kAround, is_guard) &&
           std::all_of(buffer_.end() - kAround, buffer_.end(), is_guard);
  }

 private:
  static constexpr std::byte kGuard{0x3c};
  static constexpr std::ptrdiff_t kAround = 1360;
  std::size_t bytes_;
  std::vector<std::byte> buffer_;
};

// Every element of `layout` names its index; so it must after the tensor is gone.
struct Side {
  Side(World& world, const Layout& layout, std::optional<Exposure> how, const std::string& name)
      : own(world, layout),
        tensor(how ? world.adopt(layout, own.memory(), *how, name) : world.allocate(layout, name)),
        is_adopted(how) {}
  Own own;
  Tensor tensor;
  bool is_adopted;
};

void expect_moved(World& world, const Layout& source, const Layout& target, std::optional<Exposure> from,
                  std::optional<Exposure> to) {
  Side a(world, source, from, "a"), b(world, target, to, "b");
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    fill(world, a.tensor, epoch, source_poison);
    poison_all(b.tensor, target_poison);
    redistribute(world, a.tensor, b.tensor);
    expect_filled(world, b.tensor, epoch, target_poison);
    expect_filled(world, a.tensor, epoch, source_poison);
  }
  const std::vector<std::byte> last(b.tensor.bytes().begin(), b.tensor.bytes().end());
  { const Tensor gone = std::move(a.tensor), gone_too = std::move(b.tensor); }
  for (int call = 0; call < 2; ++call) world.barrier();  // at the first the windows are destroyed
  if (!a.own.is_intact_around() || !b.own.is_intact_around()) report(world, "bytes around the memory have changed");
  if (b.is_adopted && !std::ranges::equal(last, b.own.memory())) report(world, "the memory has not kept its contents");
}

TEST_P(Adopted, MovesFromAndToMemoryOfTheCaller) {
  const std::string n = std::to_string(ranks());
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"f32[37,300] on (r=" + n + ") {0: r}", "f32[37,300] on (r=" + n + ") {1: r}"},
      {"i64[5,3] on (r=" + n + ") {0: r}", "i64[5,3] on (r=" + n + ") {} order(1,0)"},
  };
  const std::optional<Exposure> none, shared = Exposure::shared, in_place = Exposure::in_place;
  run_ranks(&fabric(), ranks(), [&](World& world) {
    for (const auto& [source, target] : pairs)
      for (const auto& [from, to] :
           {std::pair(shared, none), std::pair(none, shared), std::pair(in_place, none), std::pair(none, in_place),
            std::pair(in_place, shared), std::pair(in_place, in_place)})
        expect_moved(world, layout(source), layout(target), from, to);
  });
}

// On one rank only: every rank is told, nothing is left behind, and the world goes on.
TEST_P(Adopted, MemoryThatDoesNotFitIsRefusedByAll) {
  const std::string n = std::to_string(ranks());
  run_ranks(&fabric(), ranks(), [&](World& world) {
    const Layout rows = layout("f32[14,4] on (r=" + n + ") {0: r}");
    std::vector<float> room(14 * 4 + 1);
    const auto bytes = std::as_writable_bytes(std::span(room));
    const bool is_last = world.rank().value() == world.ranks() - 1;
    const auto refused = [&](std::span<std::byte> memory, const std::string& why) {
      expect_error(world.endpoint(), Code::invalid_argument,
                   {"tensor w", "rank " + std::to_string(world.ranks() - 1), why},
                   [&] { world.adopt(rows, memory, Exposure::shared, "w"); });
    };
    const auto needed = static_cast<std::size_t>(rows.local_bytes(world.rank()));
    refused(bytes.first(is_last ? needed - 1 : needed), "bytes on rank");
    refused(is_last ? bytes.subspan(1) : bytes, "is not aligned");
    expect_moved(world, rows, layout("f32[14,4] on (r=" + n + ") {1: r}"), Exposure::shared, {});
  });
}

}  // namespace
}  // namespace reshard::multi

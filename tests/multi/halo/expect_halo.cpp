#include "multi/halo/expect_halo.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "fabric/wrap/forward_endpoint.h"
#include "multi/halo/halo_values.h"
#include "oracle/cutting.h"

namespace reshard::multi {
namespace {

using halo_oracle::Cell;
using halo_oracle::Shard;

constexpr std::byte kPoison{0x5a};

class OnHosts final : public fabric::ForwardEndpoint {
 public:
  OnHosts(Endpoint& inner, Index per_host) : ForwardEndpoint(inner), per_host_(per_host) {}
  Index host_of(RankId rank) const override { return rank.value() / per_host_; }

 private:
  Index per_host_;
};

[[noreturn]] void halo_fault(const World& world, const std::string& what) {
  throw std::logic_error("rank " + std::to_string(world.rank().value()) + ": " + what);
}

std::string text_of(const std::vector<Index>& index) {
  std::string text = "[";
  for (const Index i : index) text += (text.size() > 1 ? "," : "") + std::to_string(i);
  return text + "]";
}

std::string text_of(Number number) {
  std::string text = std::to_string(number.real());
  return number.imag() == 0 ? text : text + " + " + std::to_string(number.imag()) + " i";
}

bool same_bits(Dtype dtype, const std::byte* at, Number expected) {
  std::byte element[16];
  write_number(dtype, expected, element);
  return std::memcmp(at, element, static_cast<std::size_t>(bytes_of(dtype))) == 0;
}

const Shard* shard_of(const std::vector<Shard>& shards, RankId rank) {
  for (const Shard& shard : shards)
    if (shard.rank == rank.value()) return &shard;
  return nullptr;
}

Number wanted(Dtype dtype, const Cell& cell, Index epoch) {
  if (cell.is_constant) return cell.value;
  return static_cast<double>(cell.sign) * value_of(dtype, cell.origin, epoch);
}

void poison(Tensor& tensor) { std::ranges::fill(tensor.bytes(), kPoison); }

// The sums of the adjoint: for each cell its own gradient, then its ghosts by holder and place.
std::vector<Number> gradients(Dtype dtype, const std::vector<Shard>& shards, const Shard& mine, Index epoch) {
  std::map<Index, std::vector<Number>> terms;
  for (const Cell& cell : mine.cells)
    if (cell.is_own) terms[cell.origin].push_back(gradient_of(dtype, mine.rank, cell.address, epoch));
  for (const Shard& shard : shards) {
    if (shard.group != mine.group) continue;
    for (const Cell& cell : shard.cells) {
      const auto found = cell.is_own || cell.is_constant ? terms.end() : terms.find(cell.origin);
      if (found == terms.end()) continue;
      found->second.push_back(static_cast<double>(cell.sign) * gradient_of(dtype, shard.rank, cell.address, epoch));
    }
  }
  std::vector<Number> sums;
  for (const Index linear : mine.own)
    sums.push_back(linear == oracle::hole ? Number{} : folded(dtype, terms.at(linear)));
  return sums;
}

void fill_gradient(Tensor& wide, const Shard* shard, Index epoch) {
  poison(wide);
  if (shard == nullptr) return;
  const Dtype dtype = wide.layout().dtype();
  for (const Cell& cell : shard->cells)
    write_number(dtype, gradient_of(dtype, shard->rank, cell.address, epoch),
                 wide.bytes().data() + cell.address * bytes_of(dtype));
}

void expect_reduced(World& world, const Tensor& gx, const std::vector<Shard>& shards, Index epoch) {
  const Shard* shard = shard_of(shards, world.rank());
  if (shard == nullptr) return;
  const Dtype dtype = gx.layout().dtype();
  const std::vector<Number> expected = gradients(dtype, shards, *shard, epoch);
  for (std::size_t address = 0; address < expected.size(); ++address) {
    const std::byte* at = gx.bytes().data() + static_cast<Index>(address) * bytes_of(dtype);
    if (shard->own[address] == oracle::hole || same_bits(dtype, at, expected[address])) continue;
    halo_fault(world, "the gradient of cell " + std::to_string(shard->own[address]) + " of " + gx.layout_text() +
                          " is " + text_of(read_number(dtype, at)) + ", expected " + text_of(expected[address]) +
                          ", epoch " + std::to_string(epoch));
  }
}

}  // namespace

std::unique_ptr<Endpoint> on_hosts(Endpoint& inner, Index per_host) {
  return std::make_unique<OnHosts>(inner, per_host);
}

void fill_own(World&, Tensor& x, const Shard* shard, Index epoch) {
  poison(x);
  if (shard == nullptr) return;
  const Dtype dtype = x.layout().dtype();
  for (std::size_t address = 0; address < shard->own.size(); ++address)
    if (shard->own[address] != oracle::hole)
      write_number(dtype, value_of(dtype, shard->own[address], epoch),
                   x.bytes().data() + static_cast<Index>(address) * bytes_of(dtype));
}

void fill_wide(World&, Tensor& wide, const Shard* shard, Index epoch) {
  poison(wide);
  if (shard == nullptr) return;
  const Dtype dtype = wide.layout().dtype();
  for (const Cell& cell : shard->cells)
    if (cell.is_own)
      write_number(dtype, value_of(dtype, cell.origin, epoch), wide.bytes().data() + cell.address * bytes_of(dtype));
}

void expect_wide(World& world, const Tensor& wide, const Shard* shard, Index epoch, const char* how) {
  const Dtype dtype = wide.layout().dtype();
  const Index cells = shard == nullptr ? 0 : shard->buffer;
  if (static_cast<Index>(wide.bytes().size()) != cells * bytes_of(dtype))
    halo_fault(world, "the widened shard has " + std::to_string(wide.bytes().size()) + " bytes, expected " +
                          std::to_string(cells) + " cells");
  if (shard == nullptr) return;
  for (const Cell& cell : shard->cells) {
    const std::byte* at = wide.bytes().data() + cell.address * bytes_of(dtype);
    const Number expected = wanted(dtype, cell, epoch);
    if (same_bits(dtype, at, expected)) continue;
    halo_fault(world, std::string(how) + ": cell " + text_of(cell.local) + " of " + wide.layout_text() + " is " +
                          text_of(read_number(dtype, at)) + ", expected " + text_of(expected) + " (cell " +
                          std::to_string(cell.origin) + " of epoch " + std::to_string(epoch) + ")");
  }
}

void expect_halo(World& world, const Layout& in, const Halo& halo, Index epochs) {
  const HaloPlan direct(in, halo), two_phase(in, halo, HaloScheme::two_phase);
  const std::vector<Shard> shards = halo_oracle::shards_of(in, halo, direct.out());
  const Shard* shard = shard_of(shards, world.rank());
  const LinearOp op = op::widen(in, halo), op_two_phase = op::widen(in, halo, HaloScheme::two_phase);
  Tensor x = world.allocate(in, "x"), y = world.allocate(op.out(), "y");
  Tensor gy = world.allocate(op.out_dual(), "gy"), gx = world.allocate(op.in_dual(), "gx");
  HaloExchange apart(world, direct, x, y), phased(world, two_phase, x, y);
  HaloExchange in_place(world, direct, y), phased_in_place(world, two_phase, y);
  for (Index epoch = 1; epoch <= epochs; ++epoch) {
    fill_own(world, x, shard, epoch);
    const std::vector<std::byte> before(x.bytes().begin(), x.bytes().end());
    poison(y);
    op.forward(world, x, y);
    expect_wide(world, y, shard, epoch, "direct");
    poison(y);
    op_two_phase.forward(world, x, y);
    expect_wide(world, y, shard, epoch, "two-phase");
    poison(y);
    phased.run();
    expect_wide(world, y, shard, epoch, "two-phase, bound");
    poison(y);
    apart.begin();
    apart.end();
    expect_wide(world, y, shard, epoch, "in two halves");
    if (!std::ranges::equal(before, x.bytes())) halo_fault(world, "the source has changed");
    fill_wide(world, y, shard, epoch);
    in_place.run();
    expect_wide(world, y, shard, epoch, "in place");
    fill_wide(world, y, shard, epoch);
    phased_in_place.run();
    expect_wide(world, y, shard, epoch, "two-phase in place");
    if (in.dtype() == Dtype::boolean) continue;
    fill_gradient(gy, shard, epoch);
    poison(gx);
    op.adjoint(world, gy, gx);
    expect_reduced(world, gx, shards, epoch);
  }
}

}  // namespace reshard::multi

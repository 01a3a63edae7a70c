#include "base/fail.h"
#include "op/halo/plan_state.h"

namespace reshard {

using halo::Domain;
using halo::Job;
using halo::Piece;

namespace {

void check_ranks(const Domain& domain, Index ranks) {
  if (domain.end_rank() > RankId(ranks))
    fail(Code::invalid_argument, "{}: it names rank {}, but the world has {} ranks; start more ranks or move the mesh",
         domain.where, domain.end_rank().value() - 1, ranks);
}

WindowSpec window_of(std::string name, const Domain& domain, LocalStorage Piece::*storage, Index ranks) {
  WindowSpec window{
      .name = std::move(name), .bytes = std::vector<Index>(static_cast<std::size_t>(ranks), 0), .dtype = domain.dtype};
  for (const Piece& piece : domain.pieces)
    window.bytes[static_cast<std::size_t>(piece.rank.value())] = (piece.*storage).elements * bytes_of(domain.dtype);
  return window;
}

LocalBox box_within(const Piece& piece, const Domain& domain, bool is_interior) {
  LocalBox box;
  for (std::size_t dim = 0; dim < piece.length.size(); ++dim) {
    const HaloDim* d = halo::dim_of(domain.halo, dim);
    const Index lo = d != nullptr && is_interior ? std::min(d->lo, piece.length[dim]) : 0;
    const Index hi = d != nullptr && is_interior ? d->hi : 0;
    box.offsets.emplace_back(piece.before[dim] + lo);
    box.sizes.push_back(std::max<Index>(0, piece.length[dim] - lo - hi));
  }
  return box;
}

}  // namespace

Index LocalBox::elements() const {
  Index elements = 1;
  for (const Index size : sizes) elements *= size;
  return elements;
}

Program HaloPlan::State::program(std::string name, Index ranks, HaloForm form, bool is_reduce) const {
  check_ranks(domain, ranks);
  Program program{.name = std::move(name), .ranks = ranks};
  WindowSpec wide = window_of("widened", domain, &Piece::widened, ranks);
  if (form == HaloForm::in_place) {
    program.windows = {std::move(wide)};
  } else {
    WindowSpec own = window_of(is_reduce ? "target" : "source", domain, &Piece::own, ranks);
    program.windows = {std::move(own), std::move(wide)};
    if (is_reduce) std::swap(program.windows[0], program.windows[1]);
  }
  program.signals = {{.name = "ready", .slots = ranks, .is_by_rank = true},
                     {.name = "done", .slots = ranks, .is_by_rank = true}};
  program.operations.resize(static_cast<std::size_t>(ranks));
  return program;
}

Job HaloPlan::State::job(HaloForm form, const RankHosts& hosts) const {
  return {.domain = domain, .links = links, .scheme = scheme, .form = form, .hosts = hosts};
}

void HaloPlan::State::add_scratch(Program& program, std::vector<Index> bytes) const {
  if (std::ranges::any_of(bytes, [](Index b) { return b > 0; }))
    program.windows.push_back({.name = "scratch", .bytes = std::move(bytes), .dtype = domain.dtype});
}

HaloPlan::HaloPlan(const Layout& in, const Halo& halo, HaloScheme scheme) {
  Layout out = halo::widened_layout(in, halo);
  Domain domain = halo::domain_of(in, halo, out);
  state_ = std::make_shared<const State>(std::move(domain), scheme, in, std::move(out));
}

HaloPlan::HaloPlan(const BoxList& in, const Halo& halo)
    : state_(std::make_shared<const State>(halo::domain_of(in, halo), HaloScheme::direct)) {}

const Halo& HaloPlan::halo() const { return state_->domain.halo; }
HaloScheme HaloPlan::scheme() const { return state_->scheme; }

Index HaloPlan::rounds() const { return state_->job(HaloForm::apart, {}).rounds(); }

const Layout& HaloPlan::in() const {
  if (!state_->in) fail(Code::unsupported, "{}: boxes have no layout; ask for their shards", text());
  return *state_->in;
}

const Layout& HaloPlan::out() const {
  if (!state_->out) fail(Code::unsupported, "{}: widened boxes have no layout; ask for their shards", text());
  return *state_->out;
}

HaloShard HaloPlan::shard(RankId rank) const {
  const auto& pieces = state_->domain.pieces;
  const auto found = std::ranges::find(pieces, rank, &Piece::rank);
  if (found == pieces.end()) return {};
  HaloShard shard{.held = true,
                  .extents = {},
                  .own = box_within(*found, state_->domain, false),
                  .interior = box_within(*found, state_->domain, true),
                  .storage = found->widened};
  for (std::size_t dim = 0; dim < found->length.size(); ++dim) shard.extents.push_back(found->width(dim));
  return shard;
}

Program HaloPlan::exchange_program(Index ranks, std::optional<RankId> only, const RankHosts& hosts,
                                   HaloForm form) const {
  Program program = state_->program("halo_exchange", ranks, form, false);
  const Job job = state_->job(form, hosts);
  state_->add_scratch(program, exchange_scratch(job, ranks));
  std::vector<halo::Halves> halves = exchange_halves(job, ranks, only);
  for (std::size_t r = 0; r < halves.size(); ++r) {
    program.operations[r] = std::move(halves[r].begin);
    std::ranges::move(halves[r].end, std::back_inserter(program.operations[r]));
  }
  return program;
}

Program HaloPlan::reduce_program(Index ranks, std::optional<RankId> only, const RankHosts& hosts, HaloForm form) const {
  Program program = state_->program("halo_reduce", ranks, form, true);
  const Job job = state_->job(form, hosts);
  state_->add_scratch(program, reduce_scratch(job, ranks));
  program.operations = reduce_steps(job, ranks, only);
  return program;
}

std::string HaloPlan::text() const {
  return fmt::format("{}, {}", state_->domain.where, state_->scheme == HaloScheme::direct ? "direct" : "two-phase");
}

}  // namespace reshard

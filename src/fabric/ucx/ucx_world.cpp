#include "base/fail.h"
#include "fabric/message/hosted_world.h"
#include "fabric/ucx/ucx_wire.h"
#include "reshard/ucx_fabric.h"

namespace reshard {
namespace {

// What a rank tells the others first.
std::string calling_card(const UcxOptions& options) { return fmt::format("reshard {} ranks", options.ranks); }

void check_card(const UcxOptions& options, RankId of, const std::string& card) {
  if (!card.starts_with("reshard ")) {
    fail(Code::invalid_argument,
         "rank {}: what rank {} brought to the exchange is not of reshard; is the store shared?", options.rank.value(),
         of.value());
  }
  if (card != calling_card(options)) {
    fail(Code::invalid_argument, "rank {} joins a world of {} ranks, rank {} says \"{}\"", options.rank.value(),
         options.ranks, of.value(), card);
  }
}

void check_options(const UcxOptions& options) {
  if (options.ranks < 1 || options.rank.value() < 0 || options.rank.value() >= options.ranks) {
    fail(Code::invalid_argument, "rank {} of {} ranks: ranks count from 0", options.rank.value(), options.ranks);
  }
  if (options.exchange == nullptr) {
    fail(Code::invalid_argument, "rank {}: no exchange, so no way to find the others; give through_folder(..), say",
         options.rank.value());
  }
}

}  // namespace

struct UcxWorld::State {
  fabric::HostedWorld world;
  std::chrono::milliseconds timeout;
};

UcxWorld::UcxWorld(std::unique_ptr<State> state) : state_(std::move(state)) {}
UcxWorld::UcxWorld(UcxWorld&&) noexcept = default;

UcxWorld::~UcxWorld() {
  if (state_ != nullptr) state_->world.leave(Clock::now() + state_->timeout);
}

Endpoint& UcxWorld::endpoint() { return state_->world.endpoint(); }

UcxWorld join_ucx(const UcxOptions& options) {
  check_options(options);
  const auto deadline = Clock::now() + options.timeout;
  const std::vector<std::string> cards = options.exchange(calling_card(options), deadline);
  for (std::size_t i = 0; i < cards.size(); ++i) check_card(options, RankId(static_cast<Index>(i)), cards[i]);
  fabric::HostGroup group =
      fabric::join_hosts({options.rank, options.host, options.copy, options.window_space}, options.exchange, deadline);
  std::unique_ptr<fabric::UcxWire> wire;
  if (!group.is_whole_world()) {
    wire = std::make_unique<fabric::UcxWire>(
        fabric::UcxWireOptions{.rank = options.rank, .ranks = options.ranks, .silence = options.silence});
    wire->connect(options.exchange(wire->address(), deadline));
  }
  fabric::HostedWorld hosted(std::move(group), std::move(wire), options.copy, options.timeout);
  hosted.endpoint().barrier(deadline);
  return UcxWorld(std::make_unique<UcxWorld::State>(UcxWorld::State{std::move(hosted), options.timeout}));
}

}  // namespace reshard

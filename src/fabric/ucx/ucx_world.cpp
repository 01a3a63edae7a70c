#include <exception>

#include "base/fail.h"
#include "fabric/host_identity.h"
#include "fabric/message/message_endpoint.h"
#include "fabric/ucx/ucx_wire.h"
#include "reshard/ucx_fabric.h"

namespace reshard {
namespace {

// What a rank tells the others before there is a wire: a line of text, and the address of its wire.
std::string calling_card(const UcxOptions& options, const std::string& address) {
  return fmt::format("reshard {} {}\n", options.ranks, fabric::host_identity(options.host)) + address;
}

struct Card {
  std::string host;
  std::string address;
};

Card read_card(const UcxOptions& options, RankId of, const std::string& card) {
  const std::string expected = fmt::format("reshard {} ", options.ranks);
  const std::size_t line = card.find('\n');
  if (line == card.npos || !card.starts_with("reshard ")) {
    fail(Code::invalid_argument,
         "rank {}: what rank {} brought to the exchange is not of reshard; is the store shared?", options.rank.value(),
         of.value());
  }
  if (!card.starts_with(expected)) {
    fail(Code::invalid_argument, "rank {} joins a world of {} ranks, rank {} says \"{}\"", options.rank.value(),
         options.ranks, of.value(), card.substr(0, line));
  }
  return {card.substr(expected.size(), line - expected.size()), card.substr(line + 1)};
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
  fabric::UcxWire wire;
  fabric::MessageEndpoint endpoint;
  std::chrono::milliseconds timeout;
  bool joined = false;
  int exceptions = std::uncaught_exceptions();  // when it was joined

  State(const UcxOptions& options)
      : wire({.rank = options.rank, .ranks = options.ranks, .silence = options.silence}),
        endpoint(wire, {.copy = options.copy, .patience = options.timeout}),
        timeout(options.timeout) {}
};

UcxWorld::UcxWorld(std::unique_ptr<State> state) : state_(std::move(state)) {}
UcxWorld::UcxWorld(UcxWorld&&) noexcept = default;

UcxWorld::~UcxWorld() {
  if (state_ == nullptr || !state_->joined) return;
  RankOutcome outcome;
  if (std::uncaught_exceptions() > state_->exceptions) {
    outcome = {.end = RankOutcome::End::threw, .code = Code::internal, .message = "it left its world by an exception"};
  }
  state_->endpoint.leave(outcome, Clock::now() + state_->timeout);
}

Endpoint& UcxWorld::endpoint() { return state_->endpoint; }

bool ucx_available() { return true; }

UcxWorld join_ucx(const UcxOptions& options) {
  check_options(options);
  const auto deadline = Clock::now() + options.timeout;
  UcxWorld world(std::make_unique<UcxWorld::State>(options));
  fabric::UcxWire& wire = world.state_->wire;
  const std::vector<std::string> cards = options.exchange(calling_card(options, wire.address()), deadline);
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    addresses.push_back(read_card(options, RankId(static_cast<Index>(i)), cards[i]).address);
  }
  wire.connect(addresses);
  world.endpoint().barrier(deadline);
  world.state_->joined = true;
  return world;
}

}  // namespace reshard

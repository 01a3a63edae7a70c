// Calls that all ranks make together: everybody's offer goes to rank 0, whose verdict goes to everybody.
#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "fabric/message/message_endpoint.h"

namespace reshard::fabric {
namespace {

// So often rank 0 says who has not come, for the errors of those who have.
constexpr auto kAbsentEvery = std::chrono::milliseconds(50);

std::string_view name_of(MessageCall call) {
  switch (call) {
    case MessageCall::barrier: return "barrier";
    case MessageCall::create_window: return "create_window";
    case MessageCall::expose_shared: return "expose_window";
    case MessageCall::expose_in_place: return "expose_window in place";
    case MessageCall::create_signal: return "create_signal";
    case MessageCall::destroy_window: return "destroy_window";
    case MessageCall::destroy_signal: return "destroy_signal";
  }
  return "unknown";
}

void check_size(Index size) {
  if (size < 0) fail(Code::invalid_argument, "size {} is negative", size);
}

}  // namespace

WindowId MessageEndpoint::create_window(std::string_view name, Index bytes, Clock::time_point deadline) {
  Window window{.name = std::string(name)};
  Calling calling{MessageCall::create_window, static_cast<int>(windows_.size()), name, bytes};
  const std::string failure = provide(calling, deadline, [&] {
    if (options_.neighbours) {
      window.shared = shared().create_window(name, bytes, deadline);
      window.memory = shared().memory(window.shared);
    } else {
      check_size(bytes);
      window.memory = {store_.allocate(bytes), static_cast<std::size_t>(bytes)};
      window.is_owned = true;
    }
  });
  calling.failure = failure;
  return {create(windows_, calling, std::move(window), deadline)};
}

SignalId MessageEndpoint::create_signal(std::string_view name, Index slots, Clock::time_point deadline) {
  Signal signal{.name = std::string(name), .slots = slots};
  Calling calling{MessageCall::create_signal, static_cast<int>(signals_.size()), name, slots};
  const std::string failure = provide(calling, deadline, [&] {
    if (options_.neighbours) {
      signal.shared = shared().create_signal(name, slots, deadline);
    } else {
      check_size(slots);
      const Index bytes = checked_mul(slots, sizeof(std::uint64_t), "bytes of a signal");
      signal.cells = {reinterpret_cast<std::uint64_t*>(store_.allocate(bytes)), static_cast<std::size_t>(slots)};
    }
  });
  calling.failure = failure;
  return {create(signals_, calling, std::move(signal), deadline)};
}

WindowId MessageEndpoint::expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                                        Clock::time_point deadline) {
  Window window{.name = std::string(name), .memory = memory};
  Calling calling{how == Exposure::shared ? MessageCall::expose_shared : MessageCall::expose_in_place,
                  static_cast<int>(windows_.size()), name, static_cast<Index>(memory.size())};
  const std::string failure = provide(calling, deadline, [&] {
    if (options_.neighbours) window.shared = shared().expose_window(name, memory, how, deadline);
  });
  calling.failure = failure;
  return {create(windows_, calling, std::move(window), deadline)};
}

// Memory for what is created here; why there is none, which is told to all ranks so that they throw together. Where
// ranks share hosts the memory is made by collective calls of the hosts, so all ranks must agree before.
template <class Make>
std::string MessageEndpoint::provide(const Calling& calling, Clock::time_point deadline, const Make& make) {
  if (has_shared_hosts()) agree(calling, deadline);
  meet_neighbours(calling, deadline);
  try {
    make();
  } catch (const Error& error) {
    if (error.code() == Code::peer_lost || error.code() == Code::timeout) throw;
    return error.what();
  }
  return {};
}

bool MessageEndpoint::has_shared_hosts() const {
  return std::ranges::max(options_.hosts) + 1 < static_cast<Index>(options_.hosts.size());
}

// See Neighbours::arrive.
void MessageEndpoint::meet_neighbours(const Calling& calling, Clock::time_point deadline) {
  if (options_.neighbours == nullptr) return;
  options_.neighbours->arrive();
  if (!serve_until([&] { return options_.neighbours->all_are_here(); }, deadline)) fail_collective(calling, {});
}

// The entry is there before the others are told that this rank agrees: their first messages may overtake the verdict.
template <class Entry>
int MessageEndpoint::create(Table<Entry>& table, const Calling& calling, Entry entry, Clock::time_point deadline) {
  table.push_back(std::make_unique<Entry>(std::move(entry)));
  try {
    table.back()->sizes = agree(calling, deadline);
  } catch (const Error& error) {
    // No peer has used it: none was told that all agree.
    if (error.code() != Code::peer_lost && error.code() != Code::timeout) release(*table.back(), calling, deadline);
    table.pop_back();
    throw;
  }
  return calling.id;
}

void MessageEndpoint::destroy_window(WindowId window, Clock::time_point deadline) {
  destroy(windows_, {MessageCall::destroy_window, window.value, window_of(window).name}, deadline);
}

void MessageEndpoint::destroy_signal(SignalId signal, Clock::time_point deadline) {
  destroy(signals_, {MessageCall::destroy_signal, signal.value, signal_of(signal).name}, deadline);
}

// All ranks' messages have been acted on when all agree, so that nothing is on its way into it.
template <class Entry>
void MessageEndpoint::destroy(Table<Entry>& table, const Calling& calling, Clock::time_point deadline) {
  agree(calling, deadline);
  std::unique_ptr<Entry>& entry = table[static_cast<std::size_t>(calling.id)];
  release(*entry, calling, deadline);
  entry.reset();
}

// With neighbours, collective among those of the host.
void MessageEndpoint::release(const Window& window, const Calling& calling, Clock::time_point deadline) {
  if (window.is_owned) store_.release(window.memory.data(), static_cast<Index>(window.memory.size()));
  if (window.shared.value < 0) return;
  meet_neighbours(calling, deadline);
  shared().destroy_window(window.shared, deadline);
}

void MessageEndpoint::release(const Signal& signal, const Calling& calling, Clock::time_point deadline) {
  if (signal.shared.value < 0) {
    return store_.release(reinterpret_cast<std::byte*>(signal.cells.data()),
                          static_cast<Index>(signal.cells.size_bytes()));
  }
  meet_neighbours(calling, deadline);
  shared().destroy_signal(signal.shared, deadline);
}

void MessageEndpoint::barrier(Clock::time_point deadline) { agree({}, deadline); }

// The size that each rank brought.
std::vector<Index> MessageEndpoint::agree(const Calling& calling, Clock::time_point deadline) {
  const std::uint64_t sequence = ++collective_calls_;
  if (!quiesce(deadline)) fail_collective(calling, {});
  if (rank() == RankId(0)) {
    gather_offers(calling, sequence, deadline);
    judge(calling, sequence, deadline);
  } else {
    send_offer(calling, sequence);
    await_verdict(calling, sequence, deadline);
  }
  if (!is_verdict_good_) {
    throw Error(verdict_code_, {reinterpret_cast<const char*>(verdict_bytes_.data()), verdict_bytes_.size()});
  }
  std::vector<Index> sizes(verdict_bytes_.size() / sizeof(Index));
  if (!sizes.empty()) std::memcpy(sizes.data(), verdict_bytes_.data(), sizes.size() * sizeof(Index));
  return sizes;
}

void MessageEndpoint::send_offer(const Calling& calling, std::uint64_t sequence) {
  const MessageHead head{.kind = MessageKind::offer,
                         .detail = static_cast<std::uint8_t>(calling.call),
                         .id = calling.id,
                         .at = calling.size,
                         .value = sequence};
  if (calling.call == MessageCall::barrier) return send(RankId(0), head);
  const OfferText text(calling.name, calling.failure);
  send(RankId(0), head, std::as_bytes(std::span(&text, 1)));
}

void MessageEndpoint::store_offer(RankId from, const MessageHead& head, std::span<const std::byte> header) {
  if (rank() != RankId(0)) return lost(from, "it takes this rank for rank 0");
  Offered& offered = offers_[static_cast<std::size_t>(from.value())];
  offered = {head.value, static_cast<MessageCall>(head.detail), head.id, head.at, {}};
  const auto text = header.subspan(sizeof head);
  if (text.size() == sizeof offered.text) std::memcpy(&offered.text, text.data(), text.size());
}

void MessageEndpoint::gather_offers(const Calling& calling, std::uint64_t sequence, Clock::time_point deadline) {
  offers_[0] = {sequence, calling.call, calling.id, calling.size, {}};
  if (calling.call != MessageCall::barrier) offers_[0].text = OfferText(calling.name, calling.failure);
  const auto all_here = [&] {
    return std::all_of(offers_.begin(), offers_.end(), [&](const Offered& o) { return o.sequence >= sequence; });
  };
  while (!serve_until(all_here, std::min(deadline, Clock::now() + kAbsentEvery))) {
    const std::string absent = absent_from(sequence);
    if (!lost_.empty() || Clock::now() >= deadline) fail_collective(calling, absent);
    for (Index r = 1; r < ranks(); ++r) {
      if (offers_[static_cast<std::size_t>(r)].sequence < sequence) continue;
      send(RankId(r), {.kind = MessageKind::absent, .value = sequence}, std::as_bytes(std::span(absent)));
    }
  }
}

std::string MessageEndpoint::absent_from(std::uint64_t sequence) const {
  std::string absent;
  for (std::size_t r = 0; r < offers_.size(); ++r)
    if (offers_[r].sequence < sequence) absent += fmt::format("{}{}", absent.empty() ? "" : ", ", r);
  return absent;
}

// Rank 0's verdict, and its own copy of it.
void MessageEndpoint::judge(const Calling& calling, std::uint64_t sequence, Clock::time_point deadline) {
  const std::string error = what_is_wrong();
  is_verdict_good_ = error.empty();
  std::vector<Index> sizes;
  if (calling.call != MessageCall::barrier)
    for (const Offered& offered : offers_) sizes.push_back(offered.size);
  const auto bytes = is_verdict_good_ ? std::as_bytes(std::span(sizes)) : std::as_bytes(std::span(error));
  verdict_bytes_.assign(bytes.begin(), bytes.end());
  const MessageHead head{.kind = MessageKind::verdict,
                         .detail = static_cast<std::uint8_t>(verdict_code_),
                         .id = is_verdict_good_ ? 0 : -1,
                         .value = sequence};
  const Strided payload{verdict_bytes_.data(), static_cast<Index>(verdict_bytes_.size())};
  for (Index r = 1; r < ranks(); ++r)
    send(RankId(r), head, {}, payload, verdict_bytes_.empty() ? 0 : take_outgoing(false));
  // The next verdict goes into the same place.
  if (!verdict_bytes_.empty() && !serve_until([&] { return open_payloads_ == 0; }, deadline)) {
    fail_collective(calling, {});
  }
}

std::string MessageEndpoint::what_is_wrong() {
  const auto describe = [](const Offered& offered) {
    if (offered.call == MessageCall::barrier) return std::string("barrier");
    return offered.text.described(name_of(offered.call), offered.id);
  };
  const Offered& first = offers_.front();
  for (std::size_t r = 1; r < offers_.size(); ++r) {
    const Offered& other = offers_[r];
    if (other.sequence == first.sequence && other.call == first.call && other.id == first.id &&
        other.text.has_same_name(first.text)) {
      continue;
    }
    verdict_code_ = Code::invalid_argument;
    return disagreement(0, describe(first), static_cast<Index>(r), describe(other));
  }
  for (std::size_t r = 0; r < offers_.size(); ++r) {
    if (!offers_[r].text.has_failed()) continue;
    verdict_code_ = Code::io;
    return fmt::format("{}: rank {}: {}", describe(first), r, offers_[r].text.failure.data());
  }
  return {};
}

void MessageEndpoint::await_verdict(const Calling& calling, std::uint64_t sequence, Clock::time_point deadline) {
  if (serve_until([&] { return verdict_.number >= sequence && verdict_.is_there; }, deadline)) return;
  fail_collective(calling, absent_in_ == sequence ? absent_ : "0");
}

void MessageEndpoint::fail_collective(const Calling& calling, const std::string& absent) const {
  const auto what = calling.call == MessageCall::barrier
                        ? std::string("barrier")
                        : fmt::format("{}(\"{}\")", name_of(calling.call), calling.name);
  if (!lost_.empty()) {
    fail(Code::peer_lost, "rank {}: {} cannot complete: lost {}", rank().value(), what, lost_);
  }
  if (absent.empty()) {
    fail(Code::timeout, "rank {}: {}: deadline passed{}{}", rank().value(), what, unconfirmed(), unheard());
  }
  fail(Code::timeout, "rank {}: deadline passed in a {} of {} ranks; not there: rank {}", rank().value(), what, ranks(),
       absent);
}

}  // namespace reshard::fabric

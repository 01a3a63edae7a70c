#include "exec/call_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>

#include "base/fail.h"
#include "base/fingerprint.h"

namespace reshard {
namespace {

// Of the text, then of the call number.
std::uint64_t fingerprint_of(std::string_view call, std::uint64_t number) {
  std::array<char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return fingerprint({bytes.data(), bytes.size()}, fingerprint(call));
}

}  // namespace

struct CallCheck::Record {
  std::uint64_t fingerprint = 0;
  std::int64_t released_count = 0;
  std::array<std::int64_t, 30> released{};
  std::uint64_t text_bytes = 0;
  std::array<char, 760> text{};
};

CallCheck::CallCheck(Endpoint& endpoint, Clock::time_point deadline)
    : endpoint_(&endpoint),
      window_(endpoint.create_window("calls", 2 * sizeof(Record), deadline)),
      signal_(endpoint.create_signal("calls", endpoint.ranks(), deadline)) {}

std::vector<std::int64_t> CallCheck::agree(std::string_view call, std::span<const std::int64_t> released,
                                           Clock::time_point deadline) {
  ++calls_;
  released = shown(released);
  const RankId self = endpoint_->rank();
  const std::uint64_t expected = fingerprint_of(call, calls_);
  publish(expected, call, released);
  tell_all();
  std::vector<std::int64_t> common(released.begin(), released.end());
  std::vector<std::uint64_t> seen(static_cast<std::size_t>(endpoint_->ranks()), expected);
  for (RankId peer(0); peer < RankId(endpoint_->ranks()); ++peer) {
    if (peer == self) continue;
    endpoint_->wait(signal_, peer.value(), calls_, Endpoint::Until::greater_equal, deadline);
    // A rank with nothing to release knows that nothing is common.
    const Record record = read(peer, common.empty() ? offsetof(Record, released_count) : offsetof(Record, text_bytes));
    seen[static_cast<std::size_t>(peer.value())] = record.fingerprint;
    const auto theirs = std::span(record.released).first(static_cast<std::size_t>(record.released_count));
    std::erase_if(common, [&](std::int64_t n) { return !std::ranges::binary_search(theirs, n); });
  }
  const auto other = std::ranges::find_if(seen, [&](std::uint64_t f) { return f != seen.front(); });
  if (other != seen.end()) disagree(RankId(0), RankId(std::distance(seen.begin(), other)));
  return common;
}

// As many as a record holds: the oldest and the newest in turns, so that tensors which one rank keeps for long do not
// hide the others.
std::span<const std::int64_t> CallCheck::shown(std::span<const std::int64_t> released) const {
  const std::size_t room = Record{}.released.size();
  if (released.size() <= room) return released;
  return calls_ % 2 == 0 ? released.first(room) : released.last(room);
}

void CallCheck::settle(const std::optional<Error>& fault, Clock::time_point deadline) {
  ++calls_;
  publish(fault ? 1 + static_cast<std::uint64_t>(fault->code()) : 0, fault ? fault->what() : "", {});
  tell_all();
  std::optional<RankId> first;
  Index faults = 0;
  for (RankId peer(0); peer < RankId(endpoint_->ranks()); ++peer) {
    if (peer != endpoint_->rank())
      endpoint_->wait(signal_, peer.value(), calls_, Endpoint::Until::greater_equal, deadline);
    if (read(peer, offsetof(Record, released_count)).fingerprint == 0) continue;
    if (!first) first = peer;
    ++faults;
  }
  if (!first) return;
  const Record record = read(*first, sizeof(Record));  // its own too: the same text everywhere
  const std::string_view text(record.text.data(), record.text_bytes);
  throw Error(static_cast<Code>(record.fingerprint - 1),
              faults == endpoint_->ranks() ? std::string(text) : fmt::format("rank {}: {}", first->value(), text));
}

void CallCheck::tell_all() {
  const RankId self = endpoint_->rank();
  for (Index i = 1; i < endpoint_->ranks(); ++i) {
    const RankId peer((self.value() + i) % endpoint_->ranks());
    endpoint_->notify(peer, signal_, self.value(), calls_, Endpoint::Update::set);
  }
}

void CallCheck::publish(std::uint64_t fingerprint, std::string_view call, std::span<const std::int64_t> released) {
  Record record;
  record.fingerprint = fingerprint;
  std::ranges::copy(released, record.released.begin());
  record.released_count = static_cast<std::int64_t>(released.size());
  record.text_bytes = std::min(call.size(), record.text.size());
  std::copy_n(call.begin(), record.text_bytes, record.text.begin());
  const std::size_t used = offsetof(Record, text) + record.text_bytes;
  std::memcpy(endpoint_->memory(window_).data() + calls_ % 2 * sizeof(Record), &record, used);
}

CallCheck::Record CallCheck::read(RankId peer, Index bytes) {
  Record record;
  const auto here = std::as_writable_bytes(std::span(&record, 1));
  const auto place = static_cast<Index>(calls_ % 2 * sizeof(Record));
  if (peer == endpoint_->rank()) {
    std::memcpy(here.data(), endpoint_->memory(window_).data() + place, static_cast<std::size_t>(bytes));
  } else {
    endpoint_->get(peer, window_, {.source_offset = place, .row_bytes = bytes}, here);
  }
  return record;
}

void CallCheck::disagree(RankId first, RankId second) {
  const auto quote = [&](RankId rank) {
    const Record record = read(rank, sizeof(Record));
    return std::string(record.text.data(), record.text_bytes);
  };
  fail(Code::invalid_argument,
       "ranks {} and {} made different calls: rank {} \"{}\", rank {} \"{}\"; every rank of a world makes the same "
       "calls in "
       "the same order",
       first.value(), second.value(), first.value(), quote(first), second.value(), quote(second));
}

}  // namespace reshard

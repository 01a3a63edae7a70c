// Collective operations on worlds of every fabric, by every algorithm.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "program/every_world.h"
#include "program/slow_endpoint.h"
#include "reshard/collective.h"

namespace reshard::multi {

inline constexpr Algorithm kAlgorithms[] = {Algorithm::eager, Algorithm::direct, Algorithm::two_level};

// Byte `place` of what rank `from` has for rank `to` in call `call`.
inline std::byte origin(RankId from, RankId to, Index place, Index call) {
  return static_cast<std::byte>((from.value() * 131 + to.value() * 17 + place * 7 + call * 29 + place / 251) & 0xff);
}

inline void write_origin(std::span<std::byte> bytes, RankId from, RankId to, Index call) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = origin(from, to, static_cast<Index>(i), call);
}

inline void expect_origin(const Endpoint& e, std::string_view what, std::span<const std::byte> bytes, RankId from,
                          RankId to, Index call) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::byte expected = origin(from, to, static_cast<Index>(i), call);
    if (bytes[i] != expected)
      report(e, fmt::format("{}, call {}: byte {} of {} from rank {} is {:#x}, expected {:#x}", what, call, i,
                            bytes.size(), from.value(), bytes[i], expected));
  }
}

inline std::span<std::byte> part_of(std::span<std::byte> bytes, Index begin, Index end) {
  return bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

// Says that the ranks are on `hosts` hosts, as equal in size as can be.
class ApartEndpoint final : public fabric::ForwardEndpoint {
 public:
  ApartEndpoint(Endpoint& inner, Index hosts) : ForwardEndpoint(inner), hosts_(hosts) {}
  Index host_of(RankId rank) const override { return rank.value() * hosts_ / ranks(); }

 private:
  Index hosts_;
};

class EveryCollective : public EveryWorld {
 protected:
  // On one host, also with one rank that lets all others go first; and on two and three.
  void run_everywhere(const std::function<void(World&)>& body) const {
    run_worlds(body);
    run([&body](Endpoint& endpoint) {
      SlowEndpoint slow(endpoint, 20);
      World world(endpoint.rank() == RankId(endpoint.ranks() / 2) ? slow : endpoint, {.timeout = 120s});
      body(world);
    });
    for (Index hosts = 2; hosts <= std::min<Index>(3, ranks()); ++hosts) run_on_hosts(hosts, body);
  }
  void run_on_hosts(Index hosts, const std::function<void(World&)>& body) const {
    run([&](Endpoint& endpoint) {
      ApartEndpoint apart(endpoint, hosts);
      World world(apart, {.timeout = 120s});
      body(world);
    });
  }
};

}  // namespace reshard::multi

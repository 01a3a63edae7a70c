#include <sched.h>

#include <algorithm>
#include <random>
#include <thread>

#include "fabric/host/bounds.h"
#include "fabric/wrap/held_put.h"
#include "fabric/wrap/observed_endpoint.h"
#include "reshard/wrap.h"

namespace reshard {
namespace {

class DelayEndpoint final : public fabric::ObservedEndpoint<DelayEndpoint> {
 public:
  DelayEndpoint(Endpoint& inner, const DelayOptions& options)
      : ObservedEndpoint(inner),
        options_(options),
        random_(options.seed + static_cast<std::uint64_t>(inner.rank().value()) * 0x9e3779b97f4a7c15u) {}

  void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) override {
    if (!options_.holds_puts) return ObservedEndpoint::put(peer, window, copy, source);
    // What is wrong is an error of the call.
    if (!is_inside(peer, window, copy, source)) return ObservedEndpoint::put(peer, window, copy, source);
    perhaps_pause();
    held_.emplace_back(peer, window, copy, source);
    if (below(4) == 0) do_one();
    perhaps_pause();
  }
  void fence() override {
    perhaps_pause();
    do_all();
    ObservedEndpoint::fence();
  }
  // Nothing is to be written into a window that is no more.
  void destroy_window(WindowId window, Clock::time_point deadline) override {
    do_all();
    ObservedEndpoint::destroy_window(window, deadline);
  }

  template <class Act>
  decltype(auto) observe(const fabric::Observed&, const Act& act) {
    perhaps_pause();
    struct After {
      DelayEndpoint& self;
      int exceptions = std::uncaught_exceptions();
      ~After() {
        if (std::uncaught_exceptions() == exceptions) self.perhaps_pause();
      }
    } const after{*this};
    return act();
  }

 private:
  bool is_inside(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) const {
    return fabric::is_well_formed(copy) && fabric::target_range(copy).within(inner().window_bytes(window, peer)) &&
           fabric::source_range(copy).within(static_cast<Index>(source.size()));
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  void perhaps_pause() {
    if (options_.one_in == 0 || below(static_cast<std::uint64_t>(options_.one_in)) != 0) return;
    const auto longest = static_cast<std::uint64_t>(options_.longest.count());
    const auto time = std::chrono::microseconds(static_cast<std::int64_t>(below(longest + 1)));
    // Half of them only let others run: where there are more ranks than cores that is the larger disorder.
    below(2) == 0 ? void(::sched_yield()) : std::this_thread::sleep_for(time);
  }
  void do_one() {
    std::swap(held_[below(held_.size())], held_.back());
    const fabric::HeldPut put = std::move(held_.back());
    held_.pop_back();
    put.put_to(inner());
  }
  void do_all() {
    while (!held_.empty()) do_one();
  }

  DelayOptions options_;
  std::mt19937_64 random_;
  std::vector<fabric::HeldPut> held_;
};

}  // namespace

std::unique_ptr<Endpoint> delayed(Endpoint& inner, const DelayOptions& options) {
  return std::make_unique<DelayEndpoint>(inner, options);
}

}  // namespace reshard

// Values with small numbers: equal values have one number, so that states hold numbers only and compare by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>

namespace reshard::explore {

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

// `Hash` is called with a const T&.
template <class T, class Hash>
class Interner {
 public:
  Interner() : numbers_(64, ByValue{&values_}, SameValue{&values_}) {}
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  std::uint32_t number_of(T value) {
    values_.push_back(std::move(value));
    const auto [at, added] = numbers_.insert(static_cast<std::uint32_t>(values_.size() - 1));
    if (!added) values_.pop_back();
    return *at;
  }
  const T& operator[](std::uint32_t number) const { return values_[number]; }
  std::size_t size() const { return values_.size(); }

 private:
  struct ByValue {
    const std::deque<T>* values;
    std::size_t operator()(std::uint32_t number) const { return Hash{}((*values)[number]); }
  };
  struct SameValue {
    const std::deque<T>* values;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return (*values)[a] == (*values)[b]; }
  };
  std::deque<T> values_;
  std::unordered_set<std::uint32_t, ByValue, SameValue> numbers_;
};

struct HashWords {
  template <class Words>
  std::size_t operator()(const Words& words) const {
    std::uint64_t hash = words.size();
    for (const std::uint32_t word : words) hash = mixed(hash, word);
    return hash;
  }
};

}  // namespace reshard::explore

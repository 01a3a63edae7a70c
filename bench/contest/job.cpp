#include "job.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

namespace contest {
namespace {

using Word = std::uint32_t;

constexpr Word key_of(std::uint32_t epoch) { return (epoch + 1) * 0x9E3779B9u; }

// Of the element whose number in the whole job is `origin`.
Word word_of(Index origin, Word key) { return static_cast<Word>(origin) ^ key; }

// A number that f32 and bf16 both hold.
Word small_float(Index origin, Word key) {
  return std::bit_cast<Word>(static_cast<float>((static_cast<Word>(origin) * 2654435761u ^ key) >> 24));
}
std::uint16_t as_bf16(Word word) { return static_cast<std::uint16_t>(word >> 16); }

// What a rank contributes to a sum: exact in f32, over 8 ranks as well.
float term_of(Index k, int rank, std::uint32_t epoch) {
  return static_cast<float>(k % 1021 + 1 + 3 * rank + static_cast<Index>(epoch % 16));
}
float sum_of(Index k, int ranks, std::uint32_t epoch) {
  float sum = 0;
  for (int r = 0; r < ranks; ++r) sum += term_of(k, r, epoch);
  return sum;
}

bool reduces(const Job& job) { return job.op == "reduce_scatter" || job.op == "all_reduce"; }

// Calls visit(buffer, position, value) for all elements a rank holds, until it returns false.
template <class Visit>
void each_of_part(const Job& job, const Part& part, std::uint32_t epoch, const Visit& visit) {
  const Word key = key_of(epoch);
  Index at = 0;
  for (Index i = part.row; i < part.row + part.rows; ++i) {
    for (Index j = part.column; j < part.column + part.columns; ++j, ++at) {
      const Index origin = i * job.columns + j;
      if (!visit(0, at, job.kind == Job::Kind::cast ? small_float(origin, key) : word_of(origin, key))) return;
    }
  }
}

template <class Visit>
void each_of_tensors(const Job& job, Index shards, Index shard, std::uint32_t epoch, const Visit& visit) {
  const Word key = key_of(epoch);
  Index origin = 0;
  for (std::size_t t = 0; t < job.elements.size(); ++t) {
    const Index held = job.elements[t] / shards, begin = origin + shard * held;
    for (Index k = 0; k < held; ++k)
      if (!visit(static_cast<int>(t), k, word_of(begin + k, key))) return;
    origin += job.elements[t];
  }
}

template <class Visit>
void each_of_sum(Index begin, Index count, std::uint32_t epoch, const Visit& visit, int rank, int ranks) {
  for (Index k = 0; k < count; ++k) {
    const float value = ranks == 0 ? term_of(begin + k, rank, epoch) : sum_of(begin + k, ranks, epoch);
    if (!visit(0, k, std::bit_cast<Word>(value))) return;
  }
}

// Element k of what rank `from` sends to rank `to`; all_gather and broadcast send all ranks the same.
Index exchange_origin(const Job& job, int from, int to, int ranks, Index block, Index k) {
  return job.is("all_to_all") ? (Index{from} * ranks + to) * block + k : from * block + k;
}

template <class Visit>
void each_of_exchange(const Job& job, Place place, bool target, std::uint32_t epoch, const Visit& visit) {
  const Word key = key_of(epoch);
  const Index block = job.bytes / element_bytes / (job.is("broadcast") ? 1 : place.ranks);
  const int blocks = job.is("broadcast") || (job.is("all_gather") && !target) ? 1 : place.ranks;
  Index at = 0;
  for (int b = 0; b < blocks; ++b) {
    const int peer = blocks == 1 ? (target ? 0 : place.rank) : b;
    const int from = target ? peer : place.rank, to = target ? place.rank : peer;
    for (Index k = 0; k < block; ++k)
      if (!visit(0, at++, word_of(exchange_origin(job, from, to, place.ranks, block, k), key))) return;
  }
}

template <class Visit>
void each_source(const Job& job, Place place, std::uint32_t epoch, const Visit& visit) {
  if (source_bytes(job, place).empty()) return;
  if (job.kind == Job::Kind::tensors) return each_of_tensors(job, job.source_ranks, place.rank, epoch, visit);
  if (job.kind != Job::Kind::collective) {
    return each_of_part(job, part_of(job, job.source, place.rank), epoch, visit);
  }
  if (reduces(job)) return each_of_sum(0, job.bytes / element_bytes, epoch, visit, place.rank, 0);
  each_of_exchange(job, place, false, epoch, visit);
}

template <class Visit>
void each_target(const Job& job, Place place, std::uint32_t epoch, const Visit& visit) {
  const std::vector<Index> bytes = target_bytes(job, place);
  if (bytes.empty()) return;
  if (job.kind == Job::Kind::tensors) return each_of_tensors(job, 1, 0, epoch, visit);
  if (job.kind != Job::Kind::collective) {
    return each_of_part(job, part_of(job, job.target, place.rank), epoch, visit);
  }
  const Index count = bytes[0] / element_bytes;
  if (reduces(job)) {
    return each_of_sum(job.is("reduce_scatter") ? place.rank * count : 0, count, epoch, visit, 0, place.ranks);
  }
  each_of_exchange(job, place, true, epoch, visit);
}

Grid read_grid(const nlohmann::json& object) {
  return {object.at("rows").get<Index>(), object.at("columns").get<Index>(), object.at("first").get<Index>()};
}

}  // namespace

Job read_job(const std::string& text) {
  static const std::map<std::string, Job::Kind> kinds = {
      {"matrix", Job::Kind::matrix}, {"tensors", Job::Kind::tensors}, {"collective", Job::Kind::collective},
      {"hop", Job::Kind::hop},       {"barrier", Job::Kind::barrier}, {"cast", Job::Kind::cast}};
  const nlohmann::json object = nlohmann::json::parse(text);
  Job job;
  job.kind = kinds.at(object.at("kind").get<std::string>());
  job.op = object.value("op", "");
  job.bytes = object.value("bytes", Index{0});
  if (job.kind == Job::Kind::matrix || job.kind == Job::Kind::cast) {
    job.rows = object.at("rows").get<Index>();
    job.columns = object.at("columns").get<Index>();
    job.source = read_grid(object.at("source"));
    job.target = read_grid(object.at("target"));
  }
  if (job.kind == Job::Kind::tensors) {
    job.elements = object.at("elements").get<std::vector<Index>>();
    job.source_ranks = object.at("source_ranks").get<Index>();
    job.first_target = object.at("first_target").get<Index>();
    job.target_ranks = object.at("target_ranks").get<Index>();
  }
  return job;
}

Part part_of(const Job& job, const Grid& grid, Index rank) {
  const Index cell = rank - grid.first;
  if (cell < 0 || cell >= grid.rows * grid.columns) return {};
  const Index rows = job.rows / grid.rows, columns = job.columns / grid.columns;
  return {cell / grid.columns * rows, rows, cell % grid.columns * columns, columns};
}

Part intersection(const Part& a, const Part& b) {
  const Index row = std::max(a.row, b.row), column = std::max(a.column, b.column);
  const Index end_row = std::min(a.row + a.rows, b.row + b.rows);
  const Index end_column = std::min(a.column + a.columns, b.column + b.columns);
  return {row, std::max(Index{0}, end_row - row), column, std::max(Index{0}, end_column - column)};
}

Index offset_in(const Part& part, Index row, Index column) {
  return ((row - part.row) * part.columns + column - part.column) * element_bytes;
}

std::vector<Index> source_bytes(const Job& job, Place place) {
  std::vector<Index> bytes;
  if (job.kind == Job::Kind::matrix || job.kind == Job::Kind::cast) {
    const Part part = part_of(job, job.source, place.rank);
    if (!part.empty()) bytes.push_back(part.bytes());
  } else if (job.kind == Job::Kind::tensors) {
    if (place.rank < job.source_ranks)
      for (const Index n : job.elements) bytes.push_back(n / job.source_ranks * element_bytes);
  } else if (job.kind == Job::Kind::collective && (!job.is("broadcast") || place.rank == 0)) {
    bytes.push_back(job.is("all_gather") ? job.bytes / place.ranks : job.bytes);
  }
  return bytes;
}

std::vector<Index> target_bytes(const Job& job, Place place) {
  std::vector<Index> bytes;
  if (job.kind == Job::Kind::matrix || job.kind == Job::Kind::cast) {
    const Part part = part_of(job, job.target, place.rank);
    if (!part.empty()) bytes.push_back(job.kind == Job::Kind::cast ? part.bytes() / 2 : part.bytes());
  } else if (job.kind == Job::Kind::tensors) {
    if (place.rank >= job.first_target && place.rank < job.first_target + job.target_ranks)
      for (const Index n : job.elements) bytes.push_back(n * element_bytes);
  } else if (job.kind == Job::Kind::collective && (!job.is("broadcast") || place.rank != 0)) {
    bytes.push_back(job.is("reduce_scatter") ? job.bytes / place.ranks : job.bytes);
  }
  return bytes;
}

void stamp(const Job& job, Place place, const std::vector<Bytes>& sources, std::uint32_t epoch) {
  each_source(job, place, epoch, [&](int buffer, Index at, Word word) {
    reinterpret_cast<Word*>(sources[static_cast<std::size_t>(buffer)].data())[at] = word;
    return true;
  });
}

std::string fault(const Job& job, Place place, const std::vector<Bytes>& targets, std::uint32_t epoch) {
  std::string found;
  const bool half = job.kind == Job::Kind::cast;
  each_target(job, place, epoch, [&](int buffer, Index at, Word word) {
    const std::byte* memory = targets[static_cast<std::size_t>(buffer)].data();
    const Word expected = half ? as_bf16(word) : word;
    const Word held =
        half ? reinterpret_cast<const std::uint16_t*>(memory)[at] : reinterpret_cast<const Word*>(memory)[at];
    if (held == expected) return true;
    found = fmt::format("rank {} buffer {} element {} holds {:#010x}, expected {:#010x} of epoch {}", place.rank,
                        buffer, at, held, expected, epoch);
    return false;
  });
  return found;
}

}  // namespace contest

// The operations by name: what each calls itself, and its job.
#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "collective/jobs.h"
#include "collective/request.h"

namespace reshard {
namespace {

using collective::Request;

std::vector<Index> on_all(const World& world, Index value) {
  return std::vector<Index>(static_cast<std::size_t>(world.ranks()), value);
}

// Collective: what every rank brought, `count` numbers each. Throws the same on all ranks where one brought another
// number of them, or a negative one.
std::vector<Index> gathered(World& world, const char* call, std::span<const Index> mine, Index count) {
  const std::size_t row = static_cast<std::size_t>(count) + 1;
  AllGather gather(world, static_cast<Index>(row * sizeof(Index)), {.algorithm = Algorithm::direct});
  const std::span<Index> input = gather.input<Index>();
  input.front() = static_cast<Index>(mine.size());
  std::ranges::copy(mine.first(std::min(mine.size(), row - 1)), input.begin() + 1);
  gather.run();
  std::vector<Index> all;
  for (Index rank = 0; rank < world.ranks(); ++rank) {
    const std::span<Index> theirs = gather.output<Index>().subspan(static_cast<std::size_t>(rank) * row, row);
    if (theirs.front() != count)
      fail(Code::invalid_argument, "{}: rank {} gives {} lengths for {} ranks", call, rank, theirs.front(), count);
    for (const Index length : theirs.subspan(1)) {
      if (length < 0) fail(Code::invalid_argument, "{}: rank {} gives a length of {} bytes", call, rank, length);
      all.push_back(length);
    }
  }
  return all;
}

Request all_to_all_request(World& world, Index n) {
  return {.call = fmt::format("all_to_all of {} bytes to each rank", n),
          .job = [ranks = world.ranks(), n] { return collective::all_to_all_job(ranks, n); }};
}

Request all_to_all_v_request(World& world, const std::vector<Index>& lengths) {
  return {.call = "all_to_all_v",
          .job = [ranks = world.ranks(), lengths] { return collective::all_to_all_v_job(ranks, lengths); }};
}

Request all_gather_request(std::string call, const std::vector<Index>& lengths) {
  return {.call = std::move(call), .job = [lengths] { return collective::all_gather_job(lengths); }};
}

Request broadcast_request(World& world, Index n, RankId root) {
  return {.call = fmt::format("broadcast of {} bytes from rank {}", n, root.value()),
          .job = [ranks = world.ranks(), n, root] { return collective::broadcast_job(ranks, n, root); },
          .shares_window = true};
}

Request reduce_scatter_request(World& world, const std::vector<Index>& parts, Dtype dtype, ReduceOp op) {
  return {.call = fmt::format("reduce_scatter of [{}] {} by {}", fmt::join(parts, ", "), name_of(dtype), name_of(op)),
          .job = [ranks = world.ranks(), parts, dtype, op] {
            return collective::reduce_scatter_job(ranks, parts, dtype, op);
          }};
}

Request all_reduce_request(World& world, Index elements, Dtype dtype, ReduceOp op) {
  return {.call = fmt::format("all_reduce of {} {} by {}", elements, name_of(dtype), name_of(op)),
          .job = [ranks = world.ranks(), elements, dtype, op] {
            return collective::all_reduce_job(ranks, elements, dtype, op);
          }};
}

}  // namespace

AllToAll::AllToAll(World& world, Index bytes_per_peer, const CollectiveOptions& options)
    : Collective(world, all_to_all_request(world, bytes_per_peer), options) {}

AllToAllV::AllToAllV(World& world, const std::vector<Index>& bytes_to, const CollectiveOptions& options)
    : AllToAllV(gathered(world, "all_to_all_v", bytes_to, world.ranks()), world, options) {}

AllToAllV::AllToAllV(const std::vector<Index>& lengths, World& world, const CollectiveOptions& options)
    : Collective(world, all_to_all_v_request(world, lengths), options) {
  const Index ranks = world.ranks(), me = world.rank().value();
  std::vector<Index> in;
  for (Index peer = 0; peer < ranks; ++peer) in.push_back(lengths[static_cast<std::size_t>(peer * ranks + me)]);
  input_offsets_ = collective::offsets_of(std::span(lengths).subspan(static_cast<std::size_t>(me * ranks), in.size()));
  output_offsets_ = collective::offsets_of(in);
}

AllGather::AllGather(World& world, Index bytes, const CollectiveOptions& options)
    : Collective(world,
                 all_gather_request(fmt::format("all_gather of {} bytes of each rank", bytes), on_all(world, bytes)),
                 options) {}

AllGatherV::AllGatherV(World& world, Index bytes, const CollectiveOptions& options)
    : AllGatherV(gathered(world, "all_gather_v", std::span(&bytes, 1), 1), world, options) {}

AllGatherV::AllGatherV(const std::vector<Index>& lengths, World& world, const CollectiveOptions& options)
    : Collective(world, all_gather_request("all_gather_v", lengths), options),
      offsets_(collective::offsets_of(lengths)) {}

Broadcast::Broadcast(World& world, Index bytes, RankId root, const CollectiveOptions& options)
    : Collective(world, broadcast_request(world, bytes, root), options) {}

ReduceScatter::ReduceScatter(World& world, Index elements, Dtype dtype, ReduceOp op, const CollectiveOptions& options)
    : ReduceScatter(world, on_all(world, elements), dtype, op, options) {}

ReduceScatter::ReduceScatter(World& world, const std::vector<Index>& elements, Dtype dtype, ReduceOp op,
                             const CollectiveOptions& options)
    : Collective(world, reduce_scatter_request(world, elements, dtype, op), options) {}

AllReduce::AllReduce(World& world, Index elements, Dtype dtype, ReduceOp op, const CollectiveOptions& options)
    : Collective(world, all_reduce_request(world, elements, dtype, op), options) {}

}  // namespace reshard

#include "rank_files.h"

#include <fmt/ranges.h>

#include "oracle/ownership.h"
#include "reshard/checkpoint.h"

namespace reshard::test {
namespace {

std::vector<Index> extents_of(const oracle::Part& part) {
  std::vector<Index> extents;
  for (const oracle::Line& line : part.logical) extents.push_back(std::ssize(line));
  return extents;
}

// One rank's stored tensor, as its parts say.
class ExpectedTensor {
 public:
  ExpectedTensor(const ModelLayout& layout, const StoredTensor& stored, const SmallModel& model, RankId rank)
      : dim_(static_cast<std::size_t>(stored.dim)) {
    std::vector<oracle::Part> parts;
    for (const int place : stored.parts) {
      const ModelTensor& tensor = layout.tensors()[static_cast<std::size_t>(place)];
      parts.push_back(oracle::ownership_of(layout.layout(tensor)).parts.at(rank.value()));
      held_ = parts.back().held;
      size_ = bytes_of(tensor.tensor.dtype);
    }
    if (!held_) return;
    shape_ = extents_of(parts.front());
    for (std::size_t k = 1; k < parts.size(); ++k) shape_[dim_] += extents_of(parts[k])[dim_];
    bytes_.assign(static_cast<std::size_t>(oracle::product(shape_) * size_), '\0');
    Index before = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const TensorInfo& whole = layout.tensors()[static_cast<std::size_t>(stored.parts[k])].tensor;
      place(parts[k], whole.shape, model.bytes.at(whole.name), before);
      if (!shape_.empty()) before += extents_of(parts[k])[dim_];
    }
  }

  bool held() const { return held_; }
  const std::vector<Index>& shape() const { return shape_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void place(const oracle::Part& part, const std::vector<Index>& whole_shape, const std::string& whole, Index before) {
    oracle::each_index(extents_of(part), [&](std::vector<Index> local) {
      std::vector<Index> global;
      for (std::size_t d = 0; d < local.size(); ++d)
        global.push_back(part.logical[d][static_cast<std::size_t>(local[d])]);
      if (std::ranges::find(global, oracle::hole) != global.end()) return;
      if (!local.empty()) local[dim_] += before;
      const Index from = oracle::linear_index(global, whole_shape), to = oracle::linear_index(local, shape_);
      std::memcpy(bytes_.data() + to * size_, whole.data() + from * size_, static_cast<std::size_t>(size_));
    });
  }

  std::size_t dim_;
  bool held_ = false;
  Index size_ = 1;
  std::vector<Index> shape_;
  std::string bytes_;
};

}  // namespace

void expect_rank_files(const std::string& folder, const SmallModel& model) {
  const Checkpoint checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.manifest()) << folder;
  const ModelLayout& layout = checkpoint.manifest()->model;
  std::size_t expected_tensors = 0;
  for (int file = 0; file < std::ssize(checkpoint.files()); ++file) {
    const RankId rank = checkpoint.files()[static_cast<std::size_t>(file)].rank;
    const std::string bytes = read_file(checkpoint.path_of(file));
    for (const StoredTensor& stored : layout.stored()) {
      const ExpectedTensor expected(layout, stored, model, rank);
      const CheckpointTensor* found = checkpoint.find(stored.name, rank);
      ASSERT_EQ(found != nullptr, expected.held()) << stored.name << " of rank " << rank.value();
      if (!expected.held()) continue;
      ++expected_tensors;
      ASSERT_EQ(found->tensor.shape, expected.shape()) << stored.name << " of rank " << rank.value();
      const std::string_view there =
          std::string_view(bytes).substr(static_cast<std::size_t>(found->offset), expected.bytes().size());
      const auto [at, other] = std::ranges::mismatch(there, expected.bytes());
      EXPECT_TRUE(there == expected.bytes())
          << fmt::format("{}: {} [{}] of rank {} differs at byte {} of {}", folder, stored.name,
                         fmt::join(expected.shape(), ","), rank.value(), at - there.begin(), expected.bytes().size());
    }
  }
  EXPECT_EQ(checkpoint.tensors().size(), expected_tensors) << folder;
}

}  // namespace reshard::test

// The ready-made model files on the names and shapes of published models.
#include <chrono>
#include <set>

#include "files.h"
#include "reshard/checkpoint.h"
#include "reshard/model.h"

namespace reshard {
namespace {

struct Case {
  const char* list;
  const char* rules;
  const char* mesh;
  std::size_t tensors;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.list << " " << c.rules << " " << c.mesh; }

class RealModel : public testing::TestWithParam<Case> {};

TensorList list(const std::string& name) { return load_tensor_list(RESHARD_DATA "/real/" + name + ".shapes.tsv"); }

ModelLayout lay(const std::string& rules, const TensorList& tensors, const char* on) {
  ResolveSettings settings;
  settings.mesh = mesh(on);
  settings.config = tensors.config_text;
  return resolve(load_model_rules(RESHARD_MODELS "/" + rules + ".yaml"), tensors.tensors, settings);
}

// Every element of the dimension is held by somebody: the union of the ranks' segments, dimension by dimension, for
// ranks at which all other dimensions are held in part.
void expect_covered(const Layout& layout) {
  std::set<std::vector<std::pair<Index, Index>>> boxes;
  for (Index i = 0; i < layout.mesh().size(); ++i) {
    const Region region = layout.region(layout.mesh().rank_at_ordinal(i));
    if (region.elements() == 0) continue;
    std::vector<Segments> dims = region.dims;
    std::vector<std::size_t> at(dims.size());
    for (;;) {
      std::vector<std::pair<Index, Index>> box;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        box.emplace_back(dims[d][at[d]].global.value(), dims[d][at[d]].length);
      }
      boxes.insert(box);
      std::size_t d = 0;
      while (d < at.size() && ++at[d] == dims[d].size()) at[d++] = 0;
      if (d == at.size()) break;
    }
  }
  Index held = 0;
  for (const auto& box : boxes) {
    Index elements = 1;
    for (const auto& [begin, length] : box) elements *= length;
    held += elements;
  }
  EXPECT_EQ(held, layout.elements()) << layout.text();  // equal boxes are copies, and no two others overlap
}

TEST_P(RealModel, EveryTensorHasALayoutThatCoversIt) {
  const Case c = GetParam();
  const auto begin = std::chrono::steady_clock::now();
  const TensorList tensors = list(c.list);
  const ModelLayout model = lay(c.rules, tensors, c.mesh);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  RecordProperty("seconds", std::to_string(time.count()));
  EXPECT_EQ(tensors.tensors.size(), c.tensors);
  std::set<std::string_view> stored;
  for (const StoredTensor& s : model.stored()) {
    Index holders = 0;
    for (Index i = 0; i < model.mesh().size(); ++i) holders += model.holds(s, model.mesh().rank_at_ordinal(i)) ? 1 : 0;
    EXPECT_GT(holders, 0) << s.name;
    EXPECT_TRUE(stored.insert(s.name).second);
  }
  for (const Layout& layout : model.layouts()) expect_covered(layout);
}

INSTANTIATE_TEST_SUITE_P(Published, RealModel,
                         testing::Values(Case{"llama3.1-70b", "llama", "trainer(pp=4, dp=2, tp=8)", 723},
                                         Case{"llama3.1-70b", "llama", "trainer(pp=3, fsdp=5, tp=6)", 723},
                                         Case{"llama3.1-70b", "llama-packed", "inference(dp=4, tp=4)", 723},
                                         Case{"llama3.1-70b", "llama-packed", "inference(tp=3)@8", 723},
                                         Case{"llama3.1-70b", "llama", "()", 723},
                                         Case{"mixtral-8x22b", "mixtral", "(ep=8, tp=2)", 1739},
                                         Case{"mixtral-8x22b", "mixtral-packed", "(tp=8)", 1739},
                                         Case{"mixtral-8x22b", "mixtral", "(pp=5, ep=3, fsdp=2, tp=1)", 1739},
                                         Case{"qwen2.5-14b", "qwen2", "(pp=2, fsdp=3, tp=8)", 579},
                                         Case{"qwen2.5-14b", "qwen2-packed", "(tp=7)", 579},
                                         Case{"qwen1-72b", "qwen1", "(pp=4, tp=8)", 643},
                                         Case{"qwen1-72b", "qwen1", "(fsdp=2, tp=3)", 643},
                                         Case{"all-minilm-l6-v2", "bert", "trainer(fsdp=2, tp=2)", 104},
                                         Case{"all-minilm-l6-v2", "bert-packed", "inference(tp=3)", 104},
                                         Case{"qwen3.5-moe-25b", "qwen3-moe", "(tp=8)", 22213},
                                         Case{"qwen3.5-moe-25b", "qwen3-moe", "(pp=2, fsdp=2, ep=7, tp=3)", 22213}));

TEST(RealModels, TwoKeyValueHeadsOnEightRanks) {
  const ModelLayout model = lay("qwen3-moe", list("qwen3.5-moe-25b"), "(tp=8)");
  const std::string prefix = "model.language_model.layers.3.self_attn.";
  const Layout& k = model.layout(*model.find(prefix + "k_proj.weight"));
  const Layout& q = model.layout(*model.find(prefix + "q_proj.weight"));
  for (Index rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(k.region(RankId(rank)).dims[0][0].global.value(), rank / 4 * 256) << rank;
    EXPECT_EQ(length_of(k.region(RankId(rank)).dims[0]), 256);
    EXPECT_EQ(q.region(RankId(rank)).dims[0][0].global.value(), rank * 1024) << rank;  // two heads with their gates
    EXPECT_EQ(length_of(q.region(RankId(rank)).dims[0]), 1024);
  }
}

TEST(RealModels, LinearAttentionKeepsValueHeadsWithTheirKeyHead) {
  const ModelLayout model = lay("qwen3-moe", list("qwen3.5-moe-25b"), "(tp=3)");
  const std::string prefix = "model.language_model.layers.0.linear_attn.";
  const Segments qkv = model.layout(*model.find(prefix + "in_proj_qkv.weight")).region(RankId(1)).dims[0];
  // 16 key heads over 3 ranks: 6, 5, 5. Rank 1 has key heads 6..10 of q and of k, and value heads 12..21.
  ASSERT_EQ(qkv.size(), 3u);
  EXPECT_EQ(qkv[0], (Segment{LocalIndex(0), GlobalIndex(6 * 128), 5 * 128}));
  EXPECT_EQ(qkv[1], (Segment{LocalIndex(5 * 128), GlobalIndex(2048 + 6 * 128), 5 * 128}));
  EXPECT_EQ(qkv[2], (Segment{LocalIndex(10 * 128), GlobalIndex(4096 + 12 * 128), 10 * 128}));
  EXPECT_EQ(model.layout(*model.find(prefix + "A_log")).region(RankId(1)).dims[0][0],
            (Segment{LocalIndex(0), GlobalIndex(12), 10}));
}

TEST(RealModels, VocabularyThatDoesNotDivide) {
  const ModelLayout model = lay("qwen2", list("qwen2.5-14b"), "(tp=8)");
  const Layout& head = model.layout(*model.find("lm_head.weight"));
  Index rows = 0;
  for (Index rank = 0; rank < 8; ++rank) rows += length_of(head.region(RankId(rank)).dims[0]);
  EXPECT_EQ(rows, 151665);
}

TEST(RealModels, IndexAndShapesAgreeForEveryModel) {
  for (const char* name : {"llama3.1-70b", "mixtral-8x22b", "qwen1-72b", "qwen2.5-14b"}) {
    EXPECT_TRUE(std::filesystem::exists(RESHARD_DATA "/real/" + std::string(name) + ".index.json"));
    EXPECT_FALSE(list(name).tensors.empty());
  }
}

}  // namespace
}  // namespace reshard

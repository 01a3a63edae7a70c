#include "reshard/model.h"

#include "files.h"

namespace reshard {
namespace {

using test::message_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ModelRules rules(const std::string& text) { return model_rules(text, "m.yaml"); }
std::string rules_fault(const std::string& text) {
  return message_of(Code::invalid_argument, [&] { rules(text); });
}

const char* const kSimple = R"(
axes: [pp, tp]
mesh: (pp=2, tp=3)
parameters: {layers: 5, unit: 2}
rules:
  - {match: "layers.{layer}.w", layout: "{0: tp:balanced/${unit}, pp: at(${layer * pp / layers})}"}
  - {match: "layers.{layer}.norm", layout: "{pp: at(${layer * pp / layers})}"}
  - {match: "head", layout: "{1: tp}"}
)";

TEST(ModelRules, FaultsNameLineAndNearestKey) {
  EXPECT_THAT(rules_fault("rules:\n- mtach: a\n  layout: x\n"),
              AllOf(HasSubstr("m.yaml:2"), HasSubstr("no key 'mtach' (did you mean 'match'?)")));
  EXPECT_THAT(rules_fault("axis: [tp]\n"), HasSubstr("no key 'axis' (did you mean 'axes'?)"));
  EXPECT_THAT(rules_fault("model: a\nmodel: b\n"), HasSubstr("m.yaml:2: key 'model' appears twice"));
  EXPECT_THAT(rules_fault("rules: {a: 1}\n"), HasSubstr("rules must be a list"));
  EXPECT_THAT(rules_fault("[]"), HasSubstr("must be a mapping"));
  EXPECT_THAT(rules_fault(""), HasSubstr("must be a mapping"));
  EXPECT_THAT(rules_fault("a: [\n"), HasSubstr("m.yaml:"));
  EXPECT_THAT(rules_fault("model: x\n"), HasSubstr("needs rules"));
  EXPECT_THAT(rules_fault("form: rank\nrules: []\n"), HasSubstr("form is 'rank'"));
  EXPECT_THAT(rules_fault("rules: [{match: a, layout: '{}', priority: high}]"),
              HasSubstr("'high', not a whole number"));
  EXPECT_THAT(rules_fault("rules: [{match: a}]"), HasSubstr("needs 'layout'"));
  EXPECT_THAT(rules_fault("rules: [{layout: a}]"), HasSubstr("needs 'match'"));
  EXPECT_THAT(rules_fault("fuse: [{store: a}]"), HasSubstr("needs 'parts'"));
  EXPECT_THAT(rules_fault("form: files\nfuse: [{store: a, dim: -1, parts: [b]}]"), HasSubstr("dim counts from 0"));
}

TEST(Model, ResolvesStagesUnitsAndAxes) {
  const std::vector<TensorInfo> tensors = {{"layers.0.w", Dtype::f32, {10, 4}},
                                           {"layers.4.w", Dtype::f32, {10, 4}},
                                           {"layers.4.norm", Dtype::bf16, {7}},
                                           {"head", Dtype::f32, {2, 7}}};
  const ModelLayout model = resolve(rules(kSimple), tensors);
  EXPECT_EQ(model.layout(*model.find("layers.0.w")), layout("f32[10,4] on (pp=2, tp=3) {0: tp:balanced/2, pp: at(0)}"));
  EXPECT_EQ(model.layout(*model.find("layers.4.norm")), layout("bf16[7] on (pp=2, tp=3) {pp: at(1)}"));
  EXPECT_EQ(model.find("layers.1.w"), nullptr);
  const StoredTensor& last = model.stored()[1];
  EXPECT_EQ(last.name, "layers.4.w");
  EXPECT_FALSE(model.holds(last, RankId(2)));
  EXPECT_FALSE(model.holds(last, RankId(6)));
  ASSERT_TRUE(model.holds(last, RankId(5)));
  EXPECT_EQ(model.local_shape(last, RankId(3)), (std::vector<Index>{4, 4}));
  EXPECT_EQ(model.local_shape(last, RankId(5)), (std::vector<Index>{2, 4}));
  EXPECT_EQ(model.stored_on(RankId(0)),
            (std::vector<TensorInfo>{{"layers.0.w", Dtype::f32, {4, 4}}, {"head", Dtype::f32, {2, 3}}}));
  EXPECT_EQ(model.stored_on(RankId(9)), std::vector<TensorInfo>{});
}

TEST(Model, AxesThatTheMeshLacksAreDropped) {
  const std::vector<TensorInfo> tensors = {{"layers.4.w", Dtype::f32, {10, 4}}};
  ResolveSettings settings;
  settings.mesh = mesh("(tp=2)@8");
  const ModelLayout model = resolve(rules(kSimple), tensors, settings);
  EXPECT_EQ(model.layouts()[0], layout("f32[10,4] on (tp=2)@8 {0: tp:balanced/2}"));
  settings.mesh = mesh("()");
  EXPECT_EQ(resolve(rules(kSimple), tensors, settings).layouts()[0].region(RankId(0)).elements(), 40);
  settings.mesh = mesh("(tp=2, cp=2)");
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { resolve(rules(kSimple), tensors, settings); }),
              HasSubstr("has the axis 'cp', which 'axes' does not list"));
}

TEST(Model, EmptyShardIsHeldWithAZeroDimension) {  // P5
  ResolveSettings settings;
  settings.mesh = mesh("(tp=4)");
  const ModelLayout model = resolve(rules("axes: [tp]\nrules: [{match: t, layout: '{0: tp}'}]"),
                                    std::vector<TensorInfo>{{"t", Dtype::f32, {6}}}, settings);
  EXPECT_EQ(model.stored_on(RankId(2)), (std::vector<TensorInfo>{{"t", Dtype::f32, {2}}}));
  EXPECT_EQ(model.stored_on(RankId(3)), (std::vector<TensorInfo>{{"t", Dtype::f32, {0}}}));
}

TEST(Model, Precedence) {
  const auto text_of = [](const std::string& list) {
    const ModelLayout model = resolve(rules("axes: [tp]\nmesh: (tp=2)\nrules: " + list),
                                      std::vector<TensorInfo>{{"a.w", Dtype::f32, {4, 4}}});
    return model.layouts()[0].text();
  };
  EXPECT_THAT(text_of("[{match: '*.w', layout: '{0: tp}'}, {match: a.w, layout: '{1: tp}'}]"), HasSubstr("{1: tp}"));
  EXPECT_THAT(text_of("[{match: '*.w', layout: '{0: tp}', priority: 1}, {match: a.w, layout: '{1: tp}'}]"),
              HasSubstr("{0: tp}"));
  EXPECT_THAT(message_of(Code::invalid_argument,
                         [&] { text_of("[{match: '*.w', layout: '{0: tp}'}, {match: 'a.*', layout: '{1: tp}'}]"); }),
              AllOf(HasSubstr("'a.w' matches two rules of one precedence"), HasSubstr("\"*.w\" (m.yaml:3)"),
                    HasSubstr("\"a.*\" (m.yaml:3)")));
}

TEST(Model, UnmatchedNamesShowTheNearestAndAreReportedTogether) {
  std::vector<TensorInfo> tensors;
  for (int i = 0; i < 13; ++i) tensors.push_back({"layers." + std::to_string(i) + ".nrom", Dtype::f32, {4}});
  const std::string message = message_of(Code::invalid_argument, [&] { resolve(rules(kSimple), tensors); });
  EXPECT_THAT(message, HasSubstr("13 problems"));
  EXPECT_THAT(message, HasSubstr("no rule matches tensor 'layers.0.nrom'; the nearest are \"layers.{layer}.norm\""));
  EXPECT_THAT(message, HasSubstr("layers.9.nrom"));
  EXPECT_THAT(message, Not(HasSubstr("layers.10.nrom")));
  EXPECT_THAT(message, HasSubstr("and 3 more"));
}

TEST(Model, FaultsOfLayoutsNameTensorAndRule) {
  const std::vector<TensorInfo> tensors = {{"layers.9.w", Dtype::f32, {10, 4}}, {"head", Dtype::f32, {7}}};
  const std::string message = message_of(Code::invalid_argument, [&] { resolve(rules(kSimple), tensors); });
  EXPECT_THAT(message, AllOf(HasSubstr("tensor 'layers.9.w': rule \"layers.{layer}.w\" (m.yaml:6)"), HasSubstr("at(3)"),
                             HasSubstr("tensor 'head': rule \"head\" (m.yaml:8)")));
}

TEST(Model, ParametersOfCallerConfigAndDefaults) {
  const std::string text = R"(
axes: [tp]
mesh: (tp=2)
parameters: {unit: 1, twice: 2 * unit}
config: {unit: [missing / (missing - 1), text_config.head_dim / 2]}
rules: [{match: t, layout: "{0: tp:balanced/${twice}}"}]
)";
  const std::vector<TensorInfo> tensors = {{"t", Dtype::f32, {24}}};
  const auto unit = [&](ResolveSettings settings) {
    return resolve(rules(text), tensors, settings).layouts()[0].spec().cuts[0][0].unit;
  };
  EXPECT_EQ(unit({}), 2);
  EXPECT_EQ(unit({.mesh = {}, .form = {}, .config = R"({"text_config":{"head_dim":6}})", .parameters = {}}), 6);
  EXPECT_EQ(unit({.mesh = {}, .form = {}, .config = R"({"text_config":{"head_dim":6}})", .parameters = {{"unit", 4}}}),
            8);
}

TEST(Model, SplitMustFillItsAxis) {
  const std::string text = "axes: [tp]\nsplit: {tp: {kv: '2', rep: tp / kv}}\nrules: [{match: t, layout: '{0: kv}'}]\n";
  const std::vector<TensorInfo> tensors = {{"t", Dtype::f32, {4}}};
  ResolveSettings settings;
  settings.mesh = mesh("(dp=1, tp=8)");
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { resolve(rules(text), tensors, settings); }), HasSubstr("'dp'"));
  settings.mesh = mesh("(tp=8:3)@5");
  const ModelLayout model = resolve(rules(text), tensors, settings);
  EXPECT_EQ(model.mesh().axes(), (std::vector<Axis>{{"kv", 2}, {"rep", 4}}));
  EXPECT_EQ(model.mesh().rank_at_ordinal(5), RankId(20));
  settings.mesh = mesh("(tp=3)");
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { resolve(rules(text), tensors, settings); }),
              HasSubstr("split of tp=3 into kv=2, rep=1 has 2 places"));
}

const char* const kFused = R"(
axes: [tp]
parameters: {heads: 8, kv_heads: 2}
split: {tp: {kv: 'divisor(tp, kv_heads)', rep: tp / kv}}
rules:
  - {match: "{n}.q", layout: "{0: kv:balanced/${heads / kv_heads} rep:balanced}"}
  - {match: "{n}.k", layout: "{0: kv:balanced}"}
  - {match: "{n}.v", layout: "{0: kv:balanced}"}
fuse:
  - store: "{n}.qkv"
    dim: 0
    parts: [{name: "{n}.q", size: heads}, {name: "{n}.k", size: kv_heads}, {name: "{n}.v", size: kv_heads}]
)";

ResolveSettings on(const char* text) {
  ResolveSettings settings;
  settings.mesh = mesh(text);
  return settings;
}

TEST(Model, M2_KeyValueHeadsFewerThanRanksAreReplicas) {
  const std::vector<TensorInfo> tensors = {{"0.qkv", Dtype::f32, {12, 3}}};
  const ModelLayout model = resolve(rules(kFused), tensors, on("(tp=4)"));
  const Layout& k = model.layout(*model.find("0.k"));
  EXPECT_EQ(k.shape(), (std::vector<Index>{2, 3}));  // 2 heads in all, whatever the number of copies
  for (Index rank = 0; rank < 4; ++rank) {
    const Region held = k.region(RankId(rank));
    ASSERT_EQ(held.dims[0].size(), 1u);
    EXPECT_EQ(held.dims[0][0].global, GlobalIndex(rank / 2)) << "rank " << rank;
    EXPECT_EQ(held.dims[0][0].length, 1);
    EXPECT_EQ(model.layout(*model.find("0.q")).region(RankId(rank)).dims[0][0].global, GlobalIndex(2 * rank));
  }
}

TEST(Model, M4_FusedShardsArePartsInOrder) {
  const std::string text = R"(
axes: [tp]
rules: [{match: q, layout: "{0: tp}"}, {match: k, layout: "{0: tp}"}, {match: v, layout: "{0: tp}"}]
fuse: [{store: qkv, dim: 0, parts: [q, k, v]}]
)";
  const std::vector<TensorInfo> tensors = {{"v", Dtype::i32, {2}}, {"q", Dtype::i32, {2}}, {"k", Dtype::i32, {2}}};
  const ModelLayout model = resolve(rules(text), tensors, on("(tp=2)"));
  ASSERT_EQ(model.stored().size(), 1u);
  const StoredTensor& qkv = model.stored()[0];
  std::vector<std::string> order;
  for (const int part : qkv.parts) order.push_back(model.tensors()[static_cast<std::size_t>(part)].tensor.name);
  EXPECT_EQ(order, (std::vector<std::string>{"q", "k", "v"}));
  EXPECT_EQ(model.local_shape(qkv, RankId(1)), (std::vector<Index>{3}));
  for (int part = 0; part < 3; ++part) {
    const LocalStorage storage = model.part_storage(qkv, part, RankId(1));
    EXPECT_EQ(storage, (LocalStorage{.extents = {1}, .strides = {1}, .offset = part, .elements = 3}));
  }
}

TEST(Model, PartsOfUnevenHeadsAndAnInnerDimension) {
  // 8 heads over 3 ranks: 3, 3, 2 rows of q; k is not cut. Joined along dimension 1.
  const std::string text = R"(
axes: [tp]
rules: [{match: q, layout: "{1: tp:balanced/2}"}, {match: k, layout: "{}"}]
fuse: [{store: qk, dim: 1, parts: [q, k]}]
)";
  const std::vector<TensorInfo> tensors = {{"q", Dtype::f32, {5, 16}}, {"k", Dtype::f32, {5, 3}}};
  const ModelLayout model = resolve(rules(text), tensors, on("(tp=3)"));
  const StoredTensor& qk = model.stored()[0];
  EXPECT_EQ(model.local_shape(qk, RankId(0)), (std::vector<Index>{5, 9}));
  EXPECT_EQ(model.local_shape(qk, RankId(2)), (std::vector<Index>{5, 7}));
  EXPECT_EQ(model.part_storage(qk, 1, RankId(2)),
            (LocalStorage{.extents = {5, 3}, .strides = {7, 1}, .offset = 4, .elements = 35}));
}

TEST(Model, FusedTensorsAreTakenApartBySize) {
  const std::vector<TensorInfo> tensors = {{"7.qkv", Dtype::f32, {12, 3}}};
  const ModelLayout model = resolve(rules(kFused), tensors, on("(tp=2)"));
  EXPECT_EQ(model.tensors().size(), 3u);
  EXPECT_EQ(model.find("7.q")->tensor.shape, (std::vector<Index>{8, 3}));
  EXPECT_EQ(model.stored()[0].name, "7.qkv");
  const auto fault = [&](std::vector<Index> shape, ResolveSettings settings) {
    settings.mesh = mesh("(tp=2)");
    return message_of(Code::invalid_argument, [&] {
      resolve(rules(kFused), std::vector<TensorInfo>{{"7.qkv", Dtype::f32, shape}}, settings);
    });
  };
  EXPECT_THAT(fault({13, 3}, {}), HasSubstr("add up to 12 of the 13"));
  EXPECT_THAT(fault({}, {}), HasSubstr("0 dimensions"));
  // L5: a negative length is an error, also where the sum fits.
  EXPECT_THAT(fault({12, 3}, {.mesh = {}, .form = {}, .config = "", .parameters = {{"heads", 16}, {"kv_heads", -2}}}),
              HasSubstr("-2"));
}

TEST(Model, PartsThatDoNotFit) {
  const auto fault = [](const std::string& k_layout, TensorInfo k, const std::string& extra = "") {
    const std::string text =
        "axes: [pp, tp]\nmesh: (pp=2, tp=2)\nrules: [{match: q, layout: '{0: tp, pp: at(0)}'}, {match: k, layout: '" +
        k_layout + "'}]\nfuse: [{store: qk, dim: 0, parts: [q, k]}" + extra + "]\n";
    return message_of(Code::invalid_argument, [&] {
      resolve(rules(text), std::vector<TensorInfo>{{"q", Dtype::f32, {4, 6}}, std::move(k)});
    });
  };
  EXPECT_THAT(fault("{0: tp, pp: at(0)}", {"k", Dtype::bf16, {4, 6}}), HasSubstr("dtypes f32 and bf16"));
  EXPECT_THAT(fault("{0: tp, pp: at(0)}", {"k", Dtype::f32, {4, 5}}), HasSubstr("extents 6 and 5 of dimension 1"));
  EXPECT_THAT(fault("{0: tp, pp: at(0)}", {"k", Dtype::f32, {4}}), HasSubstr("2 and 1 dimensions"));
  EXPECT_THAT(fault("{1: tp, pp: at(0)}", {"k", Dtype::f32, {4, 6}}), HasSubstr("different cuts of dimension 1"));
  EXPECT_THAT(fault("{0: tp, pp: at(1)}", {"k", Dtype::f32, {4, 6}}), HasSubstr("different at(..) axes"));
  EXPECT_THAT(fault("{0: tp, pp: at(0)}", {"k", Dtype::f32, {4, 6}}, ", {store: other, dim: 0, parts: [k, q]}"),
              HasSubstr("part of two fused tensors"));
}

TEST(Model, FusedTensorThatLacksAPart) {
  const std::vector<TensorInfo> tensors = {{"0.q", Dtype::f32, {8}}, {"0.k", Dtype::f32, {2}}};
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { resolve(rules(kFused), tensors, on("(tp=2)")); }),
              HasSubstr("fused tensor '0.qkv' lacks its part '0.v' (did you mean '0.q'?)"));
}

TEST(Model, L3_TwoClaimsOnOneNameAreRefused) {
  const std::vector<TensorInfo> tensors = {{"head", Dtype::f32, {2, 7}}, {"head", Dtype::f32, {2, 7}}};
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { resolve(rules(kSimple), tensors); }),
              HasSubstr("tensor 'head' is given twice"));
}

TEST(Model, P4_StorageThatAFileCannotSayIsRefused) {
  const std::string text = "axes: [tp]\nmesh: (tp=2)\nrules: [{match: t, layout: '{0: tp} order(1,0)'}]\n";
  EXPECT_THAT(message_of(Code::invalid_argument,
                         [&] {
                           resolve(rules(text), std::vector<TensorInfo>{{"t", Dtype::f32, {4, 6}}});
                         }),
              HasSubstr("files hold row-major tensors"));
}

TEST(Model, WholeTensorsOnOneRank) {
  const ModelLayout model = whole_tensors(std::vector<TensorInfo>{{"a", Dtype::f32, {3}}, {"b", Dtype::u8, {}}});
  EXPECT_EQ(model.form(), Form::files);
  EXPECT_EQ(model.stored_on(RankId(0)), (std::vector<TensorInfo>{{"a", Dtype::f32, {3}}, {"b", Dtype::u8, {}}}));
  EXPECT_THAT(message_of(Code::invalid_argument,
                         [] {
                           ResolveSettings settings = on("(tp=2)");
                           settings.form = Form::files;
                           resolve(rules(kSimple), std::vector<TensorInfo>{{"head", Dtype::f32, {2, 7}}}, settings);
                         }),
              HasSubstr("has 2"));
}

TEST(Model, BaseFilesAreReadFirst) {
  const test::TempFolder folder;
  test::write_file(folder / "base.yaml", kSimple);
  test::write_file(folder / "sub/top.yaml",
                   "base: ../base.yaml\nmesh: (tp=2)\nparameters: {unit: 5}\nrules: [{match: extra, layout: '{}'}]\n");
  const ModelRules merged = load_model_rules(folder / "sub/top.yaml");
  const ModelLayout model =
      resolve(merged, std::vector<TensorInfo>{{"layers.4.w", Dtype::f32, {10, 4}}, {"extra", Dtype::f32, {3}}});
  EXPECT_EQ(model.layouts()[0], layout("f32[10,4] on (tp=2) {0: tp:balanced/5}"));
  test::write_file(folder / "loop.yaml", "base: loop.yaml\n");
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { load_model_rules(folder / "loop.yaml"); }),
              HasSubstr("stand on each other"));
}

}  // namespace
}  // namespace reshard

#include "format/model_mesh.h"

#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "format/config_values.h"
#include "format/nearest.h"

namespace reshard {

namespace {

constexpr Index kMaxSplitRanks = 1 << 22;

std::optional<Index> look_up(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

// The first alternative whose keys all exist.
std::optional<Index> from_config(const ConfigValue& value, const Values& config) {
  for (const std::string& alternative : value.alternatives) {
    bool missing = false;
    const auto lookup = [&](std::string_view key) {
      const auto found = look_up(config, key);
      missing = missing || !found;
      return std::optional(found.value_or(1));
    };
    try {
      const Index result = evaluate(alternative, lookup);
      if (!missing) return result;
    } catch (const Error&) {
      if (!missing) throw;
    }
  }
  return std::nullopt;
}

// Axes of a mesh while it is being changed; groups name ranges of leaves.
struct Axes {
  std::vector<Axis> leaves;
  std::vector<AxisGroup> groups;

  Index size(AxisRange range) const {
    Index size = 1;
    for (int i = 0; i < range.count; ++i) size *= leaves[static_cast<std::size_t>(range.first + i)].size;
    return size;
  }
  void replace_leaf(int leaf, const std::vector<Axis>& parts) {
    const auto at = leaves.begin() + leaf;
    const std::string name = at->name;
    const int more = static_cast<int>(parts.size()) - 1;
    leaves.insert(leaves.erase(at), parts.begin(), parts.end());
    for (AxisGroup& group : groups) {
      if (group.leaves.first > leaf) {
        group.leaves.first += more;
      } else if (leaf < group.leaves.first + group.leaves.count) {
        group.leaves.count += more;
      }
    }
    groups.push_back({name, {leaf, static_cast<int>(parts.size())}});
  }
};

std::vector<Axis> evaluate_split(const ModelRules& rules, const AxisSplit& split, Index size, const Values& parameters,
                                 const Values& sizes) {
  std::vector<Axis> parts;
  Values known = parameters;
  known.insert(sizes.begin(), sizes.end());
  Index product = 1;
  for (const NamedExpression& part : split.parts) {
    const Index value = evaluate(part.expression, [&](std::string_view name) { return look_up(known, name); });
    if (value < 1) {
      fail(Code::invalid_argument, "{}: split of {}={}: {} = {} is {}; a sub-axis has at least one place", rules.source,
           split.axis, size, part.name, part.expression, value);
    }
    product = checked_mul(product, value, "size of a split axis");
    known[part.name] = value;
    parts.push_back({part.name, value});
  }
  if (product != size) {
    std::string text;
    for (const Axis& part : parts) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", part.name, part.size);
    fail(Code::invalid_argument, "{}: split of {}={} into {} has {} places; divisor(a, b) gives a size that divides",
         rules.source, split.axis, size, text, product);
  }
  return parts;
}

// A split axis of the caller's mesh that is split already must be split in the same way.
void check_split(const ModelRules& rules, const Axes& axes, AxisRange range, const AxisSplit& split,
                 const std::vector<Axis>& parts) {
  const auto first = axes.leaves.begin() + range.first;
  if (std::equal(first, first + range.count, parts.begin(), parts.end())) return;
  std::string text;
  for (const Axis& part : parts) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", part.name, part.size);
  fail(Code::invalid_argument, "{}: the mesh splits axis '{}' by itself, but the rules split it as ({}); give '{}={}'",
       rules.source, split.axis, text, split.axis, axes.size(range));
}

Mesh caller_mesh(const ModelRules& rules, const ResolveSettings& settings, Form form) {
  if (settings.mesh) return *settings.mesh;
  if (!rules.mesh.empty() && !(form == Form::files && settings.form)) return mesh(rules.mesh);
  if (form == Form::files) return Mesh();
  fail(Code::invalid_argument, "{}: no mesh; give one with 'mesh:' or on the command line", rules.source);
}

// The same ranks under other axes of the same row-major order.
Mesh with_axes(const Mesh& given, const Axes& axes) {
  if (given.axes() == axes.leaves) return given;
  if (given.size() > kMaxSplitRanks) {
    fail(Code::unsupported, "the mesh {} has more than {} ranks; write its split axes into the mesh", given.text(),
         kMaxSplitRanks);
  }
  std::vector<RankId> ranks;
  for (Index i = 0; i < given.size(); ++i) ranks.push_back(given.rank_at_ordinal(i));
  return Mesh::listed(given.name(), axes.leaves, std::move(ranks), axes.groups);
}

void check_axes_named(const ModelRules& rules, const Mesh& mesh) {
  for (const Axis& axis : mesh.axes()) {
    const auto named = [&](const std::string& name) {
      const auto range = mesh.find(name);
      if (!range) return false;
      return std::any_of(mesh.axes().begin() + range->first, mesh.axes().begin() + range->first + range->count,
                         [&](const Axis& leaf) { return leaf.name == axis.name; });
    };
    if (std::any_of(rules.axes.begin(), rules.axes.end(), named)) continue;
    fail(Code::invalid_argument, "{}: the mesh {} has the axis '{}', which 'axes' does not list{}", rules.source,
         mesh.text(), axis.name, did_you_mean(axis.name, rules.axes));
  }
}

}  // namespace

Form form_of(const ModelRules& rules, const ResolveSettings& settings) {
  return settings.form.value_or(rules.form.value_or(Form::ranks));
}

Values parameter_values(const ModelRules& rules, const ResolveSettings& settings) {
  Values values(settings.parameters.begin(), settings.parameters.end());
  if (!settings.config.empty()) {
    const Values config = config_values(settings.config, "config.json");
    for (const ConfigValue& value : rules.config) {
      if (values.contains(value.name)) continue;
      if (const auto found = from_config(value, config)) values[value.name] = *found;
    }
  }
  for (const NamedExpression& parameter : rules.parameters) {
    if (values.contains(parameter.name)) continue;
    values[parameter.name] =
        evaluate(parameter.expression, [&](std::string_view name) { return look_up(values, name); });
  }
  return values;
}

ModelMesh model_mesh(const ModelRules& rules, const ResolveSettings& settings, const Values& parameters) {
  const Form form = form_of(rules, settings);
  const Mesh given = caller_mesh(rules, settings, form);
  check_axes_named(rules, given);
  Axes axes{given.axes(), given.groups()};
  ModelMesh model;
  for (const std::string& name : rules.axes) {
    const auto range = given.find(name);
    model.sizes[name] = range ? axes.size(*range) : 1;
  }
  std::vector<std::pair<std::string, std::vector<Axis>>> missing;
  for (const AxisSplit& split : rules.split) {
    if (!model.sizes.contains(split.axis)) {
      fail(Code::invalid_argument, "{}: split of '{}', which 'axes' does not list{}", rules.source, split.axis,
           did_you_mean(split.axis, rules.axes));
    }
    const std::vector<Axis> parts = evaluate_split(rules, split, model.sizes[split.axis], parameters, model.sizes);
    for (const Axis& part : parts) model.sizes[part.name] = part.size;
    const auto range = Mesh("", axes.leaves, RankId(0), axes.groups).find(split.axis);
    if (!range) {
      missing.emplace_back(split.axis, parts);
    } else if (range->count > 1) {
      check_split(rules, axes, *range, split, parts);
    } else {
      axes.replace_leaf(range->first, parts);
    }
  }
  model.mesh = with_axes(given, axes);
  for (const std::string& name : rules.axes) {
    if (given.find(name)) continue;
    const auto split = std::find_if(missing.begin(), missing.end(), [&](const auto& m) { return m.first == name; });
    axes.leaves.push_back({name, 1});
    if (split != missing.end()) axes.replace_leaf(static_cast<int>(axes.leaves.size()) - 1, split->second);
  }
  model.full = Mesh("", axes.leaves, RankId(0), axes.groups);
  return model;
}

Layout without_missing_axes(const Layout& on_full, const ModelMesh& model) {
  LayoutSpec spec = on_full.spec();
  const std::size_t leaves = model.mesh.axes().size();
  for (std::vector<Cut>& cuts : spec.cuts) {
    for (Cut& cut : cuts) {
      std::erase_if(cut.axes, [&](int axis) { return static_cast<std::size_t>(axis) >= leaves; });
    }
    // What is left cuts by no axis, so it cuts nothing.
    std::erase_if(cuts, [](const Cut& cut) { return cut.axes.empty(); });
  }
  spec.kinds.resize(std::min(spec.kinds.size(), leaves));
  spec.mesh = model.mesh;
  return Layout(std::move(spec));
}

}  // namespace reshard

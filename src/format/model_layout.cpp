#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/fail.h"
#include "format/problems.h"
#include "reshard/model.h"

namespace reshard {

namespace {

bool row_major(const Layout& layout) {
  const StorageOrder& storage = layout.spec().storage;
  return storage == StorageOrder{} && !layout.is_view();
}

// The cuts of a dimension; a spec may leave out trailing ones.
const std::vector<Cut>& cuts_of(const LayoutSpec& spec, int dim) {
  static const std::vector<Cut> none;
  return static_cast<std::size_t>(dim) < spec.cuts.size() ? spec.cuts[static_cast<std::size_t>(dim)] : none;
}

// Coordinates at which the tensor exists, per axis; -1 = everywhere.
std::vector<Index> places(const LayoutSpec& spec) {
  std::vector<Index> at(spec.mesh.axes().size(), -1);
  for (std::size_t i = 0; i < spec.kinds.size(); ++i) {
    if (spec.kinds[i].kind == AxisKind::Kind::at) at[i] = spec.kinds[i].at;
  }
  return at;
}

// Why two parts cannot lie in one buffer; empty if they can.
std::string disagreement(const Layout& a, const Layout& b, int dim) {
  if (a.dtype() != b.dtype()) return fmt::format("dtypes {} and {}", name_of(a.dtype()), name_of(b.dtype()));
  if (a.dims() != b.dims()) return fmt::format("{} and {} dimensions", a.dims(), b.dims());
  if (places(a.spec()) != places(b.spec())) return "different at(..) axes";
  for (int d = 0; d < a.dims(); ++d) {
    if (d == dim) continue;
    const auto i = static_cast<std::size_t>(d);
    if (a.shape()[i] != b.shape()[i])
      return fmt::format("extents {} and {} of dimension {}", a.shape()[i], b.shape()[i], d);
    if (cuts_of(a.spec(), d) != cuts_of(b.spec(), d)) return fmt::format("different cuts of dimension {}", d);
  }
  return "";
}

void check_parts(const ModelLayout& model, const StoredTensor& stored, Problems& problems) {
  const auto tensor_at = [&](int place) -> const ModelTensor& {
    return model.tensors()[static_cast<std::size_t>(place)];
  };
  const ModelTensor& first = tensor_at(stored.parts.at(0));
  const int dims = model.layout(first).dims();
  if (stored.parts.size() > 1 && (stored.dim < 0 || stored.dim >= dims)) {
    problems.add("fused tensor '{}' is joined along dimension {}, but its parts have {}", stored.name, stored.dim,
                 dims);
    return;
  }
  for (const int place : stored.parts) {
    const ModelTensor& part = tensor_at(place);
    const std::string why = disagreement(model.layout(first), model.layout(part), stored.dim);
    if (why.empty() || stored.parts.size() == 1) continue;
    problems.add("parts '{}' and '{}' of the fused tensor '{}' have {}", first.tensor.name, part.tensor.name,
                 stored.name, why);
  }
}

}  // namespace

ModelLayout::ModelLayout(Form form, Mesh mesh, std::vector<Layout> layouts, std::vector<ModelTensor> tensors,
                         std::vector<StoredTensor> stored)
    : form_(form),
      mesh_(std::move(mesh)),
      layouts_(std::move(layouts)),
      tensors_(std::move(tensors)),
      stored_(std::move(stored)),
      by_name_(tensors_.size()) {
  Problems problems;
  if (form_ == Form::files && mesh_.size() != 1) {
    problems.add("the form 'files' holds whole tensors on one rank, but the mesh {} has {}", mesh_.text(),
                 mesh_.size());
  }
  for (const Layout& layout : layouts_) {
    if (layout.mesh() != mesh_) problems.add("layout {} is not on the model's mesh {}", layout.text(), mesh_.text());
    if (!row_major(layout)) {
      problems.add("layout {}: files hold row-major tensors; leave out order, strides and views", layout.text());
    }
  }
  std::iota(by_name_.begin(), by_name_.end(), 0);
  const auto name = [this](int i) -> const std::string& { return tensor_at(i).tensor.name; };
  std::sort(by_name_.begin(), by_name_.end(), [&](int a, int b) { return name(a) < name(b); });
  for (std::size_t i = 1; i < by_name_.size(); ++i) {
    if (name(by_name_[i - 1]) == name(by_name_[i])) problems.add("tensor '{}' is claimed twice", name(by_name_[i]));
  }
  std::vector<std::string_view> names;
  for (const StoredTensor& s : stored_) {
    check_parts(*this, s, problems);
    names.push_back(s.name);
  }
  std::sort(names.begin(), names.end());
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i - 1] == names[i]) problems.add("two tensors are stored under the name '{}'", names[i]);
  }
  problems.raise("the model's layouts do not fit together");
}

const ModelTensor* ModelLayout::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [this](int i, std::string_view n) { return tensor_at(i).tensor.name < n; });
  return found != by_name_.end() && tensor_at(*found).tensor.name == name ? &tensor_at(*found) : nullptr;
}

bool ModelLayout::holds(const StoredTensor& stored, RankId rank) const {
  const auto coordinate = mesh_.coordinate_of(rank);
  if (!coordinate) return false;
  const std::vector<Index> at = places(layout(tensor_at(stored.parts[0])).spec());
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] >= 0 && at[i] != (*coordinate)[i]) return false;
  }
  return true;
}

std::vector<Index> ModelLayout::local_shape(const StoredTensor& stored, RankId rank) const {
  std::vector<Index> shape = layout(tensor_at(stored.parts[0])).storage(rank).extents;
  for (std::size_t k = 1; k < stored.parts.size(); ++k) {
    const auto dim = static_cast<std::size_t>(stored.dim);
    shape[dim] = checked_add(shape[dim], layout(tensor_at(stored.parts[k])).storage(rank).extents[dim],
                             "extent of a fused tensor");
  }
  return shape;
}

LocalStorage ModelLayout::part_storage(const StoredTensor& stored, int part, RankId rank) const {
  const std::vector<Index> shape = local_shape(stored, rank);
  LocalStorage storage;
  storage.strides.resize(shape.size());
  storage.elements = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    storage.strides[d] = storage.elements;
    storage.elements = checked_mul(storage.elements, shape[d], "elements of a stored tensor");
  }
  for (int k = 0; k <= part; ++k) {
    const ModelTensor& tensor = tensor_at(stored.parts[static_cast<std::size_t>(k)]);
    storage.extents = layout(tensor).storage(rank).extents;
    const auto dim = static_cast<std::size_t>(stored.dim);
    if (k < part) storage.offset += storage.extents[dim] * storage.strides[dim];
  }
  return storage;
}

std::vector<TensorInfo> ModelLayout::stored_on(RankId rank) const {
  std::vector<TensorInfo> held;
  for (const StoredTensor& s : stored_) {
    if (!holds(s, rank)) continue;
    held.push_back({s.name, layout(tensor_at(s.parts[0])).dtype(), local_shape(s, rank)});
  }
  return held;
}

ModelLayout whole_tensors(std::span<const TensorInfo> tensors) {
  ModelRules rules;
  rules.form = Form::files;
  return resolve(rules, tensors);
}

}  // namespace reshard

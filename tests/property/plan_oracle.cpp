#include "property/plan_oracle.h"

#include <fmt/format.h>

#include <bit>
#include <cstddef>

namespace reshard::oracle {
namespace {

struct Hop {
  Index from;
  Index to;
};

// Source and target address of every element of a transfer, dimension by dimension.
class Walk {
 public:
  Walk(const Transfer& transfer, const LocalStorage& source, const LocalStorage& target)
      : base_{source.offset, target.offset} {
    for (std::size_t d = 0; d < transfer.dims.size(); ++d) {
      std::vector<Hop> hops;
      for (const Span& span : transfer.dims[d])
        for (Index k = 0; k < span.length; ++k)
          hops.push_back(
              {(span.source.value() + k) * source.strides[d], (span.target.value() + k) * target.strides[d]});
      dims_.push_back(std::move(hops));
    }
  }
  template <class Visit>
  void each(Visit visit) const {
    step(0, base_, visit);
  }

 private:
  template <class Visit>
  void step(std::size_t dim, Hop at, Visit& visit) const {
    if (dim == dims_.size()) return visit(at);
    for (const Hop& hop : dims_[dim]) step(dim + 1, Hop{at.from + hop.from, at.to + hop.to}, visit);
  }
  Hop base_;
  std::vector<std::vector<Hop>> dims_;
};

Index value_at(const std::vector<Index>& buffer, Index address) {
  const bool inside = 0 <= address && address < static_cast<Index>(buffer.size());
  return inside ? buffer[static_cast<std::size_t>(address)] : hole;
}

bool holds(const Side& side, Index element, RankId rank) {
  return (side.owners[static_cast<std::size_t>(element)] >> rank.value() & 1) != 0;
}

std::string name(const Transfer& t) { return fmt::format("transfer {} -> {}", t.source.value(), t.target.value()); }

bool fits(const Transfer& t, const Side& source, const Side& target) {
  const auto from = source.ownership.parts.find(t.source.value());
  const auto to = target.ownership.parts.find(t.target.value());
  return from != source.ownership.parts.end() && to != target.ownership.parts.end() && from->second.held &&
         to->second.held && t.dims.size() == source.ownership.shape.size();
}

class Judge {
 public:
  Judge(const Side& source, const Side& target) : source_(source), target_(target) {
    for (const auto& [rank, part] : target.ownership.parts) written_[rank].assign(part.buffer.size(), 0);
  }

  void judge(const Transfer& t) {
    if (!fits(t, source_, target_)) return fault(fmt::format("{}: not between holders of the tensor", name(t)));
    const std::vector<Index>& from = source_.ownership.parts.at(t.source.value()).buffer;
    const std::vector<Index>& to = target_.ownership.parts.at(t.target.value()).buffer;
    std::vector<int>& written = written_.at(t.target.value());
    Index count = 0;
    Walk(t, source_.storage.at(t.source.value()), target_.storage.at(t.target.value())).each([&](Hop hop) {
      ++count;
      const Index sent = value_at(from, hop.from);
      const Index wanted = value_at(to, hop.to);
      if (sent == hole || wanted == hole || sent != wanted)
        return fault(fmt::format("{}: element {} sent from address {} where address {} wants {}", name(t), sent,
                                 hop.from, hop.to, wanted));
      ++written[static_cast<std::size_t>(hop.to)];
      if (t.is_local()) return;
      ++moved_;
      if (holds(source_, sent, t.target)) fault(fmt::format("{}: element {} was there already", name(t), sent));
    });
    if (count == 0) fault(fmt::format("{}: empty", name(t)));
  }

  std::vector<std::string> verdict() {
    for (const auto& [rank, part] : target_.ownership.parts)
      for (std::size_t a = 0; a < part.buffer.size(); ++a)
        if (written_[rank][a] != (part.buffer[a] == hole ? 0 : 1))
          fault(fmt::format("rank {}: element {} written {} times", rank, part.buffer[a], written_[rank][a]));
    return std::move(faults_);
  }
  Index moved() const { return moved_; }
  void fault(std::string message) {
    if (faults_.size() < 20) faults_.push_back(std::move(message));
  }

 private:
  const Side& source_;
  const Side& target_;
  std::map<Index, std::vector<int>> written_;
  std::vector<std::string> faults_;
  Index moved_ = 0;
};

}  // namespace

std::vector<std::string> plan_faults(const Plan& plan, const Side& source, const Side& target) {
  Judge judge(source, target);
  for (const Transfer& transfer : plan.transfers()) judge.judge(transfer);
  const Index bound = lower_bound_elements(source, target);
  const Index bytes = bytes_of(plan.source().dtype());
  const Certificate certificate = plan.certificate();
  if (judge.moved() != bound) judge.fault(fmt::format("moves {} elements, lower bound {}", judge.moved(), bound));
  if (certificate.sent != bound * bytes || certificate.needed != bound * bytes)
    judge.fault(
        fmt::format("certificate: sent {} needed {}, oracle {}", certificate.sent, certificate.needed, bound * bytes));
  return judge.verdict();
}

Buffers stamped(const Side& side, Index salt) {
  Buffers buffers;
  for (const auto& [rank, part] : side.ownership.parts) {
    std::vector<Index>& memory = buffers[rank];
    for (const Index element : part.buffer) memory.push_back(element == hole ? poison : element * 7 + salt);
  }
  return buffers;
}

Buffers poisoned(const Side& side) {
  Buffers buffers;
  for (const auto& [rank, part] : side.ownership.parts) buffers[rank].assign(part.buffer.size(), poison);
  return buffers;
}

void apply(const Plan& plan, const Side& source, const Side& target, const Buffers& from, Buffers& to) {
  for (const Transfer& t : plan.transfers()) {
    const std::vector<Index>& sender = from.at(t.source.value());
    std::vector<Index>& receiver = to.at(t.target.value());
    Walk(t, source.storage.at(t.source.value()), target.storage.at(t.target.value())).each([&](Hop hop) {
      receiver.at(static_cast<std::size_t>(hop.to)) = sender.at(static_cast<std::size_t>(hop.from));
    });
  }
}

Index lower_bound_elements(const Side& source, const Side& target) {
  Index count = 0;
  for (std::size_t e = 0; e < target.owners.size(); ++e) count += std::popcount(target.owners[e] & ~source.owners[e]);
  return count;
}

}  // namespace reshard::oracle

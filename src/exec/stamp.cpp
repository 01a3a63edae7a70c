#include "reshard/stamp.h"

#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/checked.h"
#include "base/fail.h"

namespace reshard {
namespace {

// A bijection of 64-bit numbers, so that a stamp of 8 bytes can be read back.
constexpr std::uint64_t odd_a = 0xbf58476d1ce4e5b9u, odd_b = 0x94d049bb133111ebu;

constexpr std::uint64_t mixed(std::uint64_t x) {
  x *= odd_a;
  x ^= x >> 32;
  x *= odd_b;
  return x ^ (x >> 32);
}

// b * inverse(b) == 1 modulo 2^64; each step doubles the number of right bits.
constexpr std::uint64_t inverse(std::uint64_t b) {
  std::uint64_t x = b;
  for (int i = 0; i < 6; ++i) x *= 2 - b * x;
  return x;
}

constexpr std::uint64_t unmixed(std::uint64_t x) {
  x ^= x >> 32;
  x *= inverse(odd_b);
  x ^= x >> 32;
  return x * inverse(odd_a);
}
static_assert(unmixed(mixed(0x0123456789abcdefu)) == 0x0123456789abcdefu);

// An element is (epoch, global linear index) as one number: 16 bits of epoch are enough to tell calls apart.
constexpr int index_bits = 48;
constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
constexpr std::uint64_t key_of(std::uint64_t epoch, std::uint64_t linear) { return (epoch << index_bits) ^ linear; }

// The bits of an element of `Size` bytes: the high ones, which depend on all of the key.
template <int Size>
struct Bits {
  std::array<std::byte, Size> value;
  friend bool operator==(const Bits&, const Bits&) = default;
};

template <int Size>
Bits<Size> stamp_of(std::uint64_t key) {
  const std::uint64_t x = mixed(key);
  Bits<Size> bits;
  if constexpr (Size == 16) {
    const std::uint64_t y = mixed(~key);
    std::memcpy(&bits, &x, 8);
    std::memcpy(bits.value.data() + 8, &y, 8);
  } else if constexpr (Size == 8) {
    std::memcpy(&bits, &x, 8);
  } else if constexpr (Size == 4) {
    const auto high = static_cast<std::uint32_t>(x >> 32);
    std::memcpy(&bits, &high, 4);
  } else if constexpr (Size == 2) {
    const auto high = static_cast<std::uint16_t>(x >> 48);
    std::memcpy(&bits, &high, 2);
  } else {
    const auto high = static_cast<std::uint8_t>(x >> 56);
    std::memcpy(&bits, &high, 1);
  }
  return bits;
}

// A boolean is 0 or 1: one bit of the stamp.
struct Truth {
  std::byte value;
};

template <class Element>
Element element_of(std::uint64_t key) {
  if constexpr (std::is_same_v<Element, Truth>) {
    return {static_cast<std::byte>(mixed(key) >> 63)};
  } else {
    return stamp_of<sizeof(Element)>(key);
  }
}

// Elements along the last dimension, in elements: local and global positions rise together.
struct Row {
  Index address = 0;  // of the first, in the buffer
  Index step = 1;
  Index linear = 0;  // global linear index of the first
  Index length = 0;
  std::span<const Index> local;  // of the first
};

// Calls visit(row) for all that `part` holds, in order; stops when it returns false.
template <class Visit>
class Rows {
 public:
  Rows(const StampedPart& part, Visit visit)
      : part_(part), visit_(std::move(visit)), local_(part.region.dims.size(), 0) {
    pitch_.resize(part.shape.size(), 1);
    for (std::size_t d = pitch_.size(); d-- > 1;) pitch_[d - 1] = pitch_[d] * part.shape[d];
  }

  bool walk() { return part_.region.held && walk(0, part_.storage.offset, 0); }

 private:
  bool walk(std::size_t d, Index address, Index linear) {
    if (local_.empty()) return visit_(Row{.address = address, .linear = linear, .length = 1, .local = local_});
    const Index stride = part_.storage.strides[d];
    for (const Segment& segment : part_.region.dims[d]) {
      local_[d] = segment.local.value();
      const Index first = address + segment.local.value() * stride;
      const Index first_linear = linear + segment.global.value() * pitch_[d];
      if (d + 1 == local_.size()) {
        if (!visit_(Row{first, stride, first_linear, segment.length, local_})) return false;
        continue;
      }
      for (Index i = 0; i < segment.length; ++i, ++local_[d]) {
        if (!walk(d + 1, first + i * stride, first_linear + i * pitch_[d])) return false;
      }
    }
    return true;
  }

  const StampedPart& part_;
  Visit visit_;
  std::vector<Index> local_;
  std::vector<Index> pitch_;  // global linear distance of neighbours along each dimension
};

template <class Visit>
void for_each_row(const StampedPart& part, Visit visit) {
  Rows<Visit>(part, std::move(visit)).walk();
}

template <class Element>
void write(std::byte* buffer, const StampedPart& part, std::uint64_t epoch) {
  for_each_row(part, [&](const Row& row) {
    std::byte* at = buffer + row.address * Index{sizeof(Element)};
    for (Index i = 0; i < row.length; ++i) {
      const auto element = element_of<Element>(key_of(epoch, static_cast<std::uint64_t>(row.linear + i)));
      std::memcpy(at + i * row.step * Index{sizeof(Element)}, &element, sizeof(Element));
    }
    return true;
  });
}

struct Mismatch {
  std::vector<Index> local;
  Index linear = 0;
  const std::byte* at = nullptr;
};

template <class Element>
std::optional<Mismatch> compare(const std::byte* buffer, const StampedPart& part, std::uint64_t epoch) {
  std::optional<Mismatch> found;
  for_each_row(part, [&](const Row& row) {
    const std::byte* first = buffer + row.address * Index{sizeof(Element)};
    for (Index i = 0; i < row.length; ++i) {
      const std::byte* at = first + i * row.step * Index{sizeof(Element)};
      const auto element = element_of<Element>(key_of(epoch, static_cast<std::uint64_t>(row.linear + i)));
      if (std::memcmp(at, &element, sizeof(Element)) == 0) continue;
      found = Mismatch{{row.local.begin(), row.local.end()}, row.linear + i, at};
      if (!found->local.empty()) found->local.back() += i;
      return false;
    }
    return true;
  });
  return found;
}

// Calls f with an Element of the dtype's kind.
template <class F>
auto with_element(Dtype dtype, F f) {
  if (dtype == Dtype::boolean) return f(Truth{});
  switch (bytes_of(dtype)) {
    case 1: return f(Bits<1>{});
    case 2: return f(Bits<2>{});
    case 4: return f(Bits<4>{});
    case 8: return f(Bits<8>{});
    default: return f(Bits<16>{});
  }
}

struct Origin {
  std::uint64_t epoch = 0;
  Index linear = 0;
};

// Four-byte stamps are found by trying: all elements of the epochs up to the expected one's next.
std::optional<Origin> search(const std::byte* at, Index elements, std::uint64_t epoch) {
  constexpr Index patience = Index{1} << 24;
  for (std::uint64_t back = 0; back <= 3; ++back) {
    const std::uint64_t e = epoch + 1 - back;
    for (Index i = 0; i < std::min(elements, patience); ++i) {
      const auto candidate = stamp_of<4>(key_of(e, static_cast<std::uint64_t>(i)));
      if (std::memcmp(at, &candidate, 4) == 0) return Origin{e, i};
    }
  }
  return std::nullopt;
}

std::optional<Origin> origin_of(const std::byte* at, Index element_bytes, Index elements, std::uint64_t epoch) {
  if (element_bytes < 4) return std::nullopt;
  if (element_bytes == 4) return search(at, elements, epoch);
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  const std::uint64_t key = unmixed(word);
  const Origin origin{key >> index_bits, static_cast<Index>(key & index_mask)};
  if (origin.linear >= elements) return std::nullopt;
  return origin;
}

std::string global_text(Index linear, std::span<const Index> shape) {
  std::vector<Index> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = linear % shape[d];
    linear /= shape[d];
  }
  return fmt::format("({})", fmt::join(index, ","));
}

// Most significant byte first.
std::string hex(const std::byte* at, Index bytes) {
  std::string text = "0x";
  for (Index i = bytes; i-- > 0;) text += fmt::format("{:02x}", static_cast<unsigned>(at[i]));
  return text;
}

// What the element should hold, as bytes.
std::string expected_hex(const Mismatch& m, Dtype dtype, std::uint64_t epoch) {
  return with_element(dtype, [&]<class Element>(Element) {
    const auto element = element_of<Element>(key_of(epoch, static_cast<std::uint64_t>(m.linear)));
    std::array<std::byte, sizeof(Element)> bytes;
    std::memcpy(bytes.data(), &element, sizeof(Element));
    return hex(bytes.data(), sizeof(Element));
  });
}

std::string describe(const Mismatch& m, const StampedPart& part, std::uint64_t epoch) {
  const Index bytes = bytes_of(part.dtype);
  const Index elements = checked_product(part.shape, "elements of a stamped tensor");
  const std::string local = fmt::format("[{}]", fmt::join(m.local, ","));
  const std::string expected = fmt::format("{} of epoch {}", global_text(m.linear, part.shape), epoch);
  if (const auto origin = origin_of(m.at, bytes, elements, epoch)) {
    return fmt::format("{} holds global {} of epoch {}, expected {}", local, global_text(origin->linear, part.shape),
                       origin->epoch, expected);
  }
  return fmt::format("{} holds {}, expected {}, global {}", local, hex(m.at, bytes), expected_hex(m, part.dtype, epoch),
                     expected);
}

void check_size(Index buffer_bytes, const StampedPart& part) {
  const Index needed = checked_mul(part.storage.elements, bytes_of(part.dtype), "bytes of a stamped buffer");
  if (!part.region.held || buffer_bytes >= needed) return;
  fail(Code::invalid_argument, "the layout needs a buffer of {} bytes, but this one has {}", needed, buffer_bytes);
}

StampedPart part_of(const Tensor& tensor) {
  const Layout& layout = tensor.layout();
  return {layout.dtype(), tensor.storage(), tensor.region(), layout.shape()};
}

}  // namespace

void stamp_bytes(std::span<std::byte> buffer, const StampedPart& part, std::uint64_t epoch) {
  check_size(static_cast<Index>(buffer.size()), part);
  with_element(part.dtype, [&]<class Element>(Element) { write<Element>(buffer.data(), part, epoch); });
}

std::optional<std::string> stamp_fault(std::span<const std::byte> buffer, const StampedPart& part,
                                       std::uint64_t epoch) {
  check_size(static_cast<Index>(buffer.size()), part);
  const auto found =
      with_element(part.dtype, [&]<class Element>(Element) { return compare<Element>(buffer.data(), part, epoch); });
  if (!found) return std::nullopt;
  return describe(*found, part, epoch);
}

void stamp(Tensor& tensor, std::uint64_t epoch) { stamp_bytes(tensor.bytes(), part_of(tensor), epoch); }

void expect_stamped(const Tensor& tensor, std::uint64_t epoch) {
  const auto fault = stamp_fault(tensor.bytes(), part_of(tensor), epoch);
  if (fault) fail(Code::corrupt, "rank {} {}", tensor.rank().value(), *fault);
}

}  // namespace reshard

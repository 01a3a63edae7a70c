// Pages that this process owns, touched before anything is timed.
#pragma once

#include <cstddef>
#include <span>

namespace contest {

class Pages {
 public:
  // Private and zeroed. Throws std::bad_alloc.
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace contest

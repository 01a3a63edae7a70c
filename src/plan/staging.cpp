#include "plan/staging.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard {

Index staging_bytes(const Fold& fold, const Layout& target, RankId rank, Index limit) {
  if (fold.terms == 1) return 0;
  Index bytes = 0;
  const Index elements = target.region(rank).elements();
  if (__builtin_mul_overflow(elements * bytes_of(target.dtype()), fold.terms, &bytes)) return limit;
  return std::min(bytes, limit);
}

void check_staging(const Fold& fold, const Layout& source, Index limit) {
  Index least = 0;
  if (fold.terms == 1) return;
  if (!__builtin_mul_overflow(fold.terms, bytes_of(source.dtype()), &least) && least <= limit) return;
  fail(Code::invalid_argument,
       "a staging limit of {} bytes is too small for {}: one {} of each of its {} terms takes {}; raise it", limit,
       source.text(), name_of(source.dtype()), fold.terms, least);
}

}  // namespace reshard

// Any text as a layout: refused with an Error, or it prints as a text that reads back as the same layout.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "reshard/error.h"
#include "reshard/layout.h"

using namespace reshard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::string text;
  try {
    text = layout(input).text();
  } catch (const Error& error) {
    if (error.code() == Code::internal) std::abort();
    return 0;
  }
  // What was accepted may not be refused now: an Error from here on is a crash.
  const Layout once = layout(text);
  if (once.text() != text || !(once == layout(input))) std::abort();
  if (once.fingerprint() != layout(input).fingerprint()) std::abort();
  const RankId rank = once.mesh().rank_at_ordinal(once.mesh().size() - 1);
  if (!once.mesh().contains(rank)) std::abort();
  return 0;
}

#include "fabric/host/outcome.h"

#include "base/fail.h"

namespace reshard::fabric {

RankOutcome outcome_of_exception(RankId rank) {
  RankOutcome outcome{.end = RankOutcome::End::threw, .code = Code::internal};
  try {
    throw;
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.message = error.what();
  } catch (const std::exception& error) {
    outcome.message = fmt::format("rank {}: {}", rank.value(), error.what());
  } catch (...) {
    outcome.message = fmt::format("rank {}: an exception of unknown type", rank.value());
  }
  return outcome;
}

}  // namespace reshard::fabric

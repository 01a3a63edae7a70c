// From an exception to the outcome of a rank.
#pragma once

#include "reshard/ranks.h"

namespace reshard::fabric {

// Of the exception that is being handled: an Error keeps its code and message, anything else is internal.
RankOutcome outcome_of_exception(RankId rank);

}  // namespace reshard::fabric

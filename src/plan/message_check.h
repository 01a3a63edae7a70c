// What every way to order messages asks of them.
#pragma once

#include <span>

#include "reshard/rounds.h"

namespace reshard {

// Throws Error(invalid_argument) for negative bytes. Sums of any of the messages fit from there on.
void check_messages(std::span<const RankMessage> messages);

}  // namespace reshard

// Counts every call of operator new in a program that is linked with allocations.cpp.
#pragma once

namespace reshard {

// Of all threads so far.
long allocations();
// Of this thread so far.
long own_allocations();

}  // namespace reshard

// What a move costs, without moving anything: bytes per rank beside the least that any plan must send.
#include <iomanip>
#include <iostream>

#include "reshard/plan.h"

using namespace reshard;

int main() {
  const Plan p = plan(layout("bf16[8192,8192] on trainer(dp=2, tp=4) {0: tp dp}"),
                      layout("bf16[8192,8192] on inference(tp=6)@8 {1: tp}"));
  const Certificate c = p.certificate();
  for (const RankBytes& r : c.ranks) {
    std::cout << "rank " << std::setw(2) << r.rank.value() << "  sends " << std::setw(8) << r.sent << " in "
              << r.messages_out << " messages, receives " << std::setw(8) << r.received << ", must receive " << r.needed
              << "\n";
  }
  std::cout << "in all " << c.sent << " bytes in " << c.messages << " messages; the least is " << c.needed << "\n";
  for (const Fault& fault : verify(p)) std::cout << "fault: " << fault.message << "\n";
  return c.optimal() ? 0 : 1;
}

// What moves when a matrix cut by columns over 8 ranks is to be cut by rows over 6 others.
#include <reshard/plan.h>

#include <iostream>

int main() {
  const reshard::Layout trainer = reshard::layout("bf16[8192,8192] on trainer(dp=2, tp=4) {1: tp}");
  const reshard::Layout inference = reshard::layout("bf16[8192,8192] on inference(tp=6)@8 {0: tp}");
  const reshard::Certificate certificate = reshard::plan(trainer, inference).certificate();
  std::cout << certificate.messages << " messages, " << certificate.sent << " bytes sent, " << certificate.needed
            << " needed\n";
}

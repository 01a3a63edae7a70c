#include <iostream>

#include <reshard/dtype.h>

int main() { std::cout << "bf16: " << reshard::bytes_of(reshard::Dtype::bf16) << " bytes\n"; }

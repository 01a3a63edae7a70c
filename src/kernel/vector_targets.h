// Which instruction sets the vector kernels are compiled for. Before <hwy/..> in every file that includes it.
#pragma once

// SSE4.2, AVX2 and AVX-512 on x86-64, NEON on AArch64. Processors with less run the code without vectors, which the
// compiler turns into SSE2. Each set costs compile time; SSSE3 and vectors of unknown length bring nothing here.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

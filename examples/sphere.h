// Functions on a sphere: Gauss-Legendre latitudes, and Legendre functions normalised so that their squares integrate
// to 1 over cos(colatitude) (Abramowitz and Stegun 8.5, 25.4.29, with the Condon-Shortley sign).
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

struct Latitudes {
  std::vector<double> cosine, weight;  // ascending in colatitude
};

// The function of degree l and order m <= l at cos(colatitude) x.
inline double legendre(int l, int m, double x) {
  double sectoral = std::sqrt(0.5);
  for (int k = 1; k <= m; ++k) sectoral *= -std::sqrt((2 * k + 1) / (2.0 * k) * (1 - x * x));
  double before = 0, here = sectoral;
  for (int k = m + 1; k <= l; ++k) {
    const double a = std::sqrt((4.0 * k * k - 1) / (k * k - m * m));
    const double b = std::sqrt(((k - 1.0) * (k - 1) - m * m) / (4.0 * (k - 1) * (k - 1) - 1));
    const double next = a * (x * here - b * before);
    before = here;
    here = next;
  }
  return here;
}

inline Latitudes gauss_latitudes(int count) {
  Latitudes latitudes;
  for (int k = 0; k < count; ++k) {
    double x = std::cos(std::numbers::pi * (k + 0.75) / (count + 0.5)), slope = 1;
    for (int turn = 0; turn < 20; ++turn) {  // Newton's method on the polynomial of degree `count`
      double before = 1, here = x;
      for (int l = 2; l <= count; ++l) {
        const double next = ((2 * l - 1) * x * here - (l - 1) * before) / l;
        before = here;
        here = next;
      }
      slope = count * (x * here - before) / (x * x - 1);
      x -= here / slope;
    }
    latitudes.cosine.push_back(x);
    latitudes.weight.push_back(2 / ((1 - x * x) * slope * slope));
  }
  return latitudes;
}

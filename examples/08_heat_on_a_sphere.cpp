// Heat spreads on a sphere for 1,000 steps, on 2 x 3 ranks. Beyond a pole lies the opposite meridian: half of all
// longitudes away, on another rank. 08_heat_on_a_sphere FILE.png draws the sphere before and after.
#include <png.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numbers>

#include "reshard/halo.h"
#include "shard.h"

using namespace reshard;

constexpr Index latitudes = 20, longitudes = 40, steps = 1000;
constexpr double spacing = std::numbers::pi / latitudes, time_step = 5e-5;
using Field = std::vector<double>;

double start(Index i, Index j) {  // two warm spots, one over a pole
  const double theta = (static_cast<double>(i) + 0.5) * spacing, phi = static_cast<double>(j) * spacing;
  const double x = std::sin(theta) * std::cos(phi), y = std::sin(theta) * std::sin(phi), z = std::cos(theta);
  return std::exp(-20 * ((x - 0.3) * (x - 0.3) + y * y + (z - 0.95) * (z - 0.95))) +
         std::exp(-20 * ((x + 0.8) * (x + 0.8) + (y - 0.6) * (y - 0.6) + z * z));
}
// After one step: of a cell and its four neighbours.
double stepped(Index i, double here, double north, double south, double west, double east) {
  const double theta = (static_cast<double>(i) + 0.5) * spacing, sine = std::sin(theta);
  const double bend = (north - 2 * here + south) / (spacing * spacing) +
                      std::cos(theta) / sine * (south - north) / (2 * spacing) +
                      (west - 2 * here + east) / (spacing * spacing * sine * sine);
  return here + time_step * bend;
}

Field by_one_rank(Field field) {
  const auto at = [&](Index i, Index j) {
    if (i < 0 || i >= latitudes) i = i < 0 ? 0 : latitudes - 1, j += longitudes / 2;
    return field[static_cast<std::size_t>(i * longitudes + (j + longitudes) % longitudes)];
  };
  for (Index step = 0; step < steps; ++step) {
    Field next;
    for (Index i = 0; i < latitudes; ++i)
      for (Index j = 0; j < longitudes; ++j)
        next.push_back(stepped(i, at(i, j), at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)));
    field = std::move(next);
  }
  return field;
}

void draw(const char* file, const Field& before, const Field& after) {
  constexpr Index zoom = 9;
  std::vector<png_byte> pixels;
  for (const Field* field : {&before, &after})
    for (Index i = 0; i < latitudes * zoom; ++i)
      for (Index j = 0; j < longitudes * zoom; ++j) {
        const double heat = std::min(1.0, (*field)[static_cast<std::size_t>(i / zoom * longitudes + j / zoom)]);
        for (const double from : {0.0, 0.33, 0.66})  // black, red, yellow, white
          pixels.push_back(static_cast<png_byte>(255 * std::clamp((heat - from) * 3, 0.0, 1.0)));
      }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = longitudes * zoom, image.height = 2 * latitudes * zoom, image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, file, 0, pixels.data(), 0, nullptr) == 0)
    throw Error(Code::io, std::string("cannot write ") + file + ": " + image.message);
}

int main(int argc, char** argv) {
  Field before, after(latitudes * longitudes);
  for (Index i = 0; i < latitudes; ++i)
    for (Index j = 0; j < longitudes; ++j) before.push_back(start(i, j));
  thread_ranks(6, [&](World& world) {
    const Layout cut = layout("f64[20,40] on (y=2, x=3) {0: y:balanced, 1: x:balanced}");
    const HaloPlan plan(cut, {{{.dim = 0, .lo = 1, .hi = 1, .edge = HaloEdge::pole(1)},
                               {.dim = 1, .lo = 1, .hi = 1, .edge = HaloEdge::periodic()}}});
    Tensor x = world.allocate(cut), wide = world.allocate(plan.out());
    const Shard<double, 2> cell(x), w(wide);
    cell.each([&](double& e, Index i, Index j) { e = start(cell.first[0] + i, cell.first[1] + j); });
    HaloExchange halo(world, plan, x, wide);
    for (Index step = 0; step < steps; ++step) {
      halo.run();
      cell.each([&](double& e, Index i, Index j) {
        e = stepped(cell.first[0] + i, w(i + 1, j + 1), w(i, j + 1), w(i + 2, j + 1), w(i + 1, j), w(i + 1, j + 2));
      });
    }
    cell.each([&](double& e, Index i, Index j) {  // threads: each writes its own cells
      after[static_cast<std::size_t>((cell.first[0] + i) * longitudes + cell.first[1] + j)] = e;
    });
  });
  if (argc > 1) draw(argv[1], before, after);
  std::cout << "after " << steps << " steps on 6 ranks the warmest cell has gone from " << std::setprecision(3)
            << std::ranges::max(before) << " to " << std::ranges::max(after) << ", and the field is "
            << (after == by_one_rank(before) ? "that of one rank, to the bit" : "WRONG") << "\n";
}

#include "slicewise/models/evidence.hpp"

#include <array>
#include <cmath>

namespace slicewise::models {
namespace {

struct Names {
  std::string_view name;
  std::string_view words;
};
constexpr std::array<Names, 7> kNames = {
    {{"nothing", "from times that are assumed"},
     {"timeAlone", "from the time alone"},
     {"utilisation", "from the time alone and how busy the GPU is"},
     {"settings", "from times alone in several settings"},
     {"coLocation", "from one co-location"},
     {"neighbour", "from copies and one other neighbour"},
     {"pairs", "from many neighbours"}}};

}  // namespace

std::string_view evidence_name(Evidence evidence) {
  return kNames.at(static_cast<std::size_t>(evidence)).name;
}

std::string_view evidence_words(Evidence evidence) {
  return kNames.at(static_cast<std::size_t>(evidence)).words;
}

bool may_be_gain_or_loss(double gain, const ExpectedError& error) {
  return gain != 0 && error.rows > 0 && 100 * std::abs(gain) <= error.median_percent;
}

const std::vector<ExpectedError>& published_errors() {
  static const std::vector<ExpectedError> errors = {
      {Evidence::TimeAlone, "time-slicing", false, 12, 4.8, 12.5},
      {Evidence::Utilisation, "MPS of requests", false, 16, 3.6, 10.2},
      {Evidence::Utilisation, "MPS of requests", true, 90, 4.1, 23.1},
      {Evidence::Utilisation, "MPS, p99 of requests", false, 12, 8.0, 10.0},
      {Evidence::Utilisation, "MPS, p99 of requests", true, 13, 16.5, 25.7},
      {Evidence::Utilisation, "time-slicing", false, 6, 1.8, 26.2},
      {Evidence::Utilisation, "time-slicing of requests", false, 16, 1.9, 4.7},
      {Evidence::Utilisation, "time-slicing of requests", true, 80, 2.0, 9.4},
      {Evidence::Utilisation, "time-slicing, p99 of requests", false, 12, 7.3, 15.3},
      {Evidence::Utilisation, "time-slicing, p99 of requests", true, 13, 6.8, 19.5},
      {Evidence::Settings, "MIG", false, 283, 2.5, 8.4},
      {Evidence::Settings, "MPS", false, 1048, 2.0, 7.2},
      {Evidence::Settings, "MIG+MPS", false, 534, 4.6, 13.1},
      {Evidence::CoLocation, "MPS", false, 3, 8.5, 9.3},
      {Evidence::CoLocation, "MIG+MPS", false, 389, 2.9, 9.6},
      {Evidence::CoLocation, "time-slicing", true, 648, 13.4, 33.1},
      {Evidence::Neighbour, "time-slicing", true, 578, 5.0, 11.9},
      {Evidence::Pairs, "MPS, p99 of requests", false, 12, 2.6, 12.5},
      {Evidence::Pairs, "MPS, p99 of requests", true, 13, 12.1, 23.0},
      {Evidence::Pairs, "time-slicing", true, 418, 2.9, 10.7},
  };
  return errors;
}

}  // namespace slicewise::models

#pragma once

#include <map>
#include <optional>
#include <string>

namespace slicewise::models {

struct Between {
  double least = 0;
  double most = 0;
};

// How well a figure of a profile or a language model is known, from the measurements that it was
// fitted on.
struct FigureUncertainty {
  std::string figure;  // as the catalogue names it: "soloMs", "weightsMs"
  double half_width_95 = 0;
  std::map<std::string, double> correlations;  // with figures that stand before it in the list
  // Beyond which it cannot be: drawn between these, as often below its value as above.
  std::optional<Between> between = std::nullopt;
};

}  // namespace slicewise::models

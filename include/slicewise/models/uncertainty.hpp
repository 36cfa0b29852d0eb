#pragma once

#include <map>
#include <string>

namespace slicewise::models {

// How well a figure of a profile or a language model is known, from the measurements that it was
// fitted on.
struct FigureUncertainty {
  std::string figure;  // as the catalogue names it: "soloMs", "weightsMs"
  double half_width_95 = 0;
  std::map<std::string, double> correlations;  // with figures that stand before it in the list
};

}  // namespace slicewise::models

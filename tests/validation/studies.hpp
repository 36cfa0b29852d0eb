#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "slicewise/sim/validation.hpp"

namespace slicewise::sim {

// The shipped set, cut down to the studies named; all when none is.
inline models::ValidationSet set_of(const std::vector<std::string>& ids = {}) {
  models::ValidationSet set = models::load_validation_set();
  std::erase_if(set.studies, [&](const models::Study& study) {
    return !ids.empty() && std::find(ids.begin(), ids.end(), study.id) == ids.end();
  });
  return set;
}

inline ValidationResult result_of(const std::vector<std::string>& ids = {}) {
  return validate(models::load_catalogue(), set_of(ids));
}

inline const StudyResult& study_in(const ValidationResult& result, const std::string& id) {
  for (const StudyResult& study : result.studies) {
    if (study.study.id == id) return study;
  }
  throw std::runtime_error("no study " + id);
}

}  // namespace slicewise::sim

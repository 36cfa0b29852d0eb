#pragma once

#include <string>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Options that `set` changes.
template <class Set>
ImportOptions with(Set set) {
  ImportOptions options;
  set(options);
  return options;
}

// How often the log of an import remarks `what`.
inline std::int64_t counted(const Imported& result, const std::string& what) {
  for (const ImportRemark& remark : result.log.remarks) {
    if (remark.what.find(what) == std::string::npos) continue;
    return remark.kind == ImportRemark::Kind::Note ? 1 : remark.count;
  }
  return 0;
}

}  // namespace slicewise::scenarios

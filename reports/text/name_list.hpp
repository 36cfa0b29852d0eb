#pragma once

#include <string>
#include <vector>

namespace slicewise::reports {

// "a" and "b" make "a, b".
inline void add_name(std::string& names, const std::string& name) {
  names += (names.empty() ? "" : ", ") + name;
}

inline std::string joined(const std::vector<std::string>& items) {
  std::string names;
  for (const std::string& item : items) add_name(names, item);
  return names;
}

}  // namespace slicewise::reports

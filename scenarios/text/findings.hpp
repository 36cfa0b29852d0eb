#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios {

// Collects diagnostics. The same node is checked once per variant; what is wrong with it is said
// once. Several fields may be missing from one place.
class Findings {
 public:
  void add(Code code, const SourceLocation& where, std::string message, std::string help = {},
           std::string label = {}) {
    add(make_diagnostic(code, where, std::move(message), std::move(help), std::move(label)));
  }

  void add(Diagnostic diagnostic) {
    const bool one_of_several = diagnostic.code == Code::FieldMissing;
    auto key = std::tuple(diagnostic.code, diagnostic.where.file, diagnostic.where.line,
                          diagnostic.where.column, one_of_several ? diagnostic.message : "");
    if (seen_.insert(std::move(key)).second) found_.push_back(std::move(diagnostic));
  }

  bool empty() const { return found_.empty(); }

  // In file order: first the scenario file `file`, then what --set brought in.
  Diagnostics take_sorted(const std::string& file);

 private:
  std::set<std::tuple<Code, std::string, int, int, std::string>> seen_;
  Diagnostics found_;
};

inline Diagnostics Findings::take_sorted(const std::string& file) {
  const auto order = [&file](const Diagnostic& d) {
    return std::tuple(d.where.file != file, d.where.line, d.where.column);
  };
  std::ranges::stable_sort(
      found_, [&order](const Diagnostic& a, const Diagnostic& b) { return order(a) < order(b); });
  seen_.clear();
  return std::exchange(found_, {});
}

}  // namespace slicewise::scenarios

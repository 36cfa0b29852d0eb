#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../text/json_value.hpp"
#include "import_report.hpp"

namespace slicewise::scenarios {

// For how long Prometheus shows a series after its last sample, in ns.
inline constexpr std::int64_t kStale = 300'000'000'000;

struct Sample {
  std::int64_t at = 0;  // ns since 1970
  double value = 0;
};

// The labels of a series.
class Labels {
 public:
  explicit Labels(JsonValue metric);

  // "" when it has no such label.
  std::string_view operator[](std::string_view name) const;
  std::string_view metric() const { return (*this)["__name__"]; }

 private:
  std::vector<std::pair<std::string, std::string>> labels_;
};

using SeriesVisitor = std::function<void(const Labels& labels, const std::vector<Sample>& samples,
                                         const SourceLocation& where)>;

// Calls `visit` for every series of the answers of a Prometheus server that a file holds: those of
// range and instant queries, as they came or what `promtool query` prints of them. Samples that
// are no number are left out of them and counted; an answer that reports a failure is one.
Diagnostics read_answers(const SourceText& file, const SeriesVisitor& visit, ImportReport& report);

}  // namespace slicewise::scenarios

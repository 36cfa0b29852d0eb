#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "slicewise/units.hpp"

namespace slicewise::reports {

// Label names and values in the order in which they are written.
using Labels = std::initializer_list<std::pair<std::string_view, std::string>>;

// The samples of an OpenMetrics text, family by family. Within one, all samples of a series follow
// each other, as the format wants it: write one series after the other.
class MetricSamples {
 public:
  // `common`: labels of every sample. `start_unix`: seconds.
  MetricSamples(Labels common, std::int64_t start_unix);

  // One series. Samples come in order of time; of two in the same millisecond the first stays.
  class Series {
   public:
    Series& at(TimePoint when, double value);

   private:
    friend class MetricSamples;
    Series(std::string& text, std::string head, std::int64_t start_unix)
        : text_(&text), head_(std::move(head)), start_unix_(start_unix) {}
    std::string* text_;
    std::string head_;
    std::int64_t start_unix_;
    std::int64_t last_ms_ = -1;
  };
  // `family` is one of metric_families(); `suffix` what its type adds: "_total", "_bucket".
  Series series(std::string_view family, std::string_view suffix, Labels labels);

  // The whole text, `# EOF` included. Families without samples are left out.
  std::string text() const;

 private:
  std::string common_;
  std::int64_t start_unix_;
  std::map<std::string, std::string, std::less<>> families_;
};

// As the format wants bounds written: "0.005", "1.0", "+Inf" for kNoBound.
std::string bound_text(Duration bound);
inline constexpr Duration kNoBound{INT64_MAX};

}  // namespace slicewise::reports

#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"

// What a verb found, in each format of its -o.
namespace slicewise::reports {

// Of sim::Result and of the studies of studies.hpp. Pure: same figures, same bytes.
template <class Found>
class Report {
 public:
  explicit Report(const Found& found) : found_(found) {}

  // What a person reads; `wide` keeps the columns that do not fit.
  std::string table(const TextStyle& style, bool wide) const;
  // slicewise.dev/X.v1alpha1: sorted keys, SI units in the keys, absent fields left out.
  std::string json() const;
  std::string yaml() const;
  // RFC 4180, header first.
  std::string csv() const;
  // GitHub-flavoured, at most 60,000 characters.
  std::string markdown() const;

  // The JSON Schema (draft-07) that JSON and YAML obey.
  static std::string schema();

 private:
  const Found& found_;
};

}  // namespace slicewise::reports

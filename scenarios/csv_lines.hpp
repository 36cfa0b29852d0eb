#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios {

// The lines of a CSV file (RFC 4180, but that a quoted value ends on its line), one at a time.
// Views into the text. A BOM, CRLF and a missing last line feed are all fine; blank lines hold
// nothing.
class CsvLines {
 public:
  explicit CsvLines(const SourceText& source);

  // Goes to the next line that is not blank; false at the end.
  bool next();

  int line() const { return line_; }
  std::size_t size() const { return values_.size(); }

  // Without its quotes and the blanks around it.
  std::string_view value(std::size_t position) const { return values_[position]; }

  // A quote was not closed, or something follows it: the values are not to be trusted.
  bool is_broken() const { return broken_; }

  // Of a value, or of the whole line.
  SourceLocation place(std::size_t position) const;
  SourceLocation place() const;

 private:
  void split();

  const SourceText& source_;
  std::string_view left_;
  std::string_view text_;  // of the line
  std::vector<std::string_view> values_;
  int line_ = 0;
  bool broken_ = false;
};

}  // namespace slicewise::scenarios

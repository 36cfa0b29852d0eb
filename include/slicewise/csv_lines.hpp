#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise {

// Lines of a file that cannot be read: the first few are shown, the rest is counted.
class BadLines {
 public:
  // One more; whether it is shown.
  bool shows(const SourceLocation& where) {
    if (++count_ == kMostShown + 1) first_hidden_ = where;
    return count_ <= kMostShown;
  }
  std::int64_t count() const { return count_; }
  std::int64_t hidden() const { return count_ <= kMostShown ? 0 : count_ - kMostShown; }
  const SourceLocation& first_hidden() const { return first_hidden_; }

 private:
  static constexpr std::int64_t kMostShown = 5;

  std::int64_t count_ = 0;
  SourceLocation first_hidden_;
};

// Bytes; a longer line is no row of any log.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
inline constexpr std::string_view kLineTooLong = "a line of more than 1 MiB";

// Tables come with commas, semicolons, bars and tabs: whichever the first line has most of.
char separator_of(std::string_view text);

// How the values of a line are told apart.
struct CsvForm {
  char separator = ',';  // ' ': any number of blanks
  bool quotes = true;    // whether a value may stand in quotes
};

// The lines of a CSV file (RFC 4180, but that a quoted value ends on its line), one at a time.
// Views into the text. A BOM, CRLF and a missing last line feed are all fine; blank lines hold
// nothing.
class CsvLines {
 public:
  explicit CsvLines(const SourceText& source, CsvForm form = {});

  // Goes to the next line that is not blank; false at the end.
  bool next();

  int line() const { return line_; }
  std::string_view text() const { return text_; }
  std::size_t size() const { return values_.size(); }

  // Without its quotes and the blanks around it; doubled quotes inside are still doubled.
  std::string_view value(std::size_t position) const { return values_[position]; }

  // Why the values are not to be trusted: a quote that was not closed, or more than kLongestLine,
  // of which there are none. "" when they are.
  std::string_view flaw() const { return flaw_; }
  // The flaw, or that there are not as many values as columns; "" when neither.
  std::string misfit(std::size_t columns) const;

  // Of a value, or of the whole line.
  SourceLocation place(std::size_t position) const;
  SourceLocation place() const;

 private:
  void split();
  void split_at_blanks();
  // Takes a quoted value off the front of `rest`; its blanks before the quote are gone.
  std::string_view take_quoted(std::string_view& rest);

  const SourceText& source_;
  CsvForm form_;
  std::string_view left_;
  std::string_view text_;  // of the line
  std::vector<std::string_view> values_;
  int line_ = 0;
  std::string_view flaw_;
};

// The value with doubled quotes made single ones.
std::string without_doubled_quotes(std::string_view value);

}  // namespace slicewise

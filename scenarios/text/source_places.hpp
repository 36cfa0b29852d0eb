#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios {

// Turns byte offsets of a UTF-8 text into lines and columns. Keeps a view of the text. For one
// thread at a time.
class SourcePlaces {
 public:
  SourcePlaces(std::string file, std::string_view text);

  // The characters [offset, offset + bytes), cut at the end of the line, at least one.
  SourceLocation at(std::size_t offset, std::size_t bytes = 1) const;

  // Length in bytes of the scalar that starts at `offset`; `value` is its text after escapes.
  std::size_t scalar_bytes(std::size_t offset, std::string_view value) const;

  // Where a node starts behind its anchor and tag.
  std::size_t skip_properties(std::size_t offset) const;

  std::string_view text() const { return text_; }

 private:
  // Characters of a line before an offset.
  struct Counted {
    std::size_t line_start = 0;
    std::size_t offset = 0;
    int characters = 0;
  };

  std::string file_;
  std::string_view text_;
  std::vector<std::size_t> line_starts_;
  mutable Counted last_;  // of the last place that was asked for
};

// The first byte that a YAML file must not hold: broken UTF-8 or a control character.
std::optional<std::size_t> first_bad_byte(std::string_view text);

}  // namespace slicewise::scenarios

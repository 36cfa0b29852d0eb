#pragma once

#include <string>

// Where a catalogue figure comes from.
namespace slicewise::models {

struct Source {
  std::string text;      // document, repository@commit or measurement
  std::string date;      // ISO date (or month) of the data, "" when the source gives none
  bool derived = false;  // computed from other figures by a rule that `text` states
};

}  // namespace slicewise::models

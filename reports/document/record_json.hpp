#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/sim/describe.hpp"

// Documents and their schemas, from the declarations of what they hold.
namespace slicewise::reports {

// Keys are those of the schema; a field that does not apply is absent.
nlohmann::json record_json(const sim::Record& record, const void* object);

template <class T>
nlohmann::json described_json(const T& value) {
  return record_json(sim::record_of<T>(), &value);
}

// What a verb writes of it.
template <class T>
nlohmann::json document_of(const T& found) {
  return described_json(found);
}

// The JSON Schema (draft-07) that record_json obeys.
nlohmann::json record_schema(const sim::Record& record);

// "/pods/oomKilled": where a record of a document has the field.
std::string pointer_of(std::span<const sim::Field* const> way, const sim::Field& field);

// The schema of a whole document.
nlohmann::json document_schema(const sim::Record& record, std::string_view title);

}  // namespace slicewise::reports

#pragma once

#include <cstddef>
#include <map>
#include <string>

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "slicewise/diagnostics.hpp"

#include "catalog_value.hpp"

// The files that users hand to the models: JSON or YAML, in which every value knows its place.
namespace slicewise::models {

// Line and column of a byte of the text. Columns count characters.
SourceLocation location_of(const SourceText& file, std::size_t byte);

// Where a value of YAML::Load(file.text) stands.
SourceLocation location_of(const SourceText& file, const YAML::Node& node);

// Whether a scalar is meant as text: quoted, or plain and neither a number, true, false nor null.
bool is_text(const YAML::Node& scalar);

// The one document of a file, or what is wrong with it.
Expected<YAML::Node> read_yaml(const SourceText& file);

// A user's file as the files that ship are read.
struct LocatedJson {
  nlohmann::json root;
  CatalogValue value;                            // of root: whoever copies it makes it anew
  std::map<std::string, SourceLocation> values;  // by path: "mine.yaml.gpus[0].smCount"
  std::map<std::string, SourceLocation> keys;    // by path

  // Of the value, else of the object around it.
  SourceLocation place_of(std::string path) const;
};

// Paths begin with the name of the file. Keys that stand twice, more than a million values and
// what is nested too deeply are problems.
Expected<LocatedJson> located_json(const SourceText& file, const YAML::Node& document);

// The names of months and days: "2026-11", "2026-11-23".
bool is_date(const std::string& text);

}  // namespace slicewise::models

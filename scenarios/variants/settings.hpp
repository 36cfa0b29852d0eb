#pragma once

#include <string>
#include <vector>

#include "../text/document.hpp"
#include "../text/findings.hpp"

// --set and --sweep of a command line.
namespace slicewise::scenarios {

// One value of --set, "path=value".
struct Setting {
  std::string path;
  SourceLocation where;
  NodePtr value;
  std::vector<std::string> without_place;  // names of variants
};

// --set on the base, and again on every variant, where it wins over a patch of the same field.
class Settings {
 public:
  explicit Settings(Findings& findings) : findings_(findings) {}

  // Changes the base `spec`, its sweep first; mistakes and conflicts with that are reported.
  void apply(NodePtr& spec, const std::vector<std::string>& set);

  NodePtr apply_again(NodePtr spec, const std::string& variant);

  // A setting that did nothing in some of `variants` is a warning, in all of them an error.
  void report_without_place(std::size_t variants, Diagnostics& notes);

 private:
  void add_to_sweep(const Setting& setting, NodePtr& spec);

  bool apply_to_base(Setting& setting, NodePtr& spec);

  // Two paths of which one holds the other: the sweep would replace what --set says, or --set what
  // the sweep varies.
  bool conflicts_with_sweep(const Setting& setting, const NodePtr& spec);

  // Empty when no spec can have the path.
  static std::vector<std::string> steps_of(const std::string& path, const NodePtr& value,
                                           NodePtr spec);

  Findings& findings_;
  std::vector<Setting> settings_;
};

}  // namespace slicewise::scenarios

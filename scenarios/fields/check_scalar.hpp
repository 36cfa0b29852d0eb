#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "fields.hpp"

// Single values: what the table of fields allows, and their notations.
namespace slicewise::scenarios {

// Reports what is wrong with a single value: text, a name, a word, true or false, a number or
// a quantity. For what holds several of them (Words, Names, Integers, ClockTimes,
// Devices, MigDevices) `node` is one.
// `path` is what messages call the node ("workloads[1].replicas").
void check_scalar(const Field& field, const Node& node, const std::string& path,
                  Findings& findings);

// False, after reporting it, when `node` is not text.
bool must_be_text(const Node& node, const std::string& path, Findings& findings);

// Reports "`path` must be `expected`, not ...".
void report_type(const Node& node, const std::string& path, std::string_view expected,
                 Findings& findings, std::string help = {});

// The value as messages show it.
std::string shown(const Node& node);

// "a, b, c"
std::string list_of(const auto& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

// True when `text` is a DNS-1123 label, the form of most Kubernetes names.
bool is_dns_label(std::string_view text);

// A whole number in the notations of YAML 1.2; nullopt when it does not fit 64 bits.
std::optional<std::int64_t> to_integer(std::string_view text);

// A finite decimal number in the notations of YAML 1.2.
std::optional<double> to_number(std::string_view text);

// A count of an extended resource: a whole number, quoted or not.
std::optional<std::int64_t> extended_count(const Node& node);

}  // namespace slicewise::scenarios

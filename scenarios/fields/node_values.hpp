#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slicewise/scenarios/quantity.hpp"

#include "../text/document.hpp"

// Reading of single values out of a checked mapping. A value that is absent or was reported as
// wrong reads as absent, so that the rules which follow look at everything else.
namespace slicewise::scenarios {

const Node* block(const Node* parent, std::string_view key);   // a Map, else nullptr
const Node* blocks(const Node* parent, std::string_view key);  // a List, else nullptr
bool is_set(const Node* parent, std::string_view key);         // to other than null

std::optional<std::string> text_at(const Node* parent, std::string_view key);
std::optional<int> int_at(const Node* parent, std::string_view key);  // where the table bounds it
std::optional<double> number_at(const Node* parent, std::string_view key);
std::optional<bool> boolean_at(const Node* parent, std::string_view key);
std::optional<Bytes> bytes_at(const Node* parent, std::string_view key);
std::optional<Millicores> cpu_at(const Node* parent, std::string_view key);
std::optional<Duration> duration_at(const Node* parent, std::string_view key);
std::optional<Rate> rate_at(const Node* parent, std::string_view key);

// The key's place, for messages about the whole block; `parent`'s own when the key is absent.
SourceLocation key_place(const Node& parent, std::string_view key);
SourceLocation value_place(const Node& parent, std::string_view key);

}  // namespace slicewise::scenarios

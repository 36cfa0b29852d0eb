#pragma once

#include <string>

#include "../document/stored_document.hpp"
#include "../text/text_table.hpp"

namespace slicewise::reports {

// What a stored result says of the workload at the pointer `w` in the variant at `at`, in
// sentences.
std::string workload_story(StoredDocument& document, const TextStyle& style, const std::string& at,
                           const std::string& w);

}  // namespace slicewise::reports

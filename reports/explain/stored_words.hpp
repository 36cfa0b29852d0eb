#pragma once

#include <string>
#include <vector>

#include "../document/stored_document.hpp"
#include "../text/text_table.hpp"

// Words and figures of a stored result, by their JSON pointers; absent: none, or 0.
namespace slicewise::reports {

// Wrapped and indented; "" of nothing.
std::string said(const TextStyle& style, const std::string& sentence, int indent = 2);
// The pointers of the members of a list; none where it is absent.
std::vector<std::string> items(StoredDocument& document, const std::string& list);
double figure(StoredDocument& document, const std::string& pointer, double absent = 0);
std::string text_of(StoredDocument& document, const std::string& pointer);
// Of seconds, "2h30m".
std::string time(StoredDocument& document, const std::string& pointer);
// Findings that name the workload, or with "" all that are more than a note.
std::string findings(StoredDocument& document, const TextStyle& style, const std::string& variant,
                     const std::string& workload);
// Whether it says who was on a GPU of the variant; older ones do not.
bool knows_places(StoredDocument& document, const std::string& at);

}  // namespace slicewise::reports

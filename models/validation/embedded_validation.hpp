#pragma once

#include <string_view>

// The text of each file in models/validation.
namespace slicewise::models::embedded {

std::string_view validation_sources_json();
std::string_view validation_studies_json();
std::string_view validation_gpus_json();
// The rows of a source by its id; "" when there are none.
std::string_view validation_csv(std::string_view source);

}  // namespace slicewise::models::embedded

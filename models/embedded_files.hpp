#pragma once

#include <string_view>

// The text of each file in models/catalog.
namespace slicewise::models::embedded {

std::string_view instances_json();
std::string_view interconnects_json();
std::string_view prices_json();
std::string_view spot_json();
std::string_view commitments_json();
std::string_view gpus_json();
std::string_view mig_json();
std::string_view profiles_json();
std::string_view llm_models_json();

}  // namespace slicewise::models::embedded

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/result.hpp"

// How documents write what requests, tokens, replicas and notebook users came to.
namespace slicewise::reports::document {

nlohmann::json requests(const sim::RequestCounts& counts);
nlohmann::json tokens(const sim::TokenFigures& figures);
nlohmann::json scaling(const sim::ScalingFigures& figures);
nlohmann::json gang(const sim::GangFigures& figures);
nlohmann::json notebooks(const sim::NotebookFigures& figures);

}  // namespace slicewise::reports::document

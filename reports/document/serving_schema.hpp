#pragma once

#include "json_schema.hpp"

// Schemas of what documents say of requests, tokens, replicas and notebook users, and of the parts
// that documents share.
namespace slicewise::reports::json_schema {

json times(std::string_view description);
json objective();
json requests();
json tokens();
json scaling();
json gang();
json notebooks();

}  // namespace slicewise::reports::json_schema

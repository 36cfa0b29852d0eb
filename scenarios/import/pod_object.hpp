#pragma once

#include <optional>
#include <string>

#include "../text/json_value.hpp"
#include "pod_record.hpp"

namespace slicewise::scenarios {

// Why an object could not be read.
struct BadObject {
  JsonValue at;
  std::string message;
  std::string help;
};

// A pod of the API server. Remarks on it go to `report`; `where` of the result is `place`.
tl::expected<PodRecord, BadObject> read_pod(JsonValue pod, const SourceLocation& place,
                                            ImportReport& report);

// A time of the API server in ns since 1970; nullopt when it is absent or none.
PodRecord::Time time_of(JsonValue text);

}  // namespace slicewise::scenarios

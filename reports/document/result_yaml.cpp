#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "result_document.hpp"
#include "yaml_text.hpp"

namespace slicewise::reports {

std::string result_yaml(const sim::Result& result) { return yaml_text(result_document(result)); }

}  // namespace slicewise::reports

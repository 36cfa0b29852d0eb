#include "request_csv.hpp"

namespace slicewise::scenarios {

std::string request_csv(const Imported& /*imported*/) { return ""; }

}  // namespace slicewise::scenarios

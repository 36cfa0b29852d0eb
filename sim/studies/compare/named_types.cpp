#include <algorithm>

#include "candidates.hpp"

namespace slicewise::sim {

void add_type(const models::InstanceType* type, std::vector<const models::InstanceType*>& types) {
  if (type != nullptr && std::ranges::find(types, type) == types.end()) types.push_back(type);
}

bool add_types_named(const std::string& name, const models::Catalogue& catalogue,
                     std::vector<const models::InstanceType*>& types) {
  if (const models::InstanceType* type = catalogue.find_instance(name)) {
    add_type(type, types);
    return true;
  }
  bool any = false;
  for (const models::InstanceType& type : catalogue.instances) {
    if (type.family != name || !type.retired_on.empty()) continue;
    add_type(&type, types);
    any = true;
  }
  return any;
}

}  // namespace slicewise::sim

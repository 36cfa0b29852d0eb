#pragma once

#include <string>

#include "slicewise/sim/plan.hpp"

namespace slicewise::reports {

// "Saves $1,920 a month (62%) against the scenario's own pools.", with what a job costs then and
// what work gets slower; "" where there is nothing to compare with.
std::string saving_sentence(const sim::Plan& plan);

}  // namespace slicewise::reports

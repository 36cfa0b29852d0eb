#pragma once

#include <string>

#include "slicewise/sim/plan.hpp"

namespace slicewise::reports {

// "Saves $1,920 a month (62%) against the scenario's own pools.", with what a job costs then and
// what work gets slower; "" where there is nothing to compare with,
// and where keep_sentence says it.
std::string saving_sentence(const sim::Plan& plan);

// Services that take longer to answer than they did, the worst first: " 99% of requests are
// answered later, asr in 2.96 s instead of 164 ms: ..."; "" where none does.
std::string slower_answers_sentence(const sim::OptionFigures& then, const sim::OptionFigures& was);

// Jobs that the best option leaves unfinished, and which option gets them done; "" where it leaves
// none. REQUIRES: there is an option.
std::string unfinished_sentence(const sim::Plan& plan);

// "Keep what you have: ..." where Plan::keep_as_is; "" else.
std::string keep_sentence(const sim::Plan& plan);

// Why the best option is not the one that is furthest from its limits, where another of its price
// is; "" else. REQUIRES: there is an option.
std::string for_more_work_sentence(const sim::Plan& plan);

}  // namespace slicewise::reports

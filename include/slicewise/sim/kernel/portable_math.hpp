#pragma once

namespace slicewise::sim {

// log and exp from + - * / alone: libm differs in the last bit between versions and CPUs, and one
// bit moves an event. Relative error < 4e-16 over the range used (tested against libm).
double portable_log(double x);  // REQUIRES: x > 0, finite
double portable_exp(double x);  // REQUIRES: |x| < 700

}  // namespace slicewise::sim

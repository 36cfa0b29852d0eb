#include "slicewise/reports/explain.hpp"

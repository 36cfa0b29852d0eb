#include "slicewise/scenarios/quantity.hpp"

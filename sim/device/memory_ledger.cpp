#include "slicewise/sim/device/memory_ledger.hpp"

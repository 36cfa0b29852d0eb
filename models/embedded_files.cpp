#include "embedded_files.hpp"

// One accessor per file; the symbols are defined in embedded_files.S.
#define SLICEWISE_EMBEDDED_FILE(name)                                          \
  extern "C" const char slicewise_catalog_##name##_begin[];                    \
  extern "C" const char slicewise_catalog_##name##_end[];                      \
  std::string_view slicewise::models::embedded::name##_json() {                \
    return {slicewise_catalog_##name##_begin, slicewise_catalog_##name##_end}; \
  }

SLICEWISE_EMBEDDED_FILE(instances)
SLICEWISE_EMBEDDED_FILE(interconnects)
SLICEWISE_EMBEDDED_FILE(prices)
SLICEWISE_EMBEDDED_FILE(spot)
SLICEWISE_EMBEDDED_FILE(commitments)
SLICEWISE_EMBEDDED_FILE(gpus)
SLICEWISE_EMBEDDED_FILE(mig)
SLICEWISE_EMBEDDED_FILE(profiles)
SLICEWISE_EMBEDDED_FILE(llm_models)

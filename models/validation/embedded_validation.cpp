#include "embedded_validation.hpp"

// One function per file; the symbols are defined in embedded_validation.S.
#define SLICEWISE_VALIDATION_FILE(name)                                              \
  extern "C" const char slicewise_validation_##name##_begin[];                       \
  extern "C" const char slicewise_validation_##name##_end[];                         \
  static std::string_view name##_text() {                                            \
    return {slicewise_validation_##name##_begin, slicewise_validation_##name##_end}; \
  }

SLICEWISE_VALIDATION_FILE(sources)
SLICEWISE_VALIDATION_FILE(studies)
SLICEWISE_VALIDATION_FILE(gpus)
SLICEWISE_VALIDATION_FILE(migperf)
SLICEWISE_VALIDATION_FILE(miso)
SLICEWISE_VALIDATION_FILE(parvagpu)
SLICEWISE_VALIDATION_FILE(igniter)
SLICEWISE_VALIDATION_FILE(muxserve)
SLICEWISE_VALIDATION_FILE(nos)
SLICEWISE_VALIDATION_FILE(njit)
SLICEWISE_VALIDATION_FILE(nvshare)
SLICEWISE_VALIDATION_FILE(tsfast)
SLICEWISE_VALIDATION_FILE(t4_tutorial)
SLICEWISE_VALIDATION_FILE(gavel_p100)
SLICEWISE_VALIDATION_FILE(gavel_k80)

namespace slicewise::models::embedded {

std::string_view validation_sources_json() { return sources_text(); }
std::string_view validation_studies_json() { return studies_text(); }
std::string_view validation_gpus_json() { return gpus_text(); }

std::string_view validation_csv(std::string_view source) {
  if (source == "migperf") return migperf_text();
  if (source == "miso") return miso_text();
  if (source == "parvagpu") return parvagpu_text();
  if (source == "igniter") return igniter_text();
  if (source == "muxserve") return muxserve_text();
  if (source == "nos") return nos_text();
  if (source == "njit") return njit_text();
  if (source == "nvshare") return nvshare_text();
  if (source == "tsfast") return tsfast_text();
  if (source == "t4-tutorial") return t4_tutorial_text();
  if (source == "gavel-p100") return gavel_p100_text();
  if (source == "gavel-k80") return gavel_k80_text();
  return {};
}

}  // namespace slicewise::models::embedded

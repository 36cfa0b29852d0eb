#pragma once

#include <string_view>

namespace slicewise::scenarios {

// Annotation of Jobs that `slicewise export` writes one by one: the workload that they are of,
// which `import k8s` makes of them again.
inline constexpr std::string_view kJobsAnnotation = "slicewise.dev/jobs-of";

}  // namespace slicewise::scenarios

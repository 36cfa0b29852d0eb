#include "slicewise/scenarios/job_trace.hpp"

#include "job_trace_header.hpp"
#include "job_trace_readers.hpp"

namespace slicewise::scenarios {

std::string_view state_name(JobState state) { return kStateNames[static_cast<std::size_t>(state)]; }

bool is_binary_job_trace(std::string_view bytes) {
  return bytes.starts_with(std::string_view(kBinaryMagic.data(), kBinaryMagic.size()));
}

Expected<JobTrace> read_job_trace(const SourceText& source, std::shared_ptr<const void> backing) {
  if (is_binary_job_trace(source.text)) {
    return map_job_trace(source.name, source.text, std::move(backing));
  }
  return read_job_trace_csv(source);
}

}  // namespace slicewise::scenarios

#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/result_record.hpp"

// What the documents of a replay and of an inflation say of where their figures come from.
namespace slicewise::sim {

inline constexpr std::string_view kReplayApiVersion = "slicewise.dev/replay.v1alpha1";

template <class Study>
std::vector<Field> origin_fields() {
  const auto of_stamp = [](Field field) {
    field.base = [](const void* at) -> const void* { return &shapes::in<Study>(at).origin.stamp; };
    return field;
  };
  const auto like = [&](std::string_view key) { return of_stamp(record_of<Stamp>().like(key)); };
  return {of_stamp(field<&Stamp::scenario_file>("trace", "file of the trace")).csv(1, "trace"),
          of_stamp(field<&Stamp::scenario_sha256>("traceSha256",
                                                  "SHA-256 of its bytes, in hexadecimal")),
          field<&Study::origin, &ReplayOrigin::cluster>("cluster", "what the jobs were placed on")
              .csv(2, "cluster"),
          like("seed"),
          like("version"),
          like("priceDate"),
          like("priceFile"),
          like("priceFileSha256"),
          like("catalogueFiles"),
          like("catalogueSha256"),
          of_stamp(field<&Stamp::settings>(
                       "flags", "of `slicewise replay` that make these figures of the trace"))
              .optional(),
          field<&Study::interrupted>("interrupted", "jobs that had not ended by then are missing")
              .optional()};
}

// Columns of a CSV from here on are of jobs that share GPUs.
inline constexpr int kSharingColumn = 1'000;

inline constexpr std::string_view kReplayMetadata =
    "what produced the figures; the same values, the same bytes";

template <>
const Record& record_of<ReplayStudy>();
template <>
const Record& record_of<InflationStudy>();

}  // namespace slicewise::sim

namespace slicewise::reports {

// What JSON, YAML and CSV show.
nlohmann::json document_of(const sim::ReplayStudy& study);

}  // namespace slicewise::reports

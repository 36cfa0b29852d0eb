#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/replay/replay.hpp"

#include "commands.hpp"

namespace slicewise::tools {

inline constexpr std::int64_t kMostNodes = 1'000'000;

// What --gpus, --nodes or --instances say.
struct NamedCluster {
  sim::ReplayCluster cluster;
  std::string text;                 // "250 x p3.16xlarge"
  std::optional<UsdPerHour> price;  // of all nodes; absent without instance types
};

// What --nodes says with "250x8", nodes of which nothing but the GPUs is known; nullopt: a file.
std::optional<std::pair<std::int64_t, std::int64_t>> nodes_times_gpus(const std::string& text);

// Every mistake at once. The catalogue is the one with the prices in force.
Expected<NamedCluster> named_cluster(const ReplayCommand& command,
                                     const models::Catalogue& catalogue);

// Says in the cluster which models of the catalogue the names of the trace's GPUs mean: logs have
// "a100" and "Tesla_V100".
void name_gpus(const scenarios::JobTrace& trace, const models::Catalogue& catalogue,
               sim::ReplayCluster& cluster);

// Jobs whose peak of GPU memory no GPU of the cluster has, as a replay without sharing runs them.
Diagnostics jobs_above_memory(const scenarios::JobTrace& trace, const sim::ReplayCluster& cluster,
                              const models::Catalogue& catalogue);

// The flags that give the figures of the command again, whether flags or a file of kind: Replay
// said them; empty where only such a file can say it.
std::vector<std::string> flags_of(const ReplayCommand& command, const CommonFlags& flags);

// What --sharing says of the instance types of the cluster.
Expected<std::vector<std::shared_ptr<const sim::GpuSharing>>> named_sharings(
    const ReplayCommand& command, const NamedCluster& cluster, const models::Catalogue& catalogue);

// What --profile-by says, rules and files of rules in their order.
Expected<std::vector<scenarios::ProfileRule>> profile_rules(const ReplayCommand& command,
                                                            const models::Catalogue& catalogue,
                                                            std::vector<SourceText>& sources);

struct ReplayInput {
  scenarios::JobTrace trace;
  std::string sha256;   // of the bytes of its file
  Diagnostics skipped;  // rows, by reason
};

// Reads what -f names: a trace, or a file of kind: Replay, which names the trace and fills in what
// no flag says; command.file is the trace's then. A binary trace is mapped into memory. `sources`
// gets the texts that the errors are about.
Expected<ReplayInput> open_replay(ReplayCommand& command, std::vector<SourceText>& sources);

}  // namespace slicewise::tools

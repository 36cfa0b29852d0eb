#pragma once

#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"

namespace slicewise::sim {

// What the files of a cluster mean together, on the GPUs that the catalogue knows: pods that stay
// Pending or are refused, memory that does not suffice, settings without effect. Says nothing of
// what the files leave open: a resource or a label is missing only if everything that could provide
// it was read. In order of file and line, without what the reader found itself.
Diagnostics lint_cluster(const scenarios::ClusterFiles& files, const models::Catalogue& catalogue,
                         scenarios::PluginVersion version);

// How many pods a shared GPU of each group of nodes holds, and the pods whose memory no file says:
// "shared-gpus: 2 per GPU: 2 x (8.0 + 0.4 GiB) of 22.1; a third lacks 3.1 GiB".
std::vector<std::string> cluster_room_lines(const scenarios::ClusterFiles& files,
                                            const models::Catalogue& catalogue);

// What importers may know of instance types and language models.
void take_catalogue(const models::Catalogue& catalogue, scenarios::ImportOptions& options);

}  // namespace slicewise::sim

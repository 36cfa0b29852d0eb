#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "node_settings.hpp"
#include "pool_targets.hpp"

// What the scripts and check lists of bundles have alike, whoever shares the GPUs.
namespace slicewise::reports {

// As a word of a shell, whatever is in it.
std::string shell_word(std::string_view text);

std::string origin_of(const ExportOptions& options);

// The first line of a script.
std::string script_title(const scenarios::Scenario& scenario, const ExportOptions& options,
                         std::string_view what);

// Lines of apply.sh and rollback.sh: objects that pods need (`verb`: "apply"), objects that are
// patched in place, what is left to people, and how to undo it. `waits`: until the pods that were
// patched are new; where people have to cut GPUs before, nobody knows how long that is.
std::string object_lines(const scenarios::Scenario& scenario, std::string_view verb);
std::string patch_lines(const scenarios::Scenario& scenario);
std::string pod_steps(const scenarios::Scenario& scenario, bool waits);
// "PyTorchJob finetune in namespace research, see pods/research-finetune.yaml", each.
std::vector<std::string> left_by_hand(const scenarios::Scenario& scenario);
std::string undo_lines(const scenarios::Scenario& scenario);

// Of apply.sh, before it does anything: whether nodes of the pools' names are of another type.
std::string type_checks(const std::vector<PoolTarget>& targets);

// ... and whether there are nodes for the pods that are patched, or somebody to start them; `help`:
// who makes them.
std::string node_checks(const scenarios::Scenario& scenario, const std::vector<PoolNodes>& nodes,
                        std::string_view help);

// Of VERIFY.md: the pods to expect.
std::string pod_lines(const scenarios::Scenario& scenario);

// As sha256sum writes them; a cut shows when the last file has no line.
std::string checksums(const ExportFiles& files);

}  // namespace slicewise::reports

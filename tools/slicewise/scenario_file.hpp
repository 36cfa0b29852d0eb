#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/exit_code.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/run_size.hpp"
#include "slicewise/sim/stamp.hpp"

#include "commands.hpp"

// What verbs start from: a scenario or a stored plan, prices laid over the catalogue, one variant.
namespace slicewise::tools {

// A scenario file as the user gave it, with the --set flags: what diagnostics point into.
struct ScenarioFile {
  // The file, "--set" and "--sweep" with one flag a line, its traces; of a plan's option the plan
  // before them.
  std::vector<SourceText> texts;
  scenarios::LoadedScenario loaded;
  std::vector<std::string> settings;      // --set
  std::string price_file;                 // of a plan's option, the prices that it was planned with
  std::vector<std::string> planned_with;  // of a plan's option, the plan's --set

  // The scenario's file, also where an option of a plan was read.
  const SourceText& source() const { return texts.at(is_option ? 1 : 0); }
  std::span<const SourceText> traces() const { return std::span(texts).subspan(is_option ? 4 : 3); }
  bool is_option = false;
  std::string origin;  // of a plan's option, which one and what the plan found
};

// FILE_UNREADABLE when there is no such file; mistakes in the file are in `loaded.problems`.
Expected<ScenarioFile> open_scenario(const std::string& path, const std::vector<std::string>& set);

// The same of a text that was read before.
ScenarioFile scenario_of(SourceText source, const std::vector<std::string>& set);

// The catalogue that ships with the profileFiles of the scenario, where one is given, and then the
// --catalogue files laid over it, in their order; `texts` are what diagnostics point into.
Expected<models::Catalogue> laid_catalogue(const CommonFlags& flags, const ScenarioFile* scenario,
                                           std::vector<SourceText>& texts);

// The same; mistakes are printed.
tl::expected<models::Catalogue, ExitCode> open_catalogue(const CommonFlags& flags,
                                                         const ScenarioFile* scenario = nullptr);

// The --prices file that a result was computed with.
struct PriceFile {
  std::string name;
  std::string sha256;  // of its bytes, in hexadecimal
};

// Lays the --prices file over the catalogue's prices and says in `used` which file that was; "" as
// path changes nothing. Mistakes are printed.
ExitCode lay_prices_over(models::Catalogue& catalogue, const std::string& path,
                         const CommonFlags& flags, PriceFile* used = nullptr);

// "before, after": the variants of a file, for messages.
std::string variant_names(const scenarios::ScenarioSet& set);

// Keeps the variants that are named, in the order of the file; no names keep all. A name that the
// file does not have is a usage error, printed with the nearest one.
ExitCode keep_variants(scenarios::ScenarioSet& set, const std::vector<std::string>& names);

// Prints RUN_TOO_LARGE for each of `variants` that is beyond the limits. What is wrong with one is
// said where it is simulated.
ExitCode check_size(const std::vector<SourceText>& texts,
                    std::span<const scenarios::Scenario> variants,
                    const models::Catalogue& catalogue, const sim::SizeLimits& limits,
                    const CommonFlags& flags);

// What is simulated, and with what.
struct OpenedScenario {
  ScenarioFile file;
  models::Catalogue catalogue;
  PriceFile prices;

  const scenarios::ScenarioSet& set() const { return file.loaded.set; }
};

// What a FILE argument names, the catalogue with its profileFiles, and the prices: those of the
// --prices file, else those that it was planned with. Mistakes in the scenario are left in it.
tl::expected<OpenedScenario, ExitCode> open_priced(const std::string& path,
                                                   const std::vector<std::string>& set,
                                                   const std::string& prices,
                                                   const CommonFlags& flags,
                                                   std::optional<int> candidate = {});

// Prints the mistakes in the scenario, where there are some.
ExitCode check_mistakes(const OpenedScenario& opened, const CommonFlags& flags);

struct OneVariant : OpenedScenario {
  std::size_t variant = 0;  // into file.loaded.set.variants
};

// Reads the scenario and the prices, finds the variant ("": the first), lays seed, replications and
// --allow-pending over it, and checks its size; mistakes are printed.
tl::expected<OneVariant, ExitCode> open_variant(const StudyCommand& command,
                                                const CommonFlags& flags);

// Whether the --catalogue files are those of the stamp; else what is wrong.
bool has_layers(const models::Catalogue& catalogue, const sim::Stamp& stamp, std::string& problem);

// Says in the stamp of a result which files it was made from: only tools know.
void stamp_files(const ScenarioFile& scenario, const PriceFile& prices, sim::Stamp& stamp);

// All that a simulation of a study of the nth variant depends on, but what the study asks for: one
// line.
std::string subject_of(const OpenedScenario& opened, std::size_t variant);

// 0: one per CPU.
int thread_count(int jobs);

// For standard output, or a file when `out` names one.
reports::TextStyle report_style(const std::string& out, const CommonFlags& flags);

// What a FILE argument of any verb names: a scenario, or with "plan.json#2" an option of a stored
// plan as a scenario, with the seed and the replications that it was planned with; without a number
// the best, or `candidate`. "plan.json#step1" are all pools after the first step of its path. The
// plan's scenario is looked for beside the plan, then in the working directory. Says what is wrong:
// no such file, a plan that cannot be read, that has no such option or was made from other files
// (PLAN_STALE), and flags that a plan or a scenario does not take.
tl::expected<ScenarioFile, ExitCode> open_scenario_or_option(const std::string& argument,
                                                             const std::vector<std::string>& set,
                                                             const CommonFlags& flags,
                                                             std::optional<int> candidate = {});

}  // namespace slicewise::tools

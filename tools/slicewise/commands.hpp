#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slicewise/exit_code.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/reports/reference.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/run_size.hpp"
#include "slicewise/sim/sensitivity.hpp"

namespace CLI {
class App;
}

// The verbs of the command line, one struct of settings each; flags and execute() stand in the file
// named after the verb.
namespace slicewise::tools {

enum class ColorChoice : std::uint8_t { Auto, Always, Never };
enum class ProgressChoice : std::uint8_t { Auto, Tty, Plain, None };
enum class InputChoice : std::uint8_t { Given, Sampled };

// Flags that every verb has.
struct CommonFlags {
  ColorChoice color = ColorChoice::Auto;
  bool quiet = false;
  std::vector<std::string> catalogues;  // files and folders; of verbs that read the catalogue
  std::string asked;  // the verb and its flags, but those that only say how it is written and run
};

// Junit: only of verbs that judge objectives, see kVerdictFormats. Html: of studies that `report`
// does not draw, see kPageFormats.
enum class RunFormat : std::uint8_t { Table, Wide, Json, Yaml, Csv, Markdown, Html, Junit };

// Of the verbs that simulate a scenario.
struct SimulatingCommand {
  std::string file;
  std::optional<std::uint64_t> seed;
  std::optional<int> replications;
  std::vector<std::string> set;
  std::string prices;
  bool allow_pending = false;
  int jobs = 0;  // 0: one per CPU
  sim::SizeLimits limits;
  ProgressChoice progress = ProgressChoice::Auto;
};

struct RunCommand : SimulatingCommand {
  RunFormat format = RunFormat::Table;
  std::vector<std::string> variants;  // empty: all
  std::vector<std::string> sweep;     // PATH=A,B
  std::optional<scenarios::Fidelity> fidelity;
  InputChoice inputs = InputChoice::Given;
  std::optional<scenarios::CostSplit> split;
  std::string group_by;  // "": not grouped
  std::string out;       // "": standard output
  std::string junit;     // file besides; "": none
  std::string journal;   // file; "": none
};

// Settings of the verbs that simulate one variant of a scenario in several ways.
struct StudyCommand : SimulatingCommand {
  RunFormat format = RunFormat::Table;
  std::string variant;  // "": the first
  std::string out;      // "": standard output
  std::string junit;    // file besides; "": none
  std::string journal;  // "": none
};

// What flags say of a study stands where the study reads it, but for what it writes otherwise.
struct CompareCommand : StudyCommand {
  sim::ComparisonOptions options;
  std::optional<int> max_cost;  // dollars a month
  InputChoice inputs = InputChoice::Given;
};

struct MaxLoadCommand : StudyCommand {
  sim::MaxLoadOptions options;
};

enum class DiffFormat : std::uint8_t { Table, Wide, Json, Yaml, Markdown, Svg };

struct DiffCommand {
  std::string older;
  std::string newer;
  DiffFormat format = DiffFormat::Table;
  bool exit_code = false;
  std::vector<std::string> fail_on;  // each a list of conditions
  std::string out;                   // "": standard output
};

struct PlanCommand : StudyCommand {
  sim::PlanOptions options;
  std::optional<int> max_cost;  // dollars a month
  std::optional<int> vary_pods;
  std::optional<sim::Outage> survive;
  std::optional<int> top;
  bool no_split = false;
  bool no_headroom = false;
  bool no_risk = false;
  bool no_flips = false;
  InputChoice inputs = InputChoice::Given;  // of the runs for its risk
  std::string from;  // a scenario or plan.json#2; "": the scenario's own pools
};

// `file` is made of the cluster, `out` a directory.
struct AdviseCommand : PlanCommand {
  std::vector<std::string> files;  // what kubectl printed; empty: it is asked
  std::string context;
  std::string kubeconfig;
  std::string name;        // of the scenario
  std::string prometheus;  // URL of its server; "": nothing was recorded
  std::string start;
  std::string end;
  std::string step;
  std::string latency;   // a histogram; "": none
  bool replace = false;  // what is in the directory
};

struct SensitivityCommand : StudyCommand {
  sim::SensitivityOptions options;
};

struct NeighboursCommand : StudyCommand {};

struct ReplayCommand {
  std::string file;
  std::optional<std::int64_t> gpus;                      // one pool
  std::string nodes;                                     // file, or "250x8"
  std::vector<scenarios::ReplayFile::Nodes> node_sizes;  // of a file of kind: Replay
  std::vector<std::string> instances;                    // "p3.16xlarge=250"
  std::string region;                                    // "": us-east-1
  std::string prices;
  bool any_gpu = false;
  std::vector<sim::QueuePolicy> queues;               // empty: Fifo
  std::vector<sim::NodePolicy> placements;            // empty: BestFit
  std::vector<scenarios::SharingWay> sharings;        // empty: as the trace says
  std::vector<std::string> profile_rules;             // rules, or files of them
  std::vector<Located<std::string>> rules_of_file{};  // of kind: Replay
  // Where that file names its instances and ways of sharing; empty where flags do.
  std::vector<SourceLocation> instances_where, sharings_where;
  std::optional<int> backoff_limit;
  InputChoice inputs = InputChoice::Given;
  bool skip_bad = false;
  sim::GroupBy group_by = sim::GroupBy::Nothing;
  bool restart_preempted = false;
  std::optional<int> repeat;
  std::optional<Duration> shift;
  std::optional<int> inflate;  // percent
  bool allow_pending = false;
  std::optional<std::uint64_t> seed;
  std::optional<int> replications;
  RunFormat format = RunFormat::Table;
  std::string job_times;  // "": not written
  std::string journal;    // file; "": none
  std::string out;        // "": standard output
  int jobs = 0;           // 0: one per CPU
  sim::SizeLimits limits;
  ProgressChoice progress = ProgressChoice::Auto;
};

struct ReportCommand : SimulatingCommand {
  std::vector<std::string> outputs;   // "html=report.html"; empty: html on standard output
  std::string chart;                  // that `-o svg` draws; "": of the options
  bool interactive = false;           // with the engine inside
  std::string engine;                 // its file; "": beside the program
  std::vector<std::string> variants;  // empty: all
  std::optional<scenarios::CostSplit> split;
  std::string group_by;  // "": as stored, else not grouped
};

struct ExportCommand {
  std::string file;
  std::string variant;           // "": the only one
  std::optional<int> candidate;  // of a plan; absent: the best
  const reports::ExportKind* kind = nullptr;
  std::string chart_version;                // "": the newest that slicewise knows
  std::optional<reports::NodeImage> image;  // absent: the scenario's
  bool by_operator = false;
  std::string cluster;                     // "": a placeholder
  std::string repository;                  // likewise
  std::vector<std::string> node_selector;  // KEY=VALUE
  std::string start;                       // of the run in openmetrics; "": reports::kMetricsEpoch
  bool dcgm_compat = false;
  std::optional<int> requests;  // most rows of requests.csv
  bool force = false;           // although no pod can start
  std::string prices;
  sim::SizeLimits limits;
  std::vector<std::string> set;
  std::string out;
};

enum class ImportFormat : std::uint8_t { Trace, Binary, Scenario };

struct ImportCommand {
  scenarios::ImportKind kind = scenarios::ImportKind::Openb;
  std::vector<std::string> files;
  ImportFormat format = ImportFormat::Trace;
  std::string file_named_by_format;  // of "-o trace.swt"
  scenarios::ImportOptions options;  // but for what is read of these
  std::string time_zone;             // "+08:00", "Europe/Berlin"
  std::string from;                  // "100d"
  std::string length;
  std::string rate_scale;
  std::string url;  // of a Prometheus server
  std::string start;
  std::string end;
  std::string step;
  std::string out;  // "": standard output
};

enum class CheckFormat : std::uint8_t { Table, Json, Sarif, Github, Junit };

struct CheckCommand {
  std::vector<std::string> files;  // or folders
  CheckFormat format = CheckFormat::Table;
  bool strict = false;         // warnings fail as well
  std::string plugin_version;  // "": scenarios::PluginVersion
  std::string out;             // "": standard output
};

enum class Listing : std::uint8_t { Instances, Gpus, MigProfiles, Profiles, Prices };

struct GetCommand {
  Listing listing = Listing::Instances;
  reports::ListFormat format = reports::ListFormat::Table;
  std::string name;  // positional filter
  std::string family;
  std::string gpu;
  std::string region;
  std::string fits;  // Kubernetes quantity
  std::string sort;
  std::string kind;
  std::string prices;
};

struct InitCommand {
  std::string name;  // of a template; "": list them
  std::string from;  // table of services; "": none
  std::string out;   // "": standard output
  bool force = false;
};

struct ExplainCommand {
  std::string topic;  // "": list the topics
  std::string name;   // of a profile, after the topic "profile"
};

struct CalibrateCommand {
  std::vector<std::string> files;
  models::MeasuredContext context;
  std::string out;  // "": the profiles are not written
};

struct ValidateCommand {
  std::vector<std::string> names;  // of studies, sources or modes; empty: all
  RunFormat format = RunFormat::Table;
  std::string pairs;                      // file of the user's measurements
  std::string pairs_gpu;                  // "": that of the published file
  std::vector<std::string> measurements;  // files of the user's own
  models::MeasuredContext context;        // of these
  std::string out;                        // folder for the charts, "": none
};

struct SchemaCommand {
  std::string (*text)() = nullptr;
};

struct BugReportCommand {
  std::string file;
  std::string command;  // "": not said
  std::string out;      // "": standard output
};

struct VersionCommand {
  bool json = false;
};

// Text made while the command line was read: help pages and completion scripts.
struct ShowTextCommand {
  std::string text;
};

// In the order in which help lists the verbs.
using Command =
    std::variant<InitCommand, RunCommand, PlanCommand, AdviseCommand, CompareCommand,
                 MaxLoadCommand, NeighboursCommand, SensitivityCommand, DiffCommand, ReplayCommand,
                 ReportCommand, ExportCommand, ImportCommand, CheckCommand, GetCommand,
                 CalibrateCommand, ValidateCommand, ExplainCommand, SchemaCommand, BugReportCommand,
                 VersionCommand, ShowTextCommand>;

// Each in the file of its verb: the flags, then what they ask for.
void add_flags(CLI::App& app, RunCommand& run, CommonFlags& flags);
void add_flags(CLI::App& app, CompareCommand& compare, CommonFlags& flags);
void add_flags(CLI::App& app, MaxLoadCommand& max_load, CommonFlags& flags);
void add_flags(CLI::App& app, PlanCommand& plan, CommonFlags& flags);
void add_flags(CLI::App& app, AdviseCommand& advise, CommonFlags& flags);
void add_flags(CLI::App& app, NeighboursCommand& neighbours, CommonFlags& flags);
void add_flags(CLI::App& app, SensitivityCommand& sensitivity, CommonFlags& flags);
void add_flags(CLI::App& app, DiffCommand& diff, CommonFlags& flags);
void add_flags(CLI::App& app, ReplayCommand& replay, CommonFlags& flags);
void add_flags(CLI::App& app, ReportCommand& report, CommonFlags& flags);
void add_flags(CLI::App& app, ExportCommand& exporting, CommonFlags& flags);
void add_flags(CLI::App& app, ImportCommand& import, CommonFlags& flags);
void add_flags(CLI::App& app, CheckCommand& check, CommonFlags& flags);
void add_flags(CLI::App& app, GetCommand& get, CommonFlags& flags);
void add_flags(CLI::App& app, InitCommand& init, CommonFlags& flags);
void add_flags(CLI::App& app, ExplainCommand& explain, CommonFlags& flags);
void add_flags(CLI::App& app, SchemaCommand& schema, CommonFlags& flags);
void add_flags(CLI::App& app, CalibrateCommand& calibrate, CommonFlags& flags);
void add_flags(CLI::App& app, ValidateCommand& validate, CommonFlags& flags);
void add_flags(CLI::App& app, BugReportCommand& bugreport, CommonFlags& flags);
void add_flags(CLI::App& app, VersionCommand& version, CommonFlags& flags);

ExitCode execute(const RunCommand& command, const CommonFlags& flags);
ExitCode execute(const CompareCommand& command, const CommonFlags& flags);
ExitCode execute(const MaxLoadCommand& command, const CommonFlags& flags);
ExitCode execute(const PlanCommand& command, const CommonFlags& flags);
ExitCode execute(const AdviseCommand& command, const CommonFlags& flags);
ExitCode execute(const NeighboursCommand& command, const CommonFlags& flags);
ExitCode execute(const SensitivityCommand& command, const CommonFlags& flags);
ExitCode execute(const DiffCommand& command, const CommonFlags& flags);
ExitCode execute(const ReplayCommand& command, const CommonFlags& flags);
ExitCode execute(const ReportCommand& command, const CommonFlags& flags);
ExitCode execute(const ExportCommand& command, const CommonFlags& flags);
ExitCode execute(const ImportCommand& command, const CommonFlags& flags);
ExitCode execute(const CheckCommand& command, const CommonFlags& flags);
ExitCode execute(const GetCommand& command, const CommonFlags& flags);
ExitCode execute(const InitCommand& command, const CommonFlags& flags);
ExitCode execute(const ExplainCommand& command, const CommonFlags& flags);
ExitCode execute(const SchemaCommand& command, const CommonFlags& flags);
ExitCode execute(const CalibrateCommand& command, const CommonFlags& flags);
ExitCode execute(const ValidateCommand& command, const CommonFlags& flags);
ExitCode execute(const BugReportCommand& command, const CommonFlags& flags);
ExitCode execute(const VersionCommand& command, const CommonFlags& flags);
ExitCode execute(const ShowTextCommand& command, const CommonFlags& flags);

}  // namespace slicewise::tools

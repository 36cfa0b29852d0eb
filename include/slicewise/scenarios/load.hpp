#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Scenario files: read, documented field by field, and templates to start from.
namespace slicewise::scenarios {

// Bytes of the largest scenario file that is read; a larger one is a YAML_SYNTAX.
inline constexpr std::size_t kLargestScenario = 16U << 20U;

// Bytes of the largest request trace that is read.
inline constexpr std::size_t kLargestTrace = 256U << 20U;

// Reads a file that a scenario names, or at least one byte more than the largest that is read;
// FILE_UNREADABLE when that fails. The library opens no file itself.
using FileReader = std::function<Expected<SourceText>(const std::string& path)>;

// Changes made on the command line before variants are applied, as `helm --set` does:
// "workloads.cifar10.count=3", "nodePools.v100.instanceType=g5.12xlarge".
struct Overrides {
  std::vector<std::string> set;
};

// A setting whose path begins so adds a dimension to the scenario's sweep: "sweep.PATH=[1, 2]", as
// --sweep PATH=1,2 does.
inline constexpr std::string_view kSweepPath = "sweep.";

// A scenario file as far as it could be read.
struct LoadedScenario {
  ScenarioSet set;       // complete when there are no problems, else what could be made out
  Diagnostics problems;  // every mistake, in file order
  std::vector<SourceText> traces;  // the files it names, to show their lines
};

// Reads a scenario (YAML 1.2 core schema or JSON) to the end, whatever is wrong with it: a mistake
// in one place hides none in another. The request traces that it names are read with `read_file`,
// by paths relative to the folder of `source.name`; without a reader naming one is a
// FILE_UNREADABLE.
LoadedScenario read_scenario_file(const SourceText& source, const Overrides& overrides = {},
                                  const FileReader& read_file = {});

// The same for callers who want a scenario without mistakes or the list of them.
Expected<ScenarioSet> load_scenario(const SourceText& source, const Overrides& overrides = {},
                                    const FileReader& read_file = {});

// The variant of a scenario file that `configured` was made from, as a file of its own (YAML,
// without comments): with the node pools of `configured`, what its pods ask for, its seed,
// replications and profileFiles; all else, paths of traces too, as the two say it. "" when
// the file has no variant of that name. REQUIRES: read_scenario_file() found no problem in them.
std::string scenario_text(const SourceText& source, const Overrides& overrides,
                          const Scenario& configured);

// What `slicewise explain spec.nodePools.devicePlugin` prints about one field.
struct FieldDoc {
  std::string path;  // "spec.nodePools.instanceType"
  std::string type;  // "quantity", "one of: a, b", "list of nodePool"
  bool required = false;
  std::string default_value;  // "" = none
  std::string description;
  std::string example;
  std::vector<std::string> children;  // names of the fields below, "" when a leaf
};

// The field at a dotted path, with or without the leading "spec."; list positions may be left out
// or given ("spec.nodePools[0].name"). nullopt when there is none.
std::optional<FieldDoc> describe_field(std::string_view path);

// The known paths nearest to a wrong one, best first, at most three.
std::vector<std::string> similar_fields(std::string_view path);

// The JSON Schema (draft-07) of scenario files. Loader, schema and `explain` come from the same
// table of fields.
std::string scenario_schema_json();

// What an amount counts. Dollars stand in the price book, not in fields.
enum class AmountUnit : std::uint8_t {
  Dollars,
  DollarsPerHour,
  Seconds,
  Bytes,
  PerSecond,
  Ratio,
  Cores,
  Count,
};

// What the amounts of the field at `path` below a workload or a node pool count.
// REQUIRES: the path is one of an amount.
AmountUnit workload_unit(std::string_view path);
AmountUnit pool_unit(std::string_view path);

// The amount of the field at `path` below its workload or node pool ("measured.requestGpuTime",
// "gpu.timeSlice") in seconds, bytes, vCPUs, shares of one, per second, or as a number; of what
// varies at random the mean. nullopt where nothing is said.
std::optional<double> amount_at(const Workload& workload, std::string_view path);
std::optional<double> amount_at(const NodePool& pool, std::string_view path);

// Says it anew. REQUIRES: the path is one of an amount, and its blocks are there.
void set_amount(Workload& workload, std::string_view path, double amount);
void set_amount(NodePool& pool, std::string_view path, double amount);

// Hex SHA-256 of `text`, then a line feed and each further part in turn.
std::string sha256_hex(std::string_view text, const std::vector<std::string>& parts = {});

// A scenario file to start from, with comments: what `slicewise init` writes.
struct Template {
  std::string_view name;  // "online-services"
  std::string_view situation;
  std::string_view text;  // lives as long as the program
};

// In the order in which people are likely to want them.
std::span<const Template> templates();

// What the catalogue knows of a GPU that a table names.
struct TableGpu {
  std::string name;           // as the catalogue has it
  std::string instance_type;  // that has such GPUs; "" when none is known
  int gpus_of_instance = 1;
};

// A scenario of Services from a table (CSV with a header; commas, semicolons, bars or tabs): the
// columns name, memory (of the GPU,
// 4Gi), ms_per_request (GPU time) and requests_per_s, and where they are known p95 (the objective,
// 300ms) and gpu (that memory and time were measured on). `find_gpu` looks such a GPU up; its error
// says which may be meant. What the table does not say is marked TODO. Errors: columns that are
// unknown, missing or there twice (TRACE_COLUMN), values that cannot be read or simulated, GPUs
// that are unknown, names that stand twice.
Expected<std::string> scenario_of_services(
    const SourceText& table, const std::string& name,
    const std::function<tl::expected<TableGpu, std::string>(const std::string& gpu)>& find_gpu);

}  // namespace slicewise::scenarios

#include "replay_input.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "slicewise/models/gpu_names.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/load.hpp"

#include "choices.hpp"
#include "command_line.hpp"
#include "files.hpp"
#include "import_notes.hpp"

namespace slicewise::tools {
namespace {

Diagnostic wrong_value(const std::string& message, const std::string& help) {
  return make_diagnostic(Code::ValueRange, {}, message, help);
}

// "1 GPU", "2,000 GPUs".
std::string many(std::int64_t count, const std::string& what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

std::string gpus_text(std::int64_t gpus) { return many(gpus, "GPU"); }

std::string nodes_text(const NamedCluster& named) {
  return many(static_cast<std::int64_t>(named.cluster.nodes.size()), "node");
}

NamedCluster pool_of(std::int64_t gpus) {
  NamedCluster named;
  named.cluster.pool_gpus = gpus;
  named.cluster.only_gpus = true;
  named.text = "one pool of " + gpus_text(gpus);
  return named;
}

NamedCluster plain_nodes(std::int64_t nodes, std::int64_t gpus) {
  NamedCluster named;
  named.cluster.only_gpus = true;
  named.cluster.nodes.assign(static_cast<std::size_t>(nodes),
                             {"", {}, {}, static_cast<int>(gpus), ""});
  named.text = fmt::format("{} with {} each", many(nodes, "node"), gpus_text(gpus));
  return named;
}

NamedCluster sized_nodes(const std::vector<scenarios::ReplayFile::Nodes>& sizes) {
  NamedCluster named;
  named.cluster.only_gpus = !sizes.front().cpu;
  std::int64_t gpus = 0;
  for (const scenarios::ReplayFile::Nodes& size : sizes) {
    const sim::NodeShape node{"", size.cpu.value_or(Millicores{}), size.memory.value_or(Bytes{}),
                              size.gpus, size.gpu_model};
    named.cluster.nodes.insert(named.cluster.nodes.end(), static_cast<std::size_t>(size.count),
                               node);
    gpus += size.gpus * size.count;
  }
  named.text = fmt::format("{} with {}", nodes_text(named), gpus_text(gpus));
  return named;
}

Expected<NamedCluster> listed_nodes(const std::string& path) {
  Expected<SourceText> source = read_source(path);
  if (!source) {
    source.error().front().help = "--nodes takes a CSV file, or 250x8: 250 nodes with 8 GPUs each";
    return tl::unexpected(source.error());
  }
  const auto rows = scenarios::read_node_list(*source);
  if (!rows) return tl::unexpected(rows.error());
  NamedCluster named;
  std::int64_t gpus = 0;
  for (const scenarios::NodeRow& row : *rows) {
    const sim::NodeShape node{row.name, row.cpu, row.memory, row.gpus, row.gpu_model};
    named.cluster.nodes.insert(named.cluster.nodes.end(), static_cast<std::size_t>(row.count),
                               node);
    gpus += std::int64_t{row.gpus} * row.count;
  }
  // Ties go to the smallest name.
  std::ranges::stable_sort(named.cluster.nodes, {}, &sim::NodeShape::name);
  named.text = fmt::format("{} with {} ({})", nodes_text(named), gpus_text(gpus), path);
  return named;
}

std::string region_of(const ReplayCommand& command) {
  return command.region.empty() ? scenarios::ReplayFile{}.region : command.region;
}

// One "p3.16xlarge=250".
void add_instances(const std::string& entry, const ReplayCommand& command,
                   const models::Catalogue& catalogue, NamedCluster& named, Diagnostics& problems) {
  const std::size_t equals = std::min(entry.find('='), entry.size());
  const std::string name = entry.substr(0, equals);
  const auto count = equals == entry.size() ? whole_number("1", 1, 1)
                                            : whole_number(entry.substr(equals + 1), 1, kMostNodes);
  if (!count) {
    problems.push_back(wrong_value(fmt::format("\"{}\": {}", entry, count.error()),
                                   "write --instances p3.16xlarge=250"));
  }
  const models::InstanceType* type = catalogue.find_instance(name);
  if (type == nullptr) {
    std::vector<std::string> known;
    for (const models::InstanceType& each : catalogue.instances) known.push_back(each.name);
    const auto near = nearest_name(name, known);
    problems.push_back(make_diagnostic(
        Code::InstanceUnknown, {}, fmt::format("\"{}\" is not in the catalogue", name),
        near ? fmt::format("did you mean {}?", *near) : "slicewise get instances lists them"));
  }
  if (type == nullptr || !count) return;
  const sim::NodeShape node{type->name, type->allocatable_cpu, type->allocatable_memory,
                            type->gpu_count, type->gpu_model};
  named.cluster.nodes.insert(named.cluster.nodes.end(), static_cast<std::size_t>(*count), node);
  named.text += fmt::format("{}{} x {}", named.text.empty() ? "" : ", ", *count, type->name);
  const auto price =
      catalogue.prices.find(type->name, region_of(command), models::PurchaseOption::OnDemand);
  if (!price) {
    problems.insert(problems.end(), price.error().begin(), price.error().end());
    return;
  }
  named.price->per_hour += {price->usd.per_hour.nano * *count};
}

// What is wrong with the nth entry of a list stands where a file has that entry.
void place(const Diagnostics& found, const std::vector<SourceLocation>& list, std::size_t nth,
           Diagnostics& problems) {
  for (Diagnostic problem : found) {
    if (problem.where.line == 0 && nth < list.size()) problem.where = list[nth];
    problems.push_back(std::move(problem));
  }
}

Expected<NamedCluster> instances(const ReplayCommand& command, const models::Catalogue& catalogue) {
  NamedCluster named;
  named.price = UsdPerHour{};
  Diagnostics problems;
  for (std::size_t n = 0; n < command.instances.size(); ++n) {
    Diagnostics found;
    add_instances(command.instances[n], command, catalogue, named, found);
    place(found, command.instances_where, n, problems);
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  named.text += " in " + region_of(command);
  return named;
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> nodes_times_gpus(const std::string& text) {
  const std::size_t times = text.find('x');
  if (times == std::string::npos) return std::nullopt;
  const auto nodes = whole_number(text.substr(0, times), 1, kMostNodes);
  const auto gpus = whole_number(text.substr(times + 1), 1, sim::kMostGpusOfNode);
  if (!nodes || !gpus) return std::nullopt;
  return std::pair{*nodes, *gpus};
}

Expected<NamedCluster> named_cluster(const ReplayCommand& command,
                                     const models::Catalogue& catalogue) {
  Expected<NamedCluster> named = [&]() -> Expected<NamedCluster> {
    if (command.gpus) return pool_of(*command.gpus);
    if (!command.instances.empty()) return instances(command, catalogue);
    if (!command.node_sizes.empty()) return sized_nodes(command.node_sizes);
    if (const auto plain = nodes_times_gpus(command.nodes)) {
      return plain_nodes(plain->first, plain->second);
    }
    return listed_nodes(command.nodes);
  }();
  if (named) named->cluster.any_gpu_model = command.any_gpu;
  return named;
}

Expected<std::vector<std::shared_ptr<const sim::GpuSharing>>> named_sharings(
    const ReplayCommand& command, const NamedCluster& cluster, const models::Catalogue& catalogue) {
  std::vector<std::string> types;
  for (const sim::NodeShape& node : cluster.cluster.nodes) {
    if (types.empty() || types.back() != node.name) types.push_back(node.name);
  }
  std::vector<std::shared_ptr<const sim::GpuSharing>> sharings;
  Diagnostics problems;
  for (std::size_t n = 0; n < command.sharings.size(); ++n) {
    auto sharing = sim::share_gpus(command.sharings[n], types, region_of(command), catalogue);
    if (sharing) {
      sharings.push_back(std::make_shared<const sim::GpuSharing>(std::move(*sharing)));
    } else {
      place(sharing.error(), command.sharings_where, n, problems);
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return sharings;
}

void name_gpus(const scenarios::JobTrace& trace, const models::Catalogue& catalogue,
               sim::ReplayCluster& cluster) {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t names : trace.gpu_models.values()) {
    if (!seen.insert(names).second) continue;
    std::stringstream text(trace.names[names]);
    for (std::string name; std::getline(text, name, '|');) {
      std::vector<std::string> meant;
      for (const auto* gpu : models::gpus_called(catalogue, name)) meant.push_back(gpu->name);
      if (!meant.empty()) cluster.gpu_names.emplace(name, std::move(meant));
    }
  }
}

Diagnostics jobs_above_memory(const scenarios::JobTrace& trace, const sim::ReplayCluster& cluster,
                              const models::Catalogue& catalogue) {
  if (trace.gpu_memory.empty()) return {};
  std::set<std::string_view> models;
  for (const sim::NodeShape& node : cluster.nodes) models.insert(node.gpu_model);
  if (models.empty()) return {};  // GPUs of no kind
  Bytes most;
  for (const std::string_view name : models) {
    const models::GpuModel* gpu = models::gpu_called(catalogue, name);
    if (gpu == nullptr) return {};
    most = std::max(most, gpu->memory_total);
  }
  std::int64_t jobs = 0;
  std::size_t first = 0;
  for (std::size_t row = trace.size(); row-- > 0;) {
    if (trace.gpus[row] == 0 || trace.gpu_memory[row] <= most) continue;
    ++jobs;
    first = row;
  }
  if (jobs == 0) return {};
  return {make_diagnostic(
      Code::JobNeverFits, {},
      fmt::format(
          "{} {} more GPU memory than any GPU here has ({:.4g} GiB), and ran all the same; the "
          "first is {}",
          jobs, jobs == 1 ? "job needs" : "jobs need", in_gibibytes(most),
          trace.row_place(first).text()),
      "--sharing exclusive reckons with GPU memory: it leaves them out")};
}

namespace {

bool names_cluster(const ReplayCommand& command) {
  return command.gpus || !command.nodes.empty() || !command.instances.empty();
}

// `path` as seen from where slicewise runs, when it was written in `file`.
std::string beside(const std::string& file, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return file == "-" || path.empty() || path.starts_with('/') ? path : (folder / path).string();
}

template <class Policies, class Choices>
void take_words(Policies& policies, const std::vector<std::string>& words, const Choices& choices) {
  if (!policies.empty()) return;
  for (const std::string& word : words) {
    for (const auto& choice : choices) {
      if (choice.word == word) policies.push_back(choice.value);
    }
  }
}

// What the file says and no flag does.
void take_from_file(const scenarios::ReplayFile& file, ReplayCommand& command) {
  if (!names_cluster(command)) {
    command.gpus = file.gpus;
    command.nodes = beside(command.file, file.node_list);
    command.node_sizes = file.nodes;
    for (const auto& entry : file.instances) {
      command.instances.push_back(entry.type.value + "=" + std::to_string(entry.count));
      command.instances_where.push_back(entry.type.where);
    }
    command.any_gpu = command.any_gpu || file.any_gpu;
  }
  if (command.region.empty()) command.region = file.region;
  take_words(command.queues, file.queues, kQueuePolicies);
  take_words(command.placements, file.placements, kNodePolicies);
  if (command.sharings.empty()) {
    for (const auto& way : file.sharings) {
      command.sharings.push_back(*scenarios::read_sharing_way(way.value));
      command.sharings_where.push_back(way.where);
    }
  }
  if (command.profile_rules.empty()) command.rules_of_file = file.profile_rules;
  if (!command.backoff_limit && !command.sharings.empty()) {
    command.backoff_limit = file.backoff_limit;
  }
  command.restart_preempted = command.restart_preempted || file.restart_preempted;
  if (!command.repeat && file.repeat > 1) command.repeat = file.repeat;
  if (!command.shift) command.shift = file.shift;
  if (!command.inflate && file.inflate) {
    constexpr double kPercent = 100;
    command.inflate = static_cast<int>(std::lround(*file.inflate * kPercent));
  }
  if (!command.seed) command.seed = file.seed;
  if (!command.replications) command.replications = file.replications;
  command.file = beside(command.file, file.trace.value);
}

// Bytes of the largest trace that is read; fewer where memory has no more addresses.
constexpr auto kLargestJobTrace = static_cast<std::size_t>(
    std::min<std::uint64_t>(4ULL << 30U, std::numeric_limits<std::size_t>::max() / 2));

// The trace without a copy of it; nullopt when it is no binary one.
std::optional<Expected<ReplayInput>> mapped_trace(const std::string& path) {
  const Expected<MappedFile> file = path == "-" ? tl::unexpected(Diagnostics{}) : map_file(path);
  if (!file || !scenarios::is_binary_job_trace(file->bytes)) return std::nullopt;
  auto trace = scenarios::map_job_trace(path, file->bytes, file->backing);
  if (!trace) return tl::unexpected(std::move(trace.error()));
  return ReplayInput{std::move(*trace), scenarios::sha256_hex(file->bytes), {}};
}

Expected<ReplayInput> read_trace(const std::string& path, SourceText text, bool skip_bad,
                                 std::vector<SourceText>& sources) {
  const std::string sha256 = scenarios::sha256_hex(text.text);
  if (text.text.size() > kLargestJobTrace) {
    return failure(Code::FileUnreadable, {.file = path, .line = 0},
                   "the trace is larger than 4 GiB");
  }
  Expected<SourceText> plain = scenarios::decompressed(std::move(text));
  if (!plain) return tl::unexpected(std::move(plain.error()));
  Diagnostics skipped;
  auto trace = scenarios::read_job_trace(*plain, nullptr, skip_bad ? &skipped : nullptr);
  if (!trace) {
    sources.push_back(std::move(*plain));
    return tl::unexpected(std::move(trace.error()));
  }
  return ReplayInput{std::move(*trace), sha256, std::move(skipped)};
}

// Profiles of the rules that the catalogue lacks, each rule once.
Diagnostics unknown_profiles(const std::vector<scenarios::ProfileRule>& rules,
                             const models::Catalogue& catalogue) {
  std::vector<std::string> known;
  for (const auto& profile : catalogue.profiles) known.push_back(profile.name);
  Diagnostics problems;
  for (const scenarios::ProfileRule& rule : rules) {
    for (const auto& choice : rule.choices) {
      if (catalogue.find_profile(choice.profile) != nullptr) continue;
      const auto near = nearest_name(choice.profile, known);
      problems.push_back(make_diagnostic(
          Code::ProfileUnknown, rule.text.where,
          fmt::format("\"{}\": the catalogue has no profile \"{}\"", rule.text.value,
                      choice.profile),
          near ? fmt::format("did you mean {}?", *near) : "slicewise get profiles lists them"));
    }
  }
  return problems;
}

}  // namespace

Expected<std::vector<scenarios::ProfileRule>> profile_rules(const ReplayCommand& command,
                                                            const models::Catalogue& catalogue,
                                                            std::vector<SourceText>& sources) {
  std::vector<scenarios::ProfileRule> rules;
  for (const Located<std::string>& given : command.rules_of_file) {
    auto rule = scenarios::read_profile_rule(given.value, given.where);
    if (!rule) return tl::unexpected(std::move(rule.error()));
    rules.push_back(std::move(*rule));
  }
  for (const std::string& given : command.profile_rules) {
    if (given.find('=') != std::string::npos) {
      auto rule = scenarios::read_profile_rule(given);
      if (!rule) return tl::unexpected(std::move(rule.error()));
      rules.push_back(std::move(*rule));
      continue;
    }
    auto source = read_source(given);
    if (!source) return tl::unexpected(std::move(source.error()));
    sources.push_back(*source);
    auto of_file = scenarios::read_profile_rules(*source);
    if (!of_file) return tl::unexpected(std::move(of_file.error()));
    rules.insert(rules.end(), of_file->begin(), of_file->end());
  }
  if (Diagnostics unknown = unknown_profiles(rules, catalogue); !unknown.empty()) {
    return tl::unexpected(std::move(unknown));
  }
  return rules;
}

std::vector<std::string> flags_of(const ReplayCommand& command, const CommonFlags& flags) {
  std::vector<std::string> out;
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) out.push_back(fmt::format("--{}={}", flag, value));
  };
  const auto add_number = [&](const char* flag, const auto& value) {
    if (value) add(flag, std::to_string(*value));
  };
  const auto add_switch = [&](const char* flag, bool is_on) {
    if (is_on) out.push_back(fmt::format("--{}", flag));
  };
  const auto add_words = [&](const char* flag, const auto& values, const auto& choices) {
    std::vector<std::string> words;
    for (const auto& value : values) {
      for (const auto& choice : choices) {
        if (choice.value == value) words.emplace_back(choice.word);
      }
    }
    add(flag, joined(words, ","));
  };
  std::string nodes = command.nodes;
  if (!command.node_sizes.empty()) {
    const scenarios::ReplayFile::Nodes& first = command.node_sizes.front();
    if (command.node_sizes.size() > 1 || first.cpu || !first.gpu_model.empty()) return {};
    nodes = fmt::format("{}x{}", first.count, first.gpus);
  }
  add_number("gpus", command.gpus);
  add("nodes", nodes);
  add("instances", joined(command.instances, ","));
  if (!command.instances.empty()) add("region", region_of(command));
  add("prices", command.prices);
  for (const std::string& catalogue : flags.catalogues) add("catalogue", catalogue);
  add_switch("any-gpu", command.any_gpu);
  add_words("queue", command.queues, kQueuePolicies);
  add_words("placement", command.placements, kNodePolicies);
  std::vector<std::string> ways;
  for (const scenarios::SharingWay& way : command.sharings) ways.push_back(way.text);
  add("sharing", joined(ways, ","));
  for (const std::string& rule : command.profile_rules) add("profile-by", rule);
  add_number("backoff-limit", command.backoff_limit);
  if (command.inputs == InputChoice::Sampled) add("inputs", "sampled");
  add_switch("skip-bad", command.skip_bad);
  if (command.group_by != sim::GroupBy::Nothing) {
    const auto* const by =
        std::ranges::find(kGroupBys, command.group_by, &Choice<sim::GroupBy>::value);
    add("group-by", std::string(by->word));
  }
  add_switch("restart-preempted", command.restart_preempted);
  add_number("repeat", command.repeat);
  if (command.shift) add("shift", fmt::format("{:.9f}s", to_seconds(*command.shift)));
  if (command.inflate) add("inflate", fmt::format("{}%", *command.inflate));
  add_switch("allow-pending", command.allow_pending);
  add("seed", std::to_string(command.seed.value_or(sim::ReplaySettings{}.seed)));
  if (command.inflate) add("replications", std::to_string(command.replications.value_or(1)));
  return out;
}

Expected<ReplayInput> open_replay(ReplayCommand& command, std::vector<SourceText>& sources) {
  if (auto mapped = mapped_trace(command.file)) return std::move(*mapped);
  Expected<SourceText> source = read_source(command.file, kLargestJobTrace);
  if (!source) return tl::unexpected(std::move(source.error()));
  if (!scenarios::is_replay_file(*source)) {
    return read_trace(command.file, std::move(*source), command.skip_bad, sources);
  }
  const auto file = scenarios::read_replay_file(*source);
  if (!file) {
    sources.push_back(std::move(*source));
    return tl::unexpected(file.error());
  }
  take_from_file(*file, command);
  sources.push_back(std::move(*source));
  if (auto mapped = mapped_trace(command.file)) return std::move(*mapped);
  source = read_source(command.file, kLargestJobTrace);
  if (!source) return tl::unexpected(std::move(source.error()));
  return read_trace(command.file, std::move(*source), command.skip_bad, sources);
}

}  // namespace slicewise::tools

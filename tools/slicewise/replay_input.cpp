#include "replay_input.hpp"

#include <cmath>
#include <filesystem>
#include <utility>

#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/replay_file.hpp"
#include "slicewise/scenarios/sha256.hpp"

#include "choices.hpp"
#include "files.hpp"
#include "mapped_file.hpp"

namespace slicewise::tools {
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
    }
    command.any_gpu = command.any_gpu || file.any_gpu;
  }
  if (command.region.empty()) command.region = file.region;
  take_words(command.queues, file.queues, kQueuePolicies);
  take_words(command.placements, file.placements, kNodePolicies);
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

// The trace without a copy of it; nullopt when it is no binary one.
std::optional<Expected<ReplayInput>> mapped_trace(const std::string& path) {
  const Expected<MappedFile> file = path == "-" ? tl::unexpected(Diagnostics{}) : map_file(path);
  if (!file || !scenarios::is_binary_job_trace(file->bytes)) return std::nullopt;
  auto trace = scenarios::map_job_trace(path, file->bytes, file->backing);
  if (!trace) return tl::unexpected(std::move(trace.error()));
  return ReplayInput{std::move(*trace), scenarios::sha256_hex(file->bytes)};
}

Expected<ReplayInput> read_trace(const std::string& path, SourceText text,
                                 std::vector<SourceText>& sources) {
  const std::string sha256 = scenarios::sha256_hex(text.text);
  if (text.text.size() > kLargestJobTrace) {
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::FileUnreadable, {.file = path, .line = 0}, "the trace is larger than 4 GiB")});
  }
  Expected<SourceText> plain = scenarios::decompressed(std::move(text));
  if (!plain) return tl::unexpected(std::move(plain.error()));
  auto trace = scenarios::read_job_trace(*plain);
  if (!trace) {
    sources.push_back(std::move(*plain));
    return tl::unexpected(std::move(trace.error()));
  }
  return ReplayInput{std::move(*trace), sha256};
}

}  // namespace

Expected<ReplayInput> open_replay(ReplayCommand& command, std::vector<SourceText>& sources) {
  if (auto mapped = mapped_trace(command.file)) return std::move(*mapped);
  Expected<SourceText> source = read_source(command.file, kLargestJobTrace);
  if (!source) return tl::unexpected(std::move(source.error()));
  if (!scenarios::is_replay_file(*source)) {
    return read_trace(command.file, std::move(*source), sources);
  }
  const auto file = scenarios::read_replay_file(*source);
  if (!file) {
    sources.push_back(std::move(*source));
    return tl::unexpected(file.error());
  }
  take_from_file(*file, command);
  if (auto mapped = mapped_trace(command.file)) return std::move(*mapped);
  source = read_source(command.file, kLargestJobTrace);
  if (!source) return tl::unexpected(std::move(source.error()));
  return read_trace(command.file, std::move(*source), sources);
}

}  // namespace slicewise::tools

#include "cluster_reading.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/import.hpp"

#include "files.hpp"
#include "kubectl.hpp"
#include "prometheus_server.hpp"

namespace slicewise::tools {
namespace {

// Of contexts that are ARNs: "prod" of arn:aws:eks:us-east-1:123456789012:cluster/prod.
std::string short_name(const std::string& context) {
  return context.substr(context.rfind('/') + 1);
}

}  // namespace

Expected<std::vector<SourceText>> read_files(const std::vector<std::string>& names) {
  std::vector<SourceText> texts;
  Diagnostics unreadable;
  for (const std::string& name : names) {
    Expected<SourceText> file = read_source(name, scenarios::kLargestUnpacked);
    if (file && file->text.size() > scenarios::kLargestUnpacked) {
      file = failure(
          Code::FileUnreadable, {.file = name, .line = 0},
          fmt::format("\"{}\" holds more than {} bytes", name, scenarios::kLargestUnpacked));
    }
    Expected<std::vector<SourceText>> unpacked =
        file ? scenarios::unpacked(std::move(*file))
             : Expected<std::vector<SourceText>>(tl::unexpected(std::move(file.error())));
    if (!unpacked) {
      std::ranges::move(unpacked.error(), std::back_inserter(unreadable));
      continue;
    }
    std::ranges::move(*unpacked, std::back_inserter(texts));
  }
  if (!unreadable.empty()) return tl::unexpected(std::move(unreadable));
  return texts;
}

Expected<ClusterReading> read_cluster(const AdviseCommand& command) {
  ClusterReading reading;
  reading.at_unix_s = static_cast<std::int64_t>(std::time(nullptr));
  reading.name = command.name;
  if (command.files.empty()) {
    const Cluster cluster{"kubectl", command.context, command.kubeconfig};
    auto objects = objects_of(cluster);
    if (!objects) return tl::unexpected(objects.error());
    reading.objects = std::move(objects->texts);
    reading.notes = std::move(objects->notes);
    if (reading.name.empty()) reading.name = short_name(current_context(cluster));
  } else {
    auto texts = read_files(command.files);
    if (!texts) return tl::unexpected(texts.error());
    reading.objects = std::move(*texts);
  }
  if (reading.name.empty()) reading.name = "cluster";
  reading.all = reading.objects;
  if (command.prometheus.empty()) return reading;
  const auto window =
      scenarios::prometheus_window(command.start, command.end, command.step, reading.at_unix_s);
  if (!window) return tl::unexpected(window.error());
  auto answers = ask_prometheus(command.prometheus, *window, command.latency);
  if (!answers) return tl::unexpected(answers.error());
  for (const std::string& series : answers->missing) {
    reading.notes.push_back("the import does without " + series);
  }
  std::ranges::move(answers->texts, std::back_inserter(reading.all));
  reading.recorded_from = fmt::format("{}, {:%Y-%m-%dT%H:%M:%SZ} to {:%Y-%m-%dT%H:%M:%SZ}",
                                      without_credentials(command.prometheus),
                                      fmt::gmtime(window->start_s), fmt::gmtime(window->end_s));
  return reading;
}

}  // namespace slicewise::tools

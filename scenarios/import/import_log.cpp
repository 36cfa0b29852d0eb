#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/import.hpp"

#include "import_report.hpp"
#include "importers.hpp"

namespace slicewise::scenarios {
namespace {

// In the order of ImportKind.
constexpr std::array<Importer*, kImportKindNames.size()> kImporters = {
    import_openb,    import_job_table,  import_swf,   import_sacct,
    import_pods,     import_prometheus, import_azure, import_mooncake,
    import_burstgpt, import_servegen,   import_k8s};

}  // namespace

Expected<Imported> import_log(ImportKind kind, std::span<const SourceText> files,
                              const ImportOptions& options) {
  std::vector<SourceText> texts;
  Diagnostics unreadable;
  for (const SourceText& file : files) {
    Expected<std::vector<SourceText>> unpacked_files = unpacked(file);
    if (!unpacked_files) {
      std::ranges::move(unpacked_files.error(), std::back_inserter(unreadable));
      continue;
    }
    std::ranges::move(*unpacked_files, std::back_inserter(texts));
  }
  if (!unreadable.empty()) return tl::unexpected(std::move(unreadable));
  if (texts.empty()) {
    return failure(Code::TraceFormat, {}, "there is no file to import", "name files with -f");
  }
  Expected<Imported> imported = kImporters[static_cast<std::size_t>(kind)](texts, options);
  const auto* jobs = imported ? std::get_if<JobTrace>(&imported->content) : nullptr;
  if (jobs == nullptr || jobs->size() > 0) return imported;
  return not_the_format({texts.front().name, 1, 1, 1}, "there is no job in it",
                        what_was_skipped(imported->log));
}

std::string trace_csv(const Imported& imported) {
  const auto* jobs = std::get_if<JobTrace>(&imported.content);
  return jobs != nullptr ? job_trace_csv(*jobs) : request_csv(imported);
}

std::string trace_binary(const Imported& imported) {
  const auto* jobs = std::get_if<JobTrace>(&imported.content);
  return jobs != nullptr ? job_trace_binary(*jobs) : binary_requests(imported);
}

ScenarioText scenario_of(const Imported& imported, ImportKind kind, const ImportOptions& options) {
  if (const auto* text = std::get_if<ScenarioText>(&imported.content)) return *text;
  if (!std::holds_alternative<JobTrace>(imported.content)) {
    return {request_scenario(imported, kind, options)};
  }
  const bool has_pods = kind == ImportKind::Pods || kind == ImportKind::Prometheus;
  return has_pods ? pod_scenario(imported, kind, options)
                  : ScenarioText{replay_scenario(imported, kind, options)};
}

}  // namespace slicewise::scenarios

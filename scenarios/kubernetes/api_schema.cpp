#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "embedded/kubernetes_schemas.hpp"
#include "manifest_reader.hpp"
#include "patterns.hpp"
#include "schema_check.hpp"

// Objects held to the schemas and rules of their own APIs, as the program that takes them does.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::array<std::string_view, 3> kOperatorFiles = {"operators.json", "nim.json",
                                                            "notebook.json"};

const std::vector<Schemas>& all_schemas() {
  static const std::vector<Schemas> read = [] {
    std::vector<Schemas> schemas;
    for (const kubernetes_schemas::File& file : kubernetes_schemas::all()) {
      const Json json = Json::parse(file.text);
      const auto definitions = std::make_shared<const Json>(json["definitions"]);
      const bool is_operator = std::ranges::find(kOperatorFiles, file.name) != kOperatorFiles.end();
      for (const Json& one : json["programs"]) {
        schemas.push_back({one["program"], is_operator, one["objects"], definitions});
      }
    }
    return schemas;
  }();
  return read;
}

// What other readers said of these lines says the same in better words.
void report_new(Context& context, std::size_t known, const Node& object, Diagnostics found) {
  std::vector<int> lines;
  for (std::size_t n = known; n < context.files.problems.size(); ++n) {
    const Diagnostic& problem = context.files.problems[n];
    if (problem.severity == Severity::Error && problem.where.file == object.where.file) {
      lines.push_back(problem.where.line);
    }
  }
  for (Diagnostic& problem : found) {
    const bool said = std::ranges::find(lines, problem.where.line) != lines.end();
    const bool of_rule = problem.code == Code::SettingConflict && !lines.empty();
    if (!said && !of_rule) report(context, std::move(problem));
  }
}

// A stage of an API that had its day, or is to come.
bool is_stage(const std::string& version) {
  return matches_pattern(version, "^([a-z0-9.-]+/)?v[0-9]+((alpha|beta)[0-9]+)?$");
}

bool is_trial(const std::string& version) {
  return version.find("alpha") != version.npos || version.find("beta") != version.npos;
}

// Which releases took them away, all before those that EKS runs: "Kubernetes 1.16"; "" none of
// these. Sources: kubernetes.io/docs/reference/using-api/deprecation-guide,
// karpenter.sh/docs/upgrading/v1-migration.
std::string_view removed_by(std::string_view version) {
  constexpr std::pair<std::string_view, std::string_view> kRemoved[] = {
      {"extensions/v1beta1", "Kubernetes 1.16"},
      {"apps/v1beta1", "Kubernetes 1.16"},
      {"apps/v1beta2", "Kubernetes 1.16"},
      {"policy/v1beta1", "Kubernetes 1.25"},
      {"batch/v1beta1", "Kubernetes 1.25"},
      {"autoscaling/v2beta1", "Kubernetes 1.25"},
      {"autoscaling/v2beta2", "Kubernetes 1.26"},
      {"karpenter.sh/v1beta1", "Karpenter 1.1"},
      {"karpenter.k8s.aws/v1beta1", "Karpenter 1.1"},
  };
  const auto* found =
      std::ranges::find(kRemoved, version, [](const auto& one) { return one.first; });
  return found == std::end(kRemoved) ? std::string_view() : found->second;
}

// A kind that some API has, but not of this apiVersion.
void report_version(Context& context, const Node& object, const std::string& version,
                    const std::string& kind) {
  const bool has_group = version.find('/') != std::string::npos;
  std::string group = has_group ? version.substr(0, version.find('/') + 1) : "";
  if (group == "extensions/") group = "apps/";  // its name until Kubernetes 1.16
  std::vector<std::string> others;
  const Schemas* owner = nullptr;  // of the group
  for (const Schemas& schemas : all_schemas()) {
    for (const auto& [name, schema] : schemas.objects.items()) {
      if (!name.ends_with("/" + kind)) continue;
      others.push_back(name.substr(0, name.size() - kind.size() - 1));
      const bool core = std::ranges::count(name, '/') == 1;
      if (has_group ? name.starts_with(group) : core) owner = &schemas;
    }
  }
  const bool staged = is_stage(version);
  if (others.empty() || (staged && owner == nullptr)) return;
  const std::string shown = version.substr(0, 60);
  const SourceLocation where = place_below(object, {"apiVersion"});
  if (staged && owner->is_operator) {
    return report(context, Code::KindNotChecked, where,
                  fmt::format("{} of apiVersion {} is not checked: {} has no such", kind, shown,
                              owner->program),
                  fmt::format("it has {}", others.back()));
  }
  const auto now = std::find_if_not(others.rbegin(), others.rend(), is_trial);
  Diagnostic problem = make_diagnostic(
      Code::ApiVersionUnknown, where,
      version.empty() ? fmt::format("{} without apiVersion", kind)
      : !removed_by(version).empty()
          ? fmt::format("{} took {} of apiVersion {} away", removed_by(version), kind, shown)
      : staged ? fmt::format("{} has no {} of apiVersion {}", owner->program, kind, shown)
               : fmt::format("there is no {} of apiVersion {}", kind, shown),
      fmt::format("write {}", now == others.rend() ? others.back() : *now));
  // Releases of other years have it: whoever has such a cluster knows.
  if (staged && is_trial(version) && removed_by(version).empty())
    problem.severity = Severity::Warning;
  report(context, std::move(problem));
}

}  // namespace

bool check_by_schema(Context& context, const Node& object, std::size_t known) {
  const std::string kind = text_below(&object, {"kind"});
  const std::string version = text_below(&object, {"apiVersion"});
  const std::string name = version + "/" + kind;
  for (const Schemas& schemas : all_schemas()) {
    const auto schema = schemas.objects.find(name);
    if (schema == schemas.objects.end()) continue;
    report_new(context, known, object,
               schema_problems(schemas, kind, is_patch(object, kind), object, *schema));
    return true;
  }
  report_version(context, object, version, kind);
  return false;
}

}  // namespace slicewise::scenarios::manifests

#include <algorithm>
#include <utility>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/schema.hpp"

#include "fields.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::size_t kMostSimilar = 3;

// "spec.nodePools[0].name" -> {spec, nodePools, name}.
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, end);
    names.emplace_back(part.substr(0, part.find('[')));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

// The fields below a field, those of spec for a patch.
FieldList fields_below(const Field& field) {
  return field.type == FieldType::Patch ? spec_field().children : field.children;
}

const Field* find_field(const std::vector<std::string>& names) {
  const Field* field = &scenario_field();
  for (const std::string& name : names) {
    field = fields_below(*field).find(name);
    if (field == nullptr) return nullptr;
  }
  return field;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
void collect_paths(const Field& field, const std::string& path, std::vector<std::string>& paths) {
  for (const Field& child : field.children) {
    const std::string child_path =
        path.empty() ? std::string(child.name) : path + "." + std::string(child.name);
    paths.push_back(child_path);
    collect_paths(child, child_path, paths);
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string path;
  for (const std::string& name : names) {
    if (!path.empty()) path += '.';
    path += name;
  }
  return path;
}

}  // namespace

std::optional<FieldDoc> describe_field(std::string_view path) {
  std::vector<std::string> names = split_path(path);
  if (names.empty()) return std::nullopt;
  const Field* field = find_field(names);
  if (field == nullptr) {
    names.insert(names.begin(), "spec");
    field = find_field(names);
  }
  if (field == nullptr) return std::nullopt;
  FieldDoc doc;
  doc.path = joined(names);
  doc.type = type_text(*field);
  doc.required = field->required;
  doc.default_value = field->default_value;
  doc.description = field->description;
  doc.example = field->example;
  for (const Field& child : fields_below(*field)) doc.children.emplace_back(child.name);
  return doc;
}

std::vector<std::string> similar_fields(std::string_view path) {
  const std::string wanted = joined(split_path(path));
  std::vector<std::string> paths;
  collect_paths(scenario_field(), "", paths);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& candidate : paths) {
    // A user may leave out any number of leading names: "replicas" is near "...resources.replicas".
    std::size_t best = edit_distance(wanted, candidate);
    for (std::size_t dot = candidate.find('.'); dot != std::string::npos;
         dot = candidate.find('.', dot + 1)) {
      best = std::min(best, edit_distance(wanted, std::string_view(candidate).substr(dot + 1)));
    }
    if (best <= std::max<std::size_t>(2, wanted.size() / 3)) {
      ranked.emplace_back(best, std::move(candidate));
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > kMostSimilar) ranked.resize(kMostSimilar);
  std::vector<std::string> similar;
  for (auto& [distance, name] : ranked) similar.push_back(std::move(name));
  return similar;
}

}  // namespace slicewise::scenarios

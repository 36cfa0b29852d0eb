#include <algorithm>
#include <utility>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/load.hpp"

#include "fields.hpp"

namespace slicewise::scenarios {

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

namespace {

constexpr std::size_t kMostSimilar = 3;

// The field of any extended resource, whose dots split its name into "nvidia", "com/gpu.shared".
// nullptr when the rest of the path names none.
const Field* extended_resource(const Field& resources, const std::vector<std::string>& names,
                               std::size_t first) {
  const bool is_extended =
      std::any_of(names.begin() + static_cast<std::ptrdiff_t>(first), names.end(),
                  [](const std::string& name) { return name.find('/') != std::string::npos; });
  return is_extended ? resources.children().find(kGpuResource) : nullptr;
}

// What ends a path may be a mistyped field rather than the name of an item.
bool is_near_field(const std::string& name, const Field& list) {
  std::vector<std::string_view> fields;
  for (const Field& field : list.children()) fields.push_back(field.name);
  return nearest_name(name, fields).has_value();
}

// The fields below a field, those of spec for a patch.
FieldList fields_below(const Field& field) {
  return field.type == FieldType::Patch ? spec_field().children() : field.children();
}

bool is_list_of_names(const Field& field) {
  if (field.type == FieldType::BlocksByName || field.type == FieldType::BlockByName) return true;
  return field.type == FieldType::Blocks && field.children().find("name") != nullptr;
}

using Names = std::vector<std::string>;

struct FoundField {
  const Field* field;
  Names names;  // of fields only
};

// The field that the names from `next` on lead to. A name below a list that is no field of its
// items is that of an item, as --set writes it, and so is one where the field leads nowhere: a node
// pool may be called gpu, and gpu is a field of node pools.
// NOLINTNEXTLINE(misc-no-recursion): one level per name of the path
std::optional<FoundField> find_below(FoundField above, const Names& names, std::size_t next,
                                     bool may_be_item) {
  if (next == names.size()) return above;
  const Field& field = *above.field;
  if (const Field* child = fields_below(field).find(names[next])) {
    FoundField below{child, above.names};
    below.names.emplace_back(child->name);
    if (auto found = find_below(std::move(below), names, next + 1, true)) return found;
  } else if (field.type == FieldType::Resources) {
    const Field* extended = extended_resource(field, names, next);
    if (extended == nullptr) return std::nullopt;
    above.names.emplace_back(extended->name);
    return FoundField{extended, std::move(above.names)};
  }
  const bool is_last = next + 1 == names.size();
  if (!may_be_item || !is_list_of_names(field) || (is_last && is_near_field(names[next], field))) {
    return std::nullopt;
  }
  const bool name_may_go_on = field.type == FieldType::BlockByName;  // p4d.24xlarge
  return find_below(std::move(above), names, next + 1, name_may_go_on);
}

std::optional<FoundField> find_field(const Names& names) {
  return find_below({&scenario_field(), {}}, names, 0, true);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
void collect_paths(const Field& field, const std::string& path, std::vector<std::string>& paths) {
  for (const Field& child : field.children()) {
    const std::string child_path =
        path.empty() ? std::string(child.name) : path + "." + std::string(child.name);
    paths.push_back(child_path);
    collect_paths(child, child_path, paths);
  }
}

std::string joined_path(const std::vector<std::string>& names) {
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
  auto found = find_field(names);
  if (!found) {
    names.insert(names.begin(), "spec");
    found = find_field(names);
  }
  if (!found) return std::nullopt;
  const Field& field = *found->field;
  FieldDoc doc;
  doc.path = joined_path(found->names);
  doc.type = type_text(field);
  doc.required = field.required;
  doc.default_value = field.default_text();
  doc.description = field.description;
  doc.example = field.written_example();
  for (const Field& child : fields_below(field)) doc.children.emplace_back(child.name);
  return doc;
}

std::vector<std::string> similar_fields(std::string_view path) {
  const std::string wanted = joined_path(split_path(path));
  std::vector<std::string> paths;
  collect_paths(scenario_field(), "", paths);
  const std::size_t farthest = std::max<std::size_t>(2, wanted.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& candidate : paths) {
    std::size_t best = farthest + 1;
    // A user may leave out any number of leading names: "replicas" is near "...resources.replicas".
    // Each letter more or less is one step at least.
    std::string_view rest = candidate;
    while (rest.size() + farthest >= wanted.size()) {
      if (rest.size() <= wanted.size() + farthest)
        best = std::min(best, edit_distance(wanted, rest));
      const std::size_t dot = rest.find('.');
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    if (best <= farthest) ranked.emplace_back(best, std::move(candidate));
  }
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > kMostSimilar) ranked.resize(kMostSimilar);
  std::vector<std::string> similar;
  similar.reserve(ranked.size());
  for (auto& [distance, name] : ranked) similar.push_back(std::move(name));
  return similar;
}

}  // namespace slicewise::scenarios

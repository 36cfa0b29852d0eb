#include <algorithm>
#include <sstream>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/reports/explain.hpp"

#include "../command_tree.hpp"

namespace slicewise::tools {
namespace {

template <class Items, class NameOf>
std::vector<std::string> sorted_names(const Items& items, NameOf name_of) {
  std::vector<std::string> names;
  names.reserve(std::size(items));
  for (const auto& item : items) names.push_back(name_of(item));
  std::ranges::sort(names);
  // std::ranges::unique is beyond clang 14 with libstdc++ 12.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

CommandInfo& child(CommandInfo& command, const std::string& name) {
  return *std::ranges::find(command.commands, name, &CommandInfo::name);
}

// What `validate` takes: studies, sources and modes.
std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const models::Study& study : models::load_validation_set().studies) {
    names.insert(names.end(), {study.id, study.source, study.mode});
  }
  return sorted_names(names, [](const std::string& name) { return name; });
}

void set_flag_choices(CommandInfo& command, const std::string& flag_name,
                      const std::vector<std::string>& choices) {
  for (FlagInfo& flag : command.flags) {
    if (std::ranges::find(flag.names, flag_name) != flag.names.end()) flag.choices = choices;
  }
}

}  // namespace

void add_known_names(CommandInfo& root) {
  const models::Catalogue catalogue = models::load_catalogue();
  const auto gpus =
      sorted_names(catalogue.gpus, [](const models::GpuModel& gpu) { return gpu.name; });
  const auto instances =
      sorted_names(catalogue.instances, [](const models::InstanceType& type) { return type.name; });
  const auto families = sorted_names(catalogue.instances, [](const models::InstanceType& type) {
    return type.name.substr(0, type.name.find('.'));
  });
  CommandInfo& get = child(root, "get");
  for (CommandInfo& listing : get.commands) {
    set_flag_choices(listing, "--gpu", gpus);
    set_flag_choices(listing, "--family", families);
    set_flag_choices(listing, "--region", catalogue.prices.regions());
  }
  set_flag_choices(child(root, "compare"), "--instances", instances);
  set_flag_choices(child(root, "report"), "--output", {"csv", "html", "md", "svg"});
  child(get, "instances").positional_choices = instances;
  child(get, "prices").positional_choices = instances;
  child(get, "gpus").positional_choices = gpus;
  child(get, "mig-profiles").positional_choices =
      sorted_names(catalogue.mig, [](const models::MigGeometry& mig) { return mig.gpu_model; });
  child(get, "profiles").positional_choices = sorted_names(
      catalogue.profiles, [](const models::WorkloadProfile& profile) { return profile.name; });
  child(root, "explain").positional_choices =
      lines_of(reports::explain_topics() + reports::explain_fields());
  CommandInfo profile{.name = "profile",
                      .description = "A workload profile with the provenance of its figures",
                      .examples = "",
                      .flags = child(root, "explain").flags,
                      .positionals = {},
                      .positional_choices = child(get, "profiles").positional_choices,
                      .commands = {}};
  child(root, "explain").commands.push_back(std::move(profile));
  child(root, "validate").positional_choices = study_names();
  set_flag_choices(child(root, "validate"), "--pairs-gpu", gpus);
  CommandInfo& help = child(root, "help");
  help.positional_choices = names_of(root.commands);
  help.positional_choices.emplace_back("exit-codes");
}

}  // namespace slicewise::tools

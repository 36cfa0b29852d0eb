#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/gpu_names.hpp"
#include "slicewise/scenarios/load.hpp"

#include "../command_line.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string template_list() {
  std::string text = "Scenarios to start from: slicewise init --template NAME --out FILE\n\n";
  for (const scenarios::Template& known : scenarios::templates()) {
    text += fmt::format("  {:<17}{}\n", known.name, known.situation);
  }
  return text;
}

ExitCode unknown_template(const std::string& name) {
  std::vector<std::string> names;
  for (const scenarios::Template& known : scenarios::templates()) names.emplace_back(known.name);
  return usage_error(fmt::format("no template \"{}\"{}", name, did_you_mean(name, names)),
                     fmt::format("there are {}", fmt::join(names, ", ")));
}

// With the smallest instance that has it; the error says which GPUs may be meant.
tl::expected<scenarios::TableGpu, std::string> find_gpu(const models::Catalogue& catalogue,
                                                        const std::string& name) {
  const models::GpuModel* model = catalogue.find_gpu(name);
  if (model == nullptr) return tl::unexpected(models::gpus_meant(catalogue, name));
  scenarios::TableGpu gpu{.name = model->name, .instance_type = "", .gpus_of_instance = 1};
  for (const models::InstanceType& type : catalogue.instances) {
    if (type.gpu_model != model->name || type.gpu_fraction < 1 || !type.retired_on.empty()) {
      continue;
    }
    if (!gpu.instance_type.empty() && type.gpu_count >= gpu.gpus_of_instance) continue;
    gpu.instance_type = type.name;
    gpu.gpus_of_instance = type.gpu_count;
  }
  return gpu;
}

tl::expected<std::string, ExitCode> services_text(const InitCommand& command,
                                                  const CommonFlags& flags) {
  auto table = read_source(command.from);
  if (!table) return tl::unexpected(fail(table.error(), {}, flags));
  const auto catalogue = open_catalogue(flags);
  if (!catalogue) return tl::unexpected(catalogue.error());
  const std::string stem = std::filesystem::path(command.from).stem().string();
  const bool fits =
      !stem.empty() &&
      stem.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
  auto text = scenarios::scenario_of_services(
      *table, fits ? stem : "services",
      [&](const std::string& gpu) { return find_gpu(*catalogue, gpu); });
  if (!text) return tl::unexpected(fail(text.error(), {*table}, flags));
  return std::move(*text);
}

}  // namespace

void add_flags(CLI::App& app, InitCommand& init, CommonFlags& flags) {
  CLI::App& verb =
      add_verb(app, "init", "Write a scenario to start from, with comments",
               "  slicewise init\n"
               "  slicewise init --template online-services\n"
               "  slicewise init --from scenarios/examples/services.csv --out services.yaml",
               flags);
  std::vector<std::string> names;
  for (const scenarios::Template& known : scenarios::templates()) names.emplace_back(known.name);
  add_text(verb, "--template", init.name, joined(names, "|"),
           "Which situation (default: list them)");
  add_text(verb, "--from", init.from, "FILE",
           "Services from a CSV with the columns name, memory, ms_per_request, requests_per_s and "
           "perhaps p95, gpu");
  add_catalogue(verb, flags);
  add_out(verb, init.out);
  verb.add_flag("--force", init.force, "Overwrite FILE");
}

ExitCode execute(const InitCommand& command, const CommonFlags& flags) {
  if (command.name.empty() && command.from.empty()) {
    if (command.out.empty() && !command.force) return write_text("", template_list());
    return usage_error("init needs a --template or a --from to write", "slicewise init lists them");
  }
  if (!command.name.empty() && !command.from.empty()) {
    return usage_error("--template and --from both say what to write", "keep one of the two");
  }
  if (command.force && command.out.empty()) {
    return usage_error("--force overwrites the file of --out, and there is none", "");
  }
  std::string text;
  if (command.from.empty()) {
    const auto found =
        std::ranges::find(scenarios::templates(), command.name, &scenarios::Template::name);
    if (found == scenarios::templates().end()) return unknown_template(command.name);
    text = found->text;
  } else {
    auto made = services_text(command, flags);
    if (!made) return made.error();
    text = std::move(*made);
  }
  if (!command.out.empty() && !command.force && std::filesystem::exists(command.out)) {
    print_error(fmt::format("error: {} exists\nhelp: --force overwrites it", command.out));
    return ExitCode::FileAccess;
  }
  const ExitCode code = write_text(command.out, text);
  if (code == ExitCode::Success && !command.out.empty() && !flags.quiet) {
    print_error(fmt::format("wrote {}; next: slicewise check -f {}", command.out, command.out));
  }
  return code;
}

}  // namespace slicewise::tools

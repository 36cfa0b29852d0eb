// write_exports OUT_DIR EXAMPLES_DIR CHART_VERSION...: writes every export of the sample scenarios
// and of every example for each chart version to OUT_DIR/<chart version>/<case>/, for the
// validators. Fails when a sample or an example is refused, except for variants that no plugin
// config can give: those must be.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/load.hpp"

#include "scenario_samples.hpp"

namespace slicewise {
namespace {

namespace fs = std::filesystem;

// The other kinds do not depend on the chart.
constexpr const char* kNewestChart = "0.20.0";

void print(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    std::cerr << d.where.file << ':' << d.where.line << ": " << info(d.code).name << ": "
              << d.message << '\n';
  }
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

bool write_case(const fs::path& directory, const scenarios::Scenario& scenario,
                const models::Catalogue& catalogue, const reports::ExportOptions& options) {
  const Expected<std::string> values = reports::helm_values(scenario, catalogue, options);
  const Expected<std::string> map = reports::config_map(scenario, catalogue, options);
  if (!values || !map) {
    print(values ? map.error() : values.error());
    return false;
  }
  write(directory / "nvdp-values.yaml", *values);
  write(directory / "nvdp-configs.yaml", *map);
  write(directory / "pod-patches.yaml", reports::pod_patches(scenario));
  return true;
}

// Every kind that can say the scenario, in <directory>/<kind>/, and for Bottlerocket nodes in
// <directory>/<kind>-bottlerocket/.
void write_kinds(const fs::path& directory, const scenarios::Scenario& scenario,
                 const models::Catalogue& catalogue, reports::ExportOptions options) {
  for (const reports::NodeImage image :
       {reports::NodeImage::Al2023, reports::NodeImage::Bottlerocket}) {
    options.image = image;
    options.repository = "https://git.example.com/platform.git";
    const bool is_plain = image == reports::NodeImage::Al2023;
    for (const reports::ExportKind& kind : reports::kExportKinds) {
      if (kind.shows_run) continue;
      const auto files = kind.render(scenario, catalogue, options);
      if (!files) continue;
      const fs::path folder =
          directory / (std::string(kind.name) + (is_plain ? "" : "-bottlerocket"));
      for (const reports::ExportFile& file : *files) write(folder / file.path, file.text);
    }
  }
}

bool write_samples(const fs::path& directory, const std::string& chart) {
  bool good = true;
  for (const auto& [name, scenario] : reports::sample_scenarios(std::stoi(chart.substr(2)))) {
    reports::ExportOptions options{chart, {}};
    if (name == "demo-after") options.node_selector = {{"eks-node", "gpu"}};
    good &= write_case(directory / name, scenario, reports::sample_catalogue(), options);
    if (chart == kNewestChart) {
      write_kinds(directory / name, scenario, reports::sample_catalogue(), options);
    }
  }
  return good;
}

std::string file_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool has_no_plugin(const scenarios::Scenario& scenario) {
  return std::any_of(scenario.node_pools.begin(), scenario.node_pools.end(),
                     [](const auto& pool) { return pool.dra || pool.hami || pool.kai; });
}

// The thread percentage of MPS has no key in the plugin's config, and chart 0.14 has no MPS; the
// DRA driver, HAMi and KAI scheduler are in place of the plugin.
bool can_be_written(const scenarios::Scenario& scenario, const std::string& chart) {
  if (has_no_plugin(scenario)) return false;
  return std::none_of(
      scenario.node_pools.begin(), scenario.node_pools.end(), [&](const auto& pool) {
        const bool by_mps = pool.device_plugin && pool.device_plugin->mps;
        const bool own_threads = pool.mps && (pool.mps->uncapped || pool.mps->active_threads);
        return by_mps && (own_threads || chart.starts_with("0.14."));
      });
}

bool is_refused(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                const std::string& chart) {
  const bool refused = !reports::helm_values(scenario, catalogue, {chart, {}});
  if (!refused) std::cerr << scenario.name << ": written, although no plugin can do it\n";
  return refused;
}

bool write_example(const fs::path& file, const fs::path& directory, const std::string& chart) {
  const auto read = [](const std::string& path) -> Expected<SourceText> {
    return SourceText{path, file_text(path)};
  };
  const auto set = scenarios::load_scenario({file.string(), file_text(file)}, {}, read);
  if (!set) {
    print(set.error());
    return false;
  }
  const models::Catalogue catalogue = models::load_catalogue();
  bool good = true;
  for (const scenarios::Scenario& scenario : set->variants) {
    std::string name = file.stem().string() + "-" + scenario.name;
    std::ranges::replace(name, '/', '_');  // points of a sweep, and rates in their names
    if (can_be_written(scenario, chart)) {
      good &= write_case(directory / name, scenario, catalogue, {chart, {}});
    } else {
      good &= is_refused(scenario, catalogue, chart);
      if (!has_no_plugin(scenario)) continue;
    }
    const bool is_of_a_sweep = scenario.name.find('=') != std::string::npos;
    if (chart == kNewestChart && !is_of_a_sweep) {
      write_kinds(directory / name, scenario, catalogue, {});
    }
  }
  return good;
}

bool write_all(const std::vector<std::string>& arguments) {
  const fs::path out = arguments.at(0);
  fs::remove_all(out);
  std::vector<fs::path> examples;
  for (const fs::directory_entry& entry : fs::directory_iterator(arguments.at(1))) {
    if (entry.path().extension() == ".yaml") examples.push_back(entry.path());
  }
  std::sort(examples.begin(), examples.end());
  bool good = true;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    good &= write_samples(out / arguments[i], arguments[i]);
    for (const fs::path& example : examples) {
      good &= write_example(example, out / arguments[i], arguments[i]);
    }
  }
  return good;
}

}  // namespace
}  // namespace slicewise

int main(int argc, char** argv) { return slicewise::write_all({argv + 1, argv + argc}) ? 0 : 1; }

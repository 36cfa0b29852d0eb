#include <array>
#include <csignal>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>

#include <unistd.h>

#include "experiments.hpp"
#include "library.hpp"
#include "options.hpp"
#include "worker.hpp"

namespace slicewise::gpu_probe {
namespace {

enum Exit : int { Done = 0, InPart = 1, Usage = 2, NoDevice = 4, File = 5 };

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

std::optional<Management> open_management(const Machine& machine) {
  try {
    return Management(machine.management, static_cast<unsigned>(machine.gpu));
  } catch (const NoGpu&) {
    return std::nullopt;  // clocks and MIG stay unknown
  }
}

// One experiment that fails leaves the others.
void measure(nlohmann::json& document, const char* name,
             const std::function<nlohmann::json()>& experiment) {
  // A pod's log holds both streams: there the document must be alone.
  if (::isatty(STDERR_FILENO) != 0) std::cerr << "measuring " << name << '\n';
  try {
    document[name] = experiment();
  } catch (const std::exception& problem) {
    document["failures"].push_back({{"part", name}, {"reason", problem.what()}});
  }
}

nlohmann::json probe(const Machine& machine) {
  const nlohmann::json gpu = Worker(machine, without_mps({})).wait_ready();
  const std::optional<Management> management = open_management(machine);
  nlohmann::json document = {{"apiVersion", "slicewise.dev/v1alpha1"},
                             {"kind", "GpuProbe"},
                             {"date", today()},
                             {"gpu", gpu},
                             {"driver", management ? management->driver_release() : ""},
                             {"failures", nlohmann::json::array()}};
  const auto l2_bytes = gpu.at("l2Bytes").get<std::size_t>();
  measure(document, "timeSlicing", [&] { return measure_time_slicing(machine, l2_bytes); });
  measure(document, "yielding", [&] { return measure_yielding(machine); });
  measure(document, "contextMemoryBytes", [&] { return measure_context_memory(machine); });
  measure(document, "launch", [&] { return measure_launches(machine); });
  measure(document, "mps", [&] { return measure_mps(machine); });
  if (management) {
    measure(document, "mig", [&] { return measure_mig(machine, management->mig_devices()); });
    measure(document, "clocks", [&] { return measure_clocks(machine, *management); });
  }
  return document;
}

int write(const nlohmann::json& document, const std::string& file) {
  if (file.empty()) {
    std::cout << document.dump(2) << std::endl;
  } else {
    std::ofstream(file) << document.dump(2) << '\n';
    if (!std::ifstream(file)) {
      std::cerr << "error: " << file << " cannot be written\n";
      return Exit::File;
    }
  }
  return document["failures"].empty() ? Exit::Done : Exit::InPart;
}

int run(const std::vector<std::string>& arguments) {
  try {
    const Options options = options_of(arguments);
    if (options.help) {
      std::cout << help_text();
      return Exit::Done;
    }
    if (options.child) {
      return serve(options.machine.driver, options.machine.gpu, *options.child);
    }
    return write(probe(options.machine), options.out);
  } catch (const std::invalid_argument& problem) {
    std::cerr << "error: " << problem.what() << "\n  gpu_probe --help lists what there is\n";
    return Exit::Usage;
  } catch (const NoGpu& reason) {
    std::cerr
        << "error: no NVIDIA GPU to measure: " << reason.what()
        << "\n  run it on a node with a GPU and its driver; `slicewise export --to probe-job` "
           "writes the Kubernetes Job\n";
    return Exit::NoDevice;
  } catch (const std::exception& problem) {
    std::cerr << "error: " << problem.what() << '\n';
    return Exit::InPart;
  }
}

}  // namespace
}  // namespace slicewise::gpu_probe

int main(int count, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);  // a child that dies is told of by its pipe
  return slicewise::gpu_probe::run({arguments + 1, arguments + count});
}

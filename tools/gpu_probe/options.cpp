#include "options.hpp"

#include <charconv>
#include <stdexcept>

#include "embedded/probe_files.hpp"

namespace slicewise::gpu_probe {
namespace {

int number(const std::string& flag, const std::string& text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument(flag + " takes a number from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", not \"" + text + "\"");
  }
  return value;
}

}  // namespace

Options options_of(const std::vector<std::string>& arguments) {
  constexpr int kMostGpus = 64;
  constexpr int kMostProcesses = 48;
  Options out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    if (flag == "--help" || flag == "-h") {
      out.help = true;
      return out;
    }
    if (i + 1 == arguments.size())
      throw std::invalid_argument(flag + " is no flag, or lacks a value");
    const std::string& value = arguments[++i];
    if (flag == "--out") {
      out.out = value;
    } else if (flag == "--gpu") {
      out.machine.gpu = number(flag, value, 0, kMostGpus);
    } else if (flag == "--processes") {
      out.machine.most_processes = number(flag, value, 2, kMostProcesses);
    } else if (flag == "--run-ms") {
      out.machine.run_ms = number(flag, value, 20, 10'000);
    } else if (flag == "--repetitions") {
      out.machine.repetitions = number(flag, value, 1, 100);
    } else if (flag == "--driver") {
      out.machine.driver = value;
    } else if (flag == "--management") {
      out.machine.management = value;
    } else if (flag == "--child") {
      out.child = nlohmann::json::parse(value).get<Task>();
    } else {
      throw std::invalid_argument("there is no flag " + flag);
    }
  }
  return out;
}

std::string help_text() { return std::string(probe_files::help_txt()); }

}  // namespace slicewise::gpu_probe

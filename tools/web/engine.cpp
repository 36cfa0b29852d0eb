// The program for JavaScript: one verb at a time, files in and out by value.
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <emscripten.h>
#include <nlohmann/json.hpp>

#include "host.hpp"
#include "program.hpp"

namespace slicewise::web {
namespace {

using nlohmann::json;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::map<std::string, std::string> given;
std::string answer;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// Module.progress(done, total, unit), where a page looks.
// clang-format off
EM_JS(void, say_progress, (double done, double total, const char* unit, int size), {
  if (Module["progress"]) Module["progress"](done, total, UTF8ToString(unit, size));
});
// clang-format on

std::string run(const std::vector<std::string>& words, bool renders_all) {
  tools::Host host{};
  host.files = given;
  host.renders_all = renders_all;
  host.progress = [](std::int64_t done, std::int64_t total, std::string_view unit) {
    say_progress(static_cast<double>(done), static_cast<double>(total), unit.data(),
                 static_cast<int>(unit.size()));
  };
  std::vector<const char*> arguments{"slicewise"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  json told;
  const tools::HostScope scope(host);
  try {
    told["exitCode"] =
        static_cast<int>(tools::run_program(static_cast<int>(arguments.size()), arguments.data()));
  } catch (const std::exception& error) {
    told["bug"] = error.what();
  } catch (...) {
    told["bug"] = "unknown exception";
  }
  told["files"] = json::object();
  for (auto& [path, file] : host.written) told["files"][path] = std::move(file.text);
  told["renderings"] = std::move(host.renderings);
  told["errors"] = std::move(host.errors);
  return told.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace
}  // namespace slicewise::web

extern "C" {

// A file that verbs find by this name from now on.
void slicewise_give(const char* name, const char* text, std::size_t size) {
  slicewise::web::given[name] = std::string(text, size);
}

// The answer of a verb, as JSON: exitCode or bug, files by path ("": standard output), renderings
// and errors. `words`: a JSON array of its words; renders_all: of Host. Stands until the next call.
const char* slicewise_run(const char* words, bool renders_all) {
  slicewise::web::answer = slicewise::web::run(nlohmann::json::parse(words), renders_all);
  slicewise::web::given.clear();
  return slicewise::web::answer.c_str();
}

}  // extern "C"

// slicewise._engine: the verbs of the program, called from Python. What is read and written by each
// call are values; the package around it makes flags of keywords and objects of documents.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "slicewise/codes.hpp"
#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/version.hpp"

#include "../slicewise/files.hpp"
#include "../slicewise/host.hpp"
#include "../slicewise/program.hpp"
#include "arrow.hpp"

namespace nb = nanobind;

namespace slicewise::python {
namespace {

using tools::Host;

// What a verb said and wrote.
struct Answer {
  int exit_code = 0;
  std::map<std::string, Host::Written> written;
  std::map<std::string, std::string> renderings;
  std::string errors;
  Diagnostics diagnostics;
  std::string bug;           // what ended it that should not have; "": nothing
  bool interrupted = false;  // by Ctrl-C
};

std::map<std::string, std::string> texts_of(const std::map<std::string, nb::bytes>& files) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, text] : files) {
    texts.emplace(name, std::string(text.c_str(), text.size()));
  }
  return texts;
}

// A verb on a thread of its own, while the one that called looks after Python.
class Call {
 public:
  Call(std::vector<std::string> words, const std::map<std::string, nb::bytes>& files,
       nb::object progress)
      : words_(std::move(words)), progress_(std::move(progress)) {
    host_.files = texts_of(files);
    host_.progress = [this](std::int64_t done, std::int64_t total, std::string_view unit) {
      const std::lock_guard lock(mutex_);
      done_ = done;
      total_ = total;
      unit_ = unit;
    };
  }

  // `failed`: an exception of Python is set.
  Answer finish(bool& failed) {
    std::thread worker([this] { work(); });
    while (!ended_within_a_moment()) {
      if (!exception_.is_valid() && !look_after_python()) stop();
    }
    worker.join();
    if (!exception_.is_valid() && !say_progress()) stop();
    failed = exception_.is_valid();
    if (failed)
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception_.ptr())), exception_.ptr());
    return {exit_code_,
            std::move(host_.written),
            std::move(host_.renderings),
            std::move(host_.errors),
            std::move(host_.diagnostics),
            std::move(bug_),
            interrupted_};
  }

 private:
  void work() {
    const tools::HostScope scope(host_);
    std::vector<const char*> arguments{"slicewise"};
    for (const std::string& word : words_) arguments.push_back(word.c_str());
    try {
      exit_code_ = static_cast<int>(
          tools::run_program(static_cast<int>(arguments.size()), arguments.data()));
    } catch (const std::exception& error) {
      bug_ = error.what();
    } catch (...) {
      bug_ = "unknown exception";
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    has_ended_.notify_one();
  }

  bool ended_within_a_moment() {
    constexpr std::chrono::milliseconds kMoment{50};
    const nb::gil_scoped_release others_may_run;
    std::unique_lock lock(mutex_);
    return has_ended_.wait_for(lock, kMoment, [this] { return ended_; });
  }

  // false: there is an exception.
  bool look_after_python() { return PyErr_CheckSignals() == 0 && say_progress(); }

  bool say_progress() {
    if (progress_.is_none()) return true;
    std::unique_lock lock(mutex_);
    const std::int64_t done = done_;
    const std::int64_t total = total_;
    const std::string unit = unit_;
    lock.unlock();
    if (done == said_ || unit.empty()) return true;
    said_ = done;
    // By C: what is thrown does not pass between libraries.
    PyObject* const answer =
        PyObject_CallFunction(progress_.ptr(), "LLs", static_cast<long long>(done),
                              static_cast<long long>(total), unit.c_str());
    Py_XDECREF(answer);
    return answer != nullptr;
  }

  // Ctrl-C ends the verb early, with what it has; any other exception is that of the call.
  void stop() {
    host_.interrupted = true;
    interrupted_ = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (!interrupted_) exception_ = nb::borrow(value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }

  std::vector<std::string> words_;
  nb::object progress_;
  nb::object exception_;  // none: an invalid one
  Host host_{};
  std::mutex mutex_;
  std::condition_variable has_ended_;
  bool ended_ = false;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  std::int64_t said_ = 0;
  std::string unit_;
  int exit_code_ = 0;
  std::string bug_;
  bool interrupted_ = false;
};

nb::dict files_of(const Answer& answer) {
  nb::dict files;
  for (const auto& [path, file] : answer.written) {
    files[nb::str(path.c_str(), path.size())] = nb::bytes(file.text.data(), file.text.size());
  }
  return files;
}

std::vector<std::string> executables_of(const Answer& answer) {
  std::vector<std::string> paths;
  for (const auto& [path, file] : answer.written) {
    if (file.executable) paths.push_back(path);
  }
  return paths;
}

nb::object run(std::vector<std::string> words, const std::map<std::string, nb::bytes>& files,
               nb::object progress) {
  bool failed = false;
  Answer answer = Call(std::move(words), files, std::move(progress)).finish(failed);
  // nullptr with the exception that is set: nanobind passes it on.
  return failed ? nb::object() : nb::cast(std::move(answer));
}

// What a scenario names, as far as it can be read.
struct Outline {
  std::vector<std::string> pools;
  std::vector<std::string> workloads;
  std::vector<std::string> variants;
  Diagnostics problems;
  std::string errors;  // the problems, as the program prints them
};

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// `files`: the scenario, by its name, and those that it names and that are not on the disk.
Outline outline(const std::string& name, const std::map<std::string, nb::bytes>& files,
                const std::vector<std::string>& settings) {
  Host host{};
  host.files = texts_of(files);
  const nb::gil_scoped_release others_may_run;
  const tools::HostScope scope(host);
  const SourceText source{name, host.files.at(name)};
  scenarios::LoadedScenario loaded = scenarios::read_scenario_file(
      source, {settings},
      [](const std::string& path) { return tools::read_source(path, scenarios::kLargestTrace); });
  Outline found;
  for (const scenarios::Scenario& variant : loaded.set.variants) {
    add_name(found.variants, variant.name);
    for (const auto& pool : variant.node_pools) add_name(found.pools, pool.name.value);
    for (const auto& workload : variant.workloads) add_name(found.workloads, workload.name.value);
  }
  std::vector<SourceText> sources{source};
  std::ranges::move(loaded.traces, std::back_inserter(sources));
  found.errors = reports::diagnostics_text(loaded.problems, sources, {});
  found.problems = std::move(loaded.problems);
  return found;
}

// Not the entry of a list: "nodePools.gpu" is one by its name.
bool has_field(const std::string& path) {
  const auto field = scenarios::describe_field(path);
  return field && field->path == "spec." + path;
}

void define(nb::module_& module) {
  nb::class_<Diagnostic>(module, "Diagnostic")
      .def_prop_ro("code", [](const Diagnostic& d) { return std::string(info(d.code).name); })
      .def_prop_ro(
          "severity",
          [](const Diagnostic& d) { return std::string(reports::severity_name(d.severity)); })
      .def_prop_ro("file", [](const Diagnostic& d) { return d.where.file; })
      .def_prop_ro("line", [](const Diagnostic& d) { return d.where.line; })
      .def_prop_ro("column", [](const Diagnostic& d) { return d.where.column; })
      .def_prop_ro("length", [](const Diagnostic& d) { return d.where.length; })
      .def_ro("message", &Diagnostic::message)
      .def_ro("label", &Diagnostic::label)
      .def_ro("help", &Diagnostic::help);
  nb::class_<Answer>(module, "Answer")
      .def_ro("exit_code", &Answer::exit_code)
      .def_prop_ro("files", &files_of)
      .def_prop_ro("executables", &executables_of)
      .def_ro("renderings", &Answer::renderings)
      .def_ro("errors", &Answer::errors)
      .def_ro("diagnostics", &Answer::diagnostics)
      .def_ro("bug", &Answer::bug)
      .def_ro("interrupted", &Answer::interrupted);
  module.def("run", &run, nb::arg("words"), nb::arg("files"), nb::arg("progress").none());
  nb::class_<Outline>(module, "Outline")
      .def_ro("pools", &Outline::pools)
      .def_ro("workloads", &Outline::workloads)
      .def_ro("variants", &Outline::variants)
      .def_ro("problems", &Outline::problems)
      .def_ro("errors", &Outline::errors);
  module.def("outline", &outline, nb::arg("name"), nb::arg("files"), nb::arg("settings"));
  module.def("has_field", &has_field, nb::arg("path"));
  module.def("arrow_schema", &arrow_schema, nb::arg("names"), nb::arg("columns"));
  module.def("arrow_stream", &arrow_stream, nb::arg("names"), nb::arg("columns"));
  module.attr("VERSION") = std::string(kVersion);
}

}  // namespace
}  // namespace slicewise::python

NB_MODULE(_engine, module) { slicewise::python::define(module); }

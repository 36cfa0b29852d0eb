#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "slicewise/diagnostics.hpp"

// What a verb reads from and writes to. The program has the files, the streams and the Ctrl-C of
// its process; who has the program inside (Python) gives each call surroundings of its own.
namespace slicewise::tools {

struct Host {
  struct Written {
    std::string text;
    bool executable = false;
  };
  // Read in place of the files of these names; "-" is standard input. Others are those of the disk.
  std::map<std::string, std::string> files;
  // What would be written, by path; "" is standard output. Nothing goes to the disk but the journal
  // of a plan.
  std::map<std::string, Written> written = {};
  // The report of the verb in its other formats, by the words of -o, and its charts by "name.svg".
  std::map<std::string, std::string> renderings = {};
  // Whether all of them are made. To write them takes as long as a short simulation: who simulates
  // again with each move has of `run` the latencies only.
  bool renders_all = true;
  std::string errors = {};                // as on standard error, without colours
  Diagnostics diagnostics = {};           // those among the errors that have a code
  std::atomic<bool> interrupted = false;  // set to stop: what has finished is reported
  // What the verb looks at: a verb of several hands them what stops itself.
  const std::atomic<bool>* stop = &interrupted;
  // How far it is, from any thread, one call at a time.
  std::function<void(std::int64_t done, std::int64_t total, std::string_view unit)> progress = {};
};

// Of the verb that this thread runs; nullptr: it is the process.
Host* current_host();

// Makes `host` that of this thread for as long as it lives.
class HostScope {
 public:
  explicit HostScope(Host& host);
  ~HostScope();
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;

 private:
  Host* outer_;
};

}  // namespace slicewise::tools

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "slicewise/sim/plan.hpp"

#include "journal_file.hpp"

// What `slicewise plan --journal FILE` has simulated. A probe says of what it is: other flags, and
// any number of ranks, find it again.
namespace slicewise::tools {

class PlanJournal {
 public:
  // `subject`: all that an answer depends on but the probe itself, in one line. As
  // JournalFile::open().
  static Expected<PlanJournal> open(const std::string& path, std::string_view subject);

  // As a plan uses it. REQUIRES: the journal outlives what this returns.
  sim::ProbeJournal hooks();

  std::size_t found() const { return found_; }  // simulations that need not be repeated so far
  bool failed() const { return file_.failed(); }

 private:
  PlanJournal(JournalFile&& file, std::map<std::string, sim::PlanAnswer> known)
      : file_(std::move(file)), known_(std::move(known)) {}

  JournalFile file_;
  std::map<std::string, sim::PlanAnswer> known_;
  std::size_t found_ = 0;
};

}  // namespace slicewise::tools

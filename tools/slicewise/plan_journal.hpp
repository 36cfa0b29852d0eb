#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/plan.hpp"

// What `slicewise plan --journal FILE` has simulated: a line that says of what, then one line per
// simulation, on disk before the next one begins. A last line without its end, of a run that was
// killed while it wrote, is dropped.
namespace slicewise::tools {

class PlanJournal {
 public:
  // `subject`: all that an answer depends on but the probe itself, in one line. FILE_UNREADABLE;
  // PLAN_STALE for a journal of another subject, a damaged one, or one that another run has open.
  static Expected<PlanJournal> open(const std::string& path, std::string_view subject);

  PlanJournal(PlanJournal&& other) noexcept;
  PlanJournal& operator=(PlanJournal&&) = delete;
  ~PlanJournal();

  // As a plan uses it. REQUIRES: the journal outlives what this returns.
  sim::ProbeJournal hooks();

  std::size_t found() const { return found_; }  // simulations that need not be repeated so far
  bool failed() const { return failed_; }       // something could not be written

 private:
  PlanJournal(int file, std::map<std::string, sim::PlanAnswer> known)
      : file_(file), known_(std::move(known)) {}

  void keep(const sim::PlanProbe& probe, const sim::PlanAnswer& answer);

  int file_ = -1;
  std::map<std::string, sim::PlanAnswer> known_;
  std::size_t found_ = 0;
  bool failed_ = false;
};

}  // namespace slicewise::tools

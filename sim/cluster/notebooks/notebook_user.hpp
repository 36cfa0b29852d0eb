#pragma once

#include <utility>

#include "slicewise/sim/serving/arrivals.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// Somebody who uses a notebook: when they come, and how far the present session is. Each has a pod,
// which is submitted and deleted again with every session.
struct NotebookUser {
  explicit NotebookUser(UserCalendar when)
      : calendar(std::move(when)), cells(calendar.cells_of_next()) {}

  UserCalendar calendar;
  Session session;  // that goes on
  CellStream cells;
  Cell cell{};  // that runs, or comes next
  TimePoint idle_since;
  TimePoint cell_started;
  bool had_kernel = false;  // in this session
  bool was_active = false;  // has had a kernel in any session

  TimePoint leaves_at() const { return session.start + session.length; }
};

}  // namespace slicewise::sim

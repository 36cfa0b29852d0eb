#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profile_parts.hpp"

namespace slicewise::sim::profile_fit {
namespace {

constexpr double kOtherUnit = 20;  // times as long is no time of the same unit
constexpr double kByChance = 0.7;  // of the time alone: less is not measured of the same thing

// Of three rows of a setting or more, one that is far from all others, which agree.
void note_odd_rows(const Company& company, Diagnostics& notes) {
  constexpr double kAgree = 1.25;
  constexpr double kOdd = 1.5;
  std::map<std::pair<int, decltype(place_of(company.law.front()))>, std::vector<const Measurement*>>
      settings;
  for (const auto* rows : {&company.law, &company.turns}) {
    for (const Measurement& m : *rows) settings[{m.batch, place_of(m)}].push_back(&m);
  }
  for (auto& [setting, rows] : settings) {
    if (rows.size() < 3) continue;
    std::ranges::sort(rows, {}, [](const Measurement* m) { return m->time; });
    for (const bool is_first : {true, false}) {
      const Measurement& odd = is_first ? *rows.front() : *rows.back();
      const double least = in_ms(rows[is_first ? 1 : 0]->time);
      const double most = in_ms(rows[rows.size() - (is_first ? 1 : 2)]->time);
      const double apart = is_first ? least / in_ms(odd.time) : in_ms(odd.time) / most;
      if (most > kAgree * least || apart < kOdd) continue;
      add_note(notes, Code::ValueRange, odd.where,
               fmt::format("{}, {}: {:.4g} ms, and {:.4g} to {:.4g} ms in the {} other rows of the "
                           "same setting",
                           odd.workload, models::setting_of(odd), in_ms(odd.time), least, most,
                           rows.size() - 1),
               "measure it again, or leave the row out: it moves all that is fitted");
      notes.back().severity = Severity::Warning;
      break;
    }
  }
}

// Beside others nobody is faster than alone: such a row holds what all of them do together.
void refuse_sums(const Company& company, Diagnostics& problems) {
  std::map<int, const Measurement*> fastest;
  for (const Measurement& m : company.law) {
    if (!is_time_alone(m)) continue;
    const Measurement*& known = fastest.try_emplace(m.batch, &m).first->second;
    if (m.time < known->time) known = &m;
  }
  for (const auto& [batch, one] : fastest) {
    const Measurement& alone = *one;
    for (const auto* rows : {&company.law, &company.turns}) {
      for (const Measurement& m : *rows) {
        if (m.batch != alone.batch || m.clients < 2 || m.slice != "full") continue;
        const double faster = in_ms(m.time) / in_ms(alone.time);
        if (faster > kByChance || faster < 1 / kOtherUnit) continue;
        problems.push_back(make_diagnostic(
            Code::ValueRange, m.where,
            fmt::format("{}, {}: {:.4g} ms each, and {:.4g} ms alone", m.workload,
                        models::setting_of(m), in_ms(m.time), in_ms(alone.time)),
            "rate_per_s and latency_ms are of one process: is it the sum of all of them?"));
      }
    }
  }
}

}  // namespace

void refuse_other_units(const Company& company, Diagnostics& problems) {
  std::map<std::pair<int, decltype(place_of(company.law.front()))>, const Measurement*> settings;
  for (const auto* rows : {&company.law, &company.turns}) {
    for (const Measurement& m : *rows) {
      const Measurement& first = *settings.try_emplace({m.batch, place_of(m)}, &m).first->second;
      const double longer = in_ms(m.time) / in_ms(first.time);
      if (longer < kOtherUnit && longer > 1 / kOtherUnit) continue;
      problems.push_back(make_diagnostic(
          Code::ValueRange, m.where,
          fmt::format("{}, {}: {:.4g} ms, and {:.4g} ms in another row of the same setting",
                      m.workload, models::setting_of(m), in_ms(m.time), in_ms(first.time)),
          "latency_ms is in milliseconds: is one of the two in seconds?"));
    }
  }
  refuse_sums(company, problems);
}

void note_other_units(const Company& company, Diagnostics& notes) {
  note_odd_rows(company, notes);
  std::vector<Measurement> shared = company.turns;
  shared.insert(shared.end(), company.law.begin(), company.law.end());
  for (const Measurement& alone : company.law) {
    if (!is_time_alone(alone)) continue;
    for (const Measurement& m : shared) {
      if (m.batch != alone.batch || m.clients < 2 || m.slice != "full") continue;
      const double slower = in_ms(m.time) / in_ms(alone.time);
      if (slower < kOtherUnit * m.clients && slower > 1 / kOtherUnit) continue;
      notes.push_back(make_diagnostic(
          Code::ValueRange, alone.where,
          fmt::format(
              "{} alone takes {:.4g} ms, and {} {:.4g} ms: no sharing makes such a difference",
              alone.workload, in_ms(alone.time), models::setting_of(m), in_ms(m.time)),
          "latency_ms is in milliseconds: is one of the two in seconds?"));
      notes.back().severity = Severity::Note;
      return;
    }
  }
}

}  // namespace slicewise::sim::profile_fit

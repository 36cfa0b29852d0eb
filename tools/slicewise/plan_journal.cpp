#include "plan_journal.hpp"

#include <optional>

#include <fmt/format.h>

namespace slicewise::tools {
namespace {

constexpr std::string_view kJournalKind = "slicewise plan journal 8: ";
// Between a probe and its answer; neither holds one.
constexpr char kBetween = '\t';

// nullopt: not a line of a journal.
std::optional<std::pair<std::string, sim::PlanAnswer>> read_entry(std::string_view line) {
  const std::size_t between = line.find(kBetween);
  if (between == std::string_view::npos) return std::nullopt;
  const auto probe = sim::read_probe(line.substr(0, between));
  auto answer = sim::read_answer(line.substr(between + 1));
  if (!probe || !answer) return std::nullopt;
  return std::pair(sim::probe_line(*probe), std::move(*answer));
}

}  // namespace

Expected<PlanJournal> PlanJournal::open(const std::string& path, std::string_view subject) {
  std::map<std::string, sim::PlanAnswer> known;
  auto file = JournalFile::open(path, fmt::format("{}{}", kJournalKind, subject),
                                [&](std::string_view line) {
                                  auto entry = read_entry(line);
                                  if (entry) known.insert(std::move(*entry));
                                  return entry.has_value();
                                });
  if (!file) return tl::unexpected(std::move(file.error()));
  return PlanJournal(std::move(*file), std::move(known));
}

sim::ProbeJournal PlanJournal::hooks() {
  return {[this](const sim::PlanProbe& probe) -> std::optional<sim::PlanAnswer> {
            const auto known = known_.find(sim::probe_line(probe));
            if (known == known_.end()) return std::nullopt;
            ++found_;
            return known->second;
          },
          [this](const sim::PlanProbe& probe, const sim::PlanAnswer& answer) {
            file_.write(
                fmt::format("{}{}{}", sim::probe_line(probe), kBetween, sim::answer_line(answer)));
          }};
}

}  // namespace slicewise::tools

#include "verdict_exit.hpp"

#include <algorithm>

#include "terminal.hpp"

namespace slicewise::tools {
namespace {

int severity(ExitCode code) {
  switch (code) {
    case ExitCode::Success:
      return 0;
    case ExitCode::PodsLost:
      return 1;
    case ExitCode::ObjectiveMissed:
      return 2;
    default:
      return 3;
  }
}

bool is_milder(ExitCode a, ExitCode b) { return severity(a) < severity(b); }

std::vector<ExitCode> exit_codes(const std::vector<sim::Verdict>& verdicts) {
  std::vector<ExitCode> codes;
  codes.reserve(verdicts.size());
  for (const sim::Verdict& verdict : verdicts) codes.push_back(exit_code_of(verdict));
  return codes;
}

}  // namespace

ExitCode exit_code_of(const sim::Verdict& verdict) {
  if (verdict.has(sim::Verdict::Cause::NothingRan)) return ExitCode::Infeasible;
  using Cause = sim::Verdict::Cause;
  if (!verdict.meets_objectives() || verdict.has(Cause::PolicyDenies) ||
      verdict.has(Cause::Overloaded)) {
    return ExitCode::ObjectiveMissed;
  }
  return verdict.loses_pods() ? ExitCode::PodsLost : ExitCode::Success;
}

ExitCode lost_pods_code(const sim::Verdict& verdict) {
  if (verdict.has(sim::Verdict::Cause::NothingRan)) return ExitCode::Infeasible;
  return verdict.loses_pods() ? ExitCode::PodsLost : ExitCode::Success;
}

ExitCode lost_pods_code(const std::vector<sim::Verdict>& verdicts) {
  ExitCode worst = ExitCode::Success;
  for (const sim::Verdict& verdict : verdicts) {
    worst = std::max(worst, lost_pods_code(verdict), is_milder);
  }
  return worst;
}

ExitCode worst_exit_code(const std::vector<sim::Verdict>& verdicts) {
  const std::vector<ExitCode> codes = exit_codes(verdicts);
  return codes.empty() ? ExitCode::Success : *std::ranges::max_element(codes, is_milder);
}

ExitCode best_exit_code(const std::vector<sim::Verdict>& verdicts) {
  const std::vector<ExitCode> codes = exit_codes(verdicts);
  return codes.empty() ? ExitCode::Infeasible : *std::ranges::min_element(codes, is_milder);
}

ExitCode exit_code_of_ways(const std::vector<sim::Verdict>& ways) {
  const ExitCode worst = worst_exit_code(ways);
  const bool some_ran = best_exit_code(ways) != ExitCode::Infeasible;
  return worst == ExitCode::Infeasible && some_ran ? ExitCode::PodsLost : worst;
}

namespace {

Code code_of(const sim::Verdict& verdict) {
  using Cause = sim::Verdict::Cause;
  if (verdict.has(Cause::OutOfMemory)) return Code::GpuOom;
  return verdict.has(Cause::CrashLoopBackOff) ? Code::CrashLoopBackOff : Code::PodPending;
}

}  // namespace

ExitCode nothing_ran(const scenarios::Scenario& variant, const ScenarioFile& file,
                     const CommonFlags& flags, const sim::Verdict* found) {
  std::string message = "no pod ever ran in " + variant.name;
  if (found != nullptr && found->reasons.size() > 1) message += ": " + found->reasons[1].text;
  Diagnostic problem = make_diagnostic(
      found == nullptr ? Code::PodPending : code_of(*found),
      variant.workloads.empty() ? variant.where : variant.workloads.front().where, message,
      found == nullptr ? "`slicewise run` says why each of them waited" : "");
  problem.severity = Severity::Error;
  print_diagnostics({problem}, file.texts, flags);
  return ExitCode::Infeasible;
}

}  // namespace slicewise::tools

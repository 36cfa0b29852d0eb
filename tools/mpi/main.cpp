#include <exception>
#include <string>
#include <variant>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include "command_line.hpp"
#include "plan_run.hpp"
#include "ranks.hpp"
#include "terminal.hpp"

// `mpirun -n N slicewise-mpi plan ...`: the plan of `slicewise plan ...`, byte for byte, simulated
// by N - 1 ranks.
namespace slicewise::tools {
namespace {

// Has every other rank stopped, however rank 0 ends.
class Ranks {
 public:
  explicit Ranks(const boost::mpi::communicator& world) : world_(world) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() { stop_ranks(world_); }

 private:
  const boost::mpi::communicator& world_;
};

ExitCode plan_with_ranks(const boost::mpi::communicator& world, const PlanCommand& command,
                         const CommonFlags& flags) {
  const Ranks ranks(world);
  return run_plan(command, flags, [&](const OneVariant& opened, const sim::PlanOptions& options) {
    return world.size() > 1 ? hand_out(world, plan_subject(command, opened), options)
                            : sim::ProbeRunner();
  });
}

ExitCode run_rank(const boost::mpi::communicator& world, int argc, const char* const* argv) {
  const bool first = world.rank() == 0;
  const auto invocation = parse_command_line(argc, argv);
  if (!invocation) {
    return first ? usage_error(invocation.error().message, invocation.error().help)
                 : ExitCode::Usage;
  }
  if (const auto* text = std::get_if<ShowTextCommand>(&invocation->command)) {
    return first ? execute(*text, invocation->flags) : ExitCode::Success;
  }
  const auto* plan = std::get_if<PlanCommand>(&invocation->command);
  if (plan == nullptr) {
    return first ? usage_error("slicewise-mpi knows one verb: plan",
                               "the others run in one process: slicewise")
                 : ExitCode::Usage;
  }
  if (first) return plan_with_ranks(world, *plan, invocation->flags);
  const ExitCode code = answer_probes(world, *plan, invocation->flags);
  // Rank 0 would wait for this one for ever.
  if (code != ExitCode::Success) world.abort(static_cast<int>(code));
  return code;
}

}  // namespace
}  // namespace slicewise::tools

int main(int argc, char** argv) {
  using slicewise::ExitCode;
  const boost::mpi::environment environment(argc, argv);
  const boost::mpi::communicator world;
  try {
    return static_cast<int>(slicewise::tools::run_rank(world, argc, argv));
  } catch (const std::exception& error) {
    slicewise::tools::print_error("slicewise-mpi: internal error: " + std::string(error.what()));
    world.abort(static_cast<int>(ExitCode::InternalError));
  }
}

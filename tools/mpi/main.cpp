#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/status.hpp>
#include <fmt/format.h>

#include "slicewise/sim/plan.hpp"

#include "command_line.hpp"
#include "commands.hpp"
#include "plan_run.hpp"
#include "scenario_file.hpp"
#include "terminal.hpp"

// `mpirun -n N slicewise-mpi plan ...`: the plan of `slicewise plan ...`, byte for byte, simulated
// by N - 1 ranks. Rank 0 searches and asks, the other ranks simulate and answer.
namespace slicewise::tools {
namespace {

// What rank 0 and the others say to each other. All of it is text.
enum class MessageKind : int {
  Subject = 1,  // what the plan is about, before the first probe
  Probe,        // "17 " and sim::probe_line()
  Answer,       // "17 " and sim::answer_line()
  Stop,
};

struct Message {
  int rank = 0;  // who sent it
  MessageKind kind = MessageKind::Stop;
  std::string text;
};

// Waits without keeping a core busy: ranks often share a machine.
Message next_message(const boost::mpi::communicator& world) {
  constexpr std::chrono::microseconds kPause(200);
  for (;;) {
    if (const auto status = world.iprobe()) {
      Message message;
      message.rank = status->source();
      message.kind = static_cast<MessageKind>(status->tag());
      world.recv(status->source(), status->tag(), message.text);
      return message;
    }
    std::this_thread::sleep_for(kPause);
  }
}

using sim::PlanAnswer;
using sim::PlanProbe;

class Batch {
 public:
  Batch(const boost::mpi::communicator& world, std::span<const PlanProbe> probes)
      : world_(world), probes_(probes), answers_(probes.size()) {}

  // false: nothing is left to ask.
  bool ask(int rank) {
    if (next_ == probes_.size()) return false;
    world_.send(rank, static_cast<int>(MessageKind::Probe),
                fmt::format("{} {}", next_, sim::probe_line(probes_[next_])));
    ++next_;
    ++asked_;
    return true;
  }

  // Into probes.
  std::size_t take(const Message& message) {
    const std::size_t blank = message.text.find(' ');
    const auto p = static_cast<std::size_t>(std::stoull(message.text.substr(0, blank)));
    std::optional<PlanAnswer> answer = sim::read_answer(message.text.substr(blank + 1));
    if (!answer) throw std::runtime_error(fmt::format("rank {} answers nonsense", message.rank));
    answers_.at(p) = std::move(*answer);
    --asked_;
    return p;
  }

  bool waits() const { return asked_ > 0; }
  const std::vector<PlanAnswer>& answers() const { return answers_; }

 private:
  const boost::mpi::communicator& world_;
  std::span<const PlanProbe> probes_;
  std::vector<PlanAnswer> answers_;
  std::size_t next_ = 0;
  std::size_t asked_ = 0;
};

bool is_stopped(const sim::RunOptions& run) {
  return run.interrupted != nullptr && run.interrupted->load();
}

std::string answer_to(const Message& message, const sim::ProbeAnswerer& answerer) {
  const std::size_t blank = message.text.find(' ');
  const auto probe = sim::read_probe(message.text.substr(blank + 1));
  if (!probe) throw std::runtime_error("rank 0 asks nonsense");
  return fmt::format("{} {}", message.text.substr(0, blank), sim::answer_line(answerer(*probe, 1)));
}

// Rank 0: gives each other rank one probe, and the next one as soon as it has answered. `subject`
// goes to all of them at once; those that have read something else end the run.
// REQUIRES: world.size() > 1, and that `world` and `options.run` outlive the runner.
sim::ProbeRunner hand_out(const boost::mpi::communicator& world, const std::string& subject,
                          const sim::PlanOptions& options) {
  for (int rank = 1; rank < world.size(); ++rank) {
    world.send(rank, static_cast<int>(MessageKind::Subject), subject);
  }
  return [&world, run = options.run, done = 0, asked = 0](
             std::span<const PlanProbe> probes, const sim::ProbeAnswered& answered) mutable {
    Batch batch(world, probes);
    asked += static_cast<int>(probes.size());
    for (int rank = 1; rank < world.size(); ++rank) batch.ask(rank);
    while (batch.waits()) {
      const Message message = next_message(world);
      const std::size_t p = batch.take(message);
      if (answered) answered(p, batch.answers()[p]);
      if (run.progress) run.progress(++done, asked);
      if (!is_stopped(run)) batch.ask(message.rank);
    }
    return batch.answers();
  };
}

// No more probes. Every other rank returns from answer_probes().
void stop_ranks(const boost::mpi::communicator& world) {
  for (int rank = 1; rank < world.size(); ++rank) {
    world.send(rank, static_cast<int>(MessageKind::Stop), std::string());
  }
}

// Every rank but 0: reads the scenario when it is first asked, and answers until it is told to
// stop. What it cannot read, or reads otherwise than rank 0 did, is printed and ends all ranks.
ExitCode answer_probes(const boost::mpi::communicator& world, const PlanCommand& command,
                       const CommonFlags& flags) {
  std::optional<OneVariant> opened;
  sim::ProbeAnswerer answerer;
  for (;;) {
    const Message message = next_message(world);
    if (message.kind == MessageKind::Stop) return ExitCode::Success;
    if (message.kind == MessageKind::Subject) {
      auto read = open_variant(command, flags);
      if (!read) return read.error();
      if (plan_subject(command, *read) != message.text) {
        print_error(
            fmt::format("error: rank {} reads another {} than rank 0", world.rank(), command.file));
        return ExitCode::InvalidInput;
      }
      opened.emplace(std::move(*read));
      answerer = sim::probe_answerer(opened->set().variants[opened->variant], opened->catalogue);
      continue;
    }
    if (!opened) throw std::runtime_error("rank 0 asks before it says about what");
    world.send(message.rank, static_cast<int>(MessageKind::Answer), answer_to(message, answerer));
  }
}

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

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/status.hpp>
#include <boost/serialization/vector.hpp>
#include <fmt/format.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/ranks.hpp"

#include "command_line.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "host.hpp"
#include "plan_run.hpp"
#include "scenario_file.hpp"
#include "terminal.hpp"

// `mpirun -n N slicewise-mpi VERB ...`: what `slicewise VERB ...` says, byte for byte, simulated by
// N ranks. Of a plan rank 0 searches and asks, the other ranks simulate and answer. Of the other
// verbs each rank makes the whole study, simulates its part, and hears of the others'.
namespace slicewise::tools {
namespace {

// What rank 0 and the others say to each other. All of it is text.
enum class MessageKind : int {
  Subject = 1,  // what the plan is about, before the first probe
  Probe,        // "17 " and sim::probe_line()
  Answer,       // "17 " and sim::answer_line()
  Stop,
  Part,  // what a rank simulated, to rank 0
  All,   // ... all of them, from rank 0
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
      if (subject_of(*read, read->variant) != message.text) {
        print_error(
            fmt::format("error: rank {} reads another {} than rank 0", world.rank(), command.file));
        return ExitCode::InvalidInput;
      }
      opened.emplace(std::move(*read));
      scenarios::Scenario& judged = opened->file.loaded.set.variants[opened->variant];
      judged = sim::as_judged(std::move(judged));
      answerer = sim::probe_answerer(judged, opened->catalogue);
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
    return world.size() > 1 ? hand_out(world, subject_of(opened, opened.variant), options)
                            : sim::ProbeRunner();
  });
}

// Waits without keeping a core busy for what `rank` says next of this kind.
template <class What>
What heard_from(const boost::mpi::communicator& world, int rank, MessageKind kind) {
  constexpr std::chrono::microseconds kPause(200);
  while (!world.iprobe(rank, static_cast<int>(kind))) std::this_thread::sleep_for(kPause);
  What what;
  world.recv(rank, static_cast<int>(kind), what);
  return what;
}

// Through rank 0. A rank that was interrupted would leave the others waiting: it ends them.
std::vector<std::string> exchange(const boost::mpi::communicator& world, const std::string& mine) {
  if (catch_interrupt().load()) world.abort(static_cast<int>(ExitCode::Interrupted));
  if (world.rank() != 0) {
    world.send(0, static_cast<int>(MessageKind::Part), mine);
    return heard_from<std::vector<std::string>>(world, 0, MessageKind::All);
  }
  std::vector<std::string> all = {mine};
  for (int rank = 1; rank < world.size(); ++rank) {
    all.push_back(heard_from<std::string>(world, rank, MessageKind::Part));
  }
  for (int rank = 1; rank < world.size(); ++rank) {
    world.send(rank, static_cast<int>(MessageKind::All), all);
  }
  return all;
}

// The size of a file and the hash of what it begins with.
std::string mark_of(const std::string& path) {
  constexpr std::size_t kHashed = 64U << 20U;
  const auto file = map_file(path);
  if (!file) return "unreadable";  // which the verb says
  return fmt::format("{} {}", file->bytes.size(),
                     scenarios::sha256_hex(file->bytes.substr(0, kHashed)));
}

// Rank 0 is the program; what the others say is the same, and is said once.
template <class SimulatingCommand>
ExitCode in_step(const boost::mpi::communicator& world, const SimulatingCommand& command,
                 const CommonFlags& flags) {
  const bool first = world.rank() == 0;
  if constexpr (requires { command.journal; }) {
    if (!command.journal.empty() && world.size() > 1) {
      return first ? usage_error("--journal: several ranks keep one of a plan only",
                                 "leave it out, or run one process: slicewise")
                   : ExitCode::Success;
    }
  }
  if (command.file == "-") {
    return first ? usage_error("standard input reaches one rank only", "give them a file")
                 : ExitCode::Success;
  }
  const std::string mark = mark_of(command.file);
  for (const std::string& other : exchange(world, mark)) {
    if (other == mark) continue;
    if (!first) return ExitCode::Success;
    print_error(fmt::format("error: the ranks read different files {}", command.file));
    return ExitCode::InvalidInput;
  }
  const sim::Ranks ranks{static_cast<std::size_t>(world.rank()),
                         static_cast<std::size_t>(world.size()),
                         [&](const std::string& mine) { return exchange(world, mine); }};
  const sim::RanksScope scope(ranks);
  if (first) return execute(command, flags);
  catch_interrupt();  // as rank 0 does: exchange() looks at it
  Host nowhere{.files = {}};
  const HostScope silent(nowhere);
  // The code is rank 0's to give: mpirun would end it by that of another one, perhaps before it has
  // printed.
  static_cast<void>(execute(command, flags));
  return ExitCode::Success;
}

ExitCode plan_in_ranks(const boost::mpi::communicator& world, const PlanCommand& command,
                       const CommonFlags& flags) {
  if (world.rank() == 0) return plan_with_ranks(world, command, flags);
  const ExitCode code = answer_probes(world, command, flags);
  // Rank 0 would wait for this one for ever.
  if (failed(code)) world.abort(static_cast<int>(code));
  return code;
}

ExitCode run_rank(const boost::mpi::communicator& world, int argc, const char* const* argv) {
  const bool first = world.rank() == 0;
  const auto invocation = parse_command_line(argc, argv);
  if (!invocation) {
    return first ? usage_error(invocation.error().message, invocation.error().help)
                 : ExitCode::Success;
  }
  const CommonFlags& flags = invocation->flags;
  return std::visit(
      [&](const auto& command) {
        using Verb = std::decay_t<decltype(command)>;
        if constexpr (std::is_same_v<Verb, ShowTextCommand> ||
                      std::is_same_v<Verb, VersionCommand>) {
          return first ? execute(command, flags) : ExitCode::Success;
        } else if constexpr (std::is_same_v<Verb, PlanCommand>) {
          return plan_in_ranks(world, command, flags);
        } else if constexpr (std::is_same_v<Verb, RunCommand> ||
                             std::is_same_v<Verb, CompareCommand> ||
                             std::is_same_v<Verb, SensitivityCommand> ||
                             std::is_same_v<Verb, NeighboursCommand> ||
                             std::is_same_v<Verb, MaxLoadCommand> ||
                             std::is_same_v<Verb, ReplayCommand>) {
          return in_step(world, command, flags);
        } else {
          return first ? usage_error(
                             "slicewise-mpi knows the verbs plan, run, compare, sensitivity, "
                             "neighbours, max-load, replay",
                             "the others run in one process: slicewise")
                       : ExitCode::Success;
        }
      },
      invocation->command);
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

#include "hand_out.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "messages.hpp"

namespace slicewise::tools {
namespace {

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

}  // namespace

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

void stop_ranks(const boost::mpi::communicator& world) {
  for (int rank = 1; rank < world.size(); ++rank) {
    world.send(rank, static_cast<int>(MessageKind::Stop), std::string());
  }
}

}  // namespace slicewise::tools

#include "answer_probes.hpp"

#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "slicewise/sim/plan.hpp"

#include "messages.hpp"
#include "one_variant.hpp"
#include "plan_run.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
namespace {

std::string answer_to(const Message& message, const OneVariant& opened) {
  const std::size_t blank = message.text.find(' ');
  const auto probe = sim::read_probe(message.text.substr(blank + 1));
  if (!probe) throw std::runtime_error("rank 0 asks nonsense");
  const scenarios::Scenario& base = opened.set().variants[opened.variant];
  const sim::PlanAnswer answer = sim::answer_probe(base, *probe, opened.catalogue, {});
  return fmt::format("{} {}", message.text.substr(0, blank), sim::answer_line(answer));
}

}  // namespace

ExitCode answer_probes(const boost::mpi::communicator& world, const PlanCommand& command,
                       const CommonFlags& flags) {
  std::optional<OneVariant> opened;
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
      continue;
    }
    if (!opened) throw std::runtime_error("rank 0 asks before it says about what");
    world.send(message.rank, static_cast<int>(MessageKind::Answer), answer_to(message, *opened));
  }
}

}  // namespace slicewise::tools

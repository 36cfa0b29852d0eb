#include "messages.hpp"

#include <chrono>
#include <thread>

#include <boost/mpi/status.hpp>

namespace slicewise::tools {

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

}  // namespace slicewise::tools

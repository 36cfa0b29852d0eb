#pragma once

#include <string>

#include <boost/mpi/communicator.hpp>

// What rank 0 and the others say to each other. All of it is text.
namespace slicewise::tools {

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
Message next_message(const boost::mpi::communicator& world);

}  // namespace slicewise::tools

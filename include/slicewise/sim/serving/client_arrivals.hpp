#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/serving/renewal_gaps.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// The requests of many clients together, each a process of its own: within a window its gaps have
// the window's law, mean 1/rate and variation; at the start of each the process is as if it had
// always been running so, and windows are independent of each other. Expected requests of a window
// are thus rate times length, whatever the variation. (ServeGen's own generator fixes the number of
// each window instead: ceil(rate times length) gaps, stretched to fill it.)
// Each client draws from a stream of its own, so that leaving one out moves no other's requests.
//
// Allocates in the constructor only. An arrival costs one gap and O(log clients) comparisons.
// REQUIRES: the traffic outlives it; its windows are in order of client and time.
class ClientArrivals {
 public:
  ClientArrivals(const scenarios::ClientTraffic& traffic, std::uint64_t seed,
                 std::uint32_t replication, std::uint32_t entity);

  // Since the start of the run; never goes back. kNever when there are no more.
  TimePoint next() const { return first_.at; }

  // Goes to the arrival after next(). REQUIRES: next() is not kNever.
  void advance();

 private:
  struct Client {
    RandomStream random;
    RenewalGaps gaps;
    double mean_gap_ns = 0;
    TimePoint next;
    TimePoint until;        // end of the window
    TimePoint pass_begins;  // of the file's start, in the time of the run; may be before it
    std::size_t first = 0;  // of its windows
    std::size_t last = 0;   // ... past them
    std::size_t window = 0;
  };
  struct Arrival {
    TimePoint at;
    std::uint32_t client = 0;
  };

  static bool before(const Arrival& a, const Arrival& b);
  void add_client(std::size_t first, std::size_t last, RandomStream random);
  void enter_window(Client& client);
  bool begin_window(Client& client, const scenarios::ClientWindow& window);
  void build_tournament();

  const scenarios::ClientTraffic* traffic_;
  Duration pass_;  // length of the file
  std::vector<Client> clients_;
  // Who lost the match at each inner node of a tournament of the clients' next arrivals; the leaf
  // of client c is node losers_.size() + c.
  std::vector<Arrival> losers_;
  Arrival first_{kNever, 0};
};

}  // namespace slicewise::sim

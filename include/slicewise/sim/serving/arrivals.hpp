#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/units.hpp"

// When requests come: rates over time, gaps between arrivals, clients.
namespace slicewise::sim {

// Gaps between the events of a renewal process, of mean 1: the irregularity of arrivals apart from
// their rate. Gamma and Weibull have the coefficient of variation that the traffic asks for; below
// 0.001 they are Constant.
class RenewalGaps {
 public:
  explicit RenewalGaps(const scenarios::Traffic& traffic)
      : RenewalGaps(traffic.gaps, traffic.gap_variation) {}
  RenewalGaps(scenarios::Traffic::Gaps law, double variation);

  double draw(RandomStream& random) const {
    switch (law_) {
      case scenarios::Traffic::Gaps::Poisson:
        return random.exponential();
      case scenarios::Traffic::Gaps::Constant:
        return 1;
      case scenarios::Traffic::Gaps::Gamma:
        return gamma(random);
      case scenarios::Traffic::Gaps::Weibull:
        return weibull(random);
    }
    return 1;
  }

  // From any moment of a process that has always been running to its next event: then the process
  // has one event per unit of time in every span, whatever its law (Cox, "Renewal Theory", 1962).
  double draw_residual(RandomStream& random) const;

 private:
  double gamma(RandomStream& random) const;
  double weibull(RandomStream& random) const;

  scenarios::Traffic::Gaps law_;
  double inverse_shape_ = 1;
  double scale_ = 1;
};

// The rate of arrivals over the run, piece by piece, each of one rate:
//   no shape   one piece that lasts for ever
//   steps      as given; 0 before the first, the last for ever
//   Diurnal    5 minutes each: mean of a working day and highest piece are as given, between them
//              exp(k cos(time of day - peak_at))
//   Bursts     exponential sojourns within and outside bursts, in steady state from the start; the
//              rate outside follows from the mean (0 if bursts alone bring more than the mean)
// A Diurnal peak of more than 40 times the mean is cut to about that.
// Allocates in the constructor only. REQUIRES: the traffic outlives it.
class RateCurve {
 public:
  // `starts_at`: of the run, since Monday 00:00 UTC. Bursts draw from a stream of their own, so
  // they come at the same times whatever the mean rate is.
  RateCurve(const scenarios::Traffic& traffic, Duration starts_at, std::uint64_t seed,
            std::uint32_t replication, std::uint32_t entity);

  // Of the piece that the curve is at.
  double per_second() const { return per_second_; }
  double mean_gap_s() const { return mean_gap_s_; }  // infinite where the rate is 0
  TimePoint until() const { return until_; }         // kNever: it is the last

  // Goes to the next piece. REQUIRES: until() is not kNever.
  void step();

 private:
  struct Steps {
    const std::vector<scenarios::RateStep>* steps = nullptr;
    std::size_t next = 0;
  };
  struct Day {
    std::vector<double> per_second;  // of the pieces of a working day
    double weekend = 1;
    std::size_t piece = 0;  // of the local week
  };
  struct Modulation {
    RandomStream random;
    bool in_burst = false;
    std::array<double, 2> per_second{};  // outside, within
    std::array<double, 2> mean_ns{};     // of a sojourn
  };

  void set_rate(double per_second);
  void begin(const scenarios::Diurnal& diurnal, Rate mean, Duration starts_at);
  void begin(const scenarios::Bursts& bursts, Rate mean, RandomStream random);
  void show(const Day& day);
  void stay(Modulation& modulation);

  double per_second_ = 0;
  double mean_gap_s_ = 0;
  TimePoint until_ = kNever;
  std::variant<std::monostate, Steps, Day, Modulation> shape_;
};

// Before `end`, when the sources together are at the most of their means, in the middle of the time
// for which they are. REQUIRES: the clock tells their rates, which are no Bursts.
TimePoint busiest_time(const std::vector<const scenarios::Traffic*>& sources, Duration starts_at,
                       TimePoint end);

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

// The scheduled arrivals of one open stream of requests, one at a time. They depend on nothing but
// the traffic and the key of the stream: the same in every variant of a scenario, and never late
// because a response was.
//
// A renewal process of mean gap 1 runs in operational time, the integral of the rate; an arrival
// comes when the rate curve has integrated to it. The first gap starts with the run. With Poisson
// gaps this is the Poisson process of that rate, exactly.
// A trace gives its rows at `at / scale`. One that repeats starts again one mean gap after its last
// row, with its first; one without any length (all rows at once) does not repeat.
// Clients whose rates are known window by window: see ClientArrivals.
//
// Allocates in the constructor only; a Poisson arrival at a constant rate costs one exponential
// number. REQUIRES: the traffic outlives it.
class Arrivals {
 public:
  // `starts_at`: of the run, since Monday 00:00 UTC. A ClosedLoop never arrives by itself.
  Arrivals(const scenarios::Traffic& traffic, Duration starts_at, std::uint64_t seed,
           std::uint32_t replication, std::uint32_t entity);

  // Since the start of the run; never goes back. kNever when there are no more.
  TimePoint next() const { return next_; }

  // The row of the trace that comes at next(). nullptr without a trace and when it is through.
  const scenarios::RequestTrace::Row* row() const {
    return trace_ != nullptr && row_ < trace_->rows.size() ? &trace_->rows[row_] : nullptr;
  }

  // Goes to the arrival after next(). REQUIRES: next() is not kNever.
  void advance();

 private:
  void advance_trace();
  void place_row();

  RandomStream random_;
  RenewalGaps gaps_;
  RateCurve curve_;
  TimePoint next_;
  const scenarios::RequestTrace* trace_ = nullptr;
  std::size_t row_ = 0;
  TimePoint pass_began_;  // of the trace
  std::optional<ClientArrivals> clients_;
};

}  // namespace slicewise::sim

// M/M/1 as a plain C++ loop over std::priority_queue. Argument: customers. Prints the mean sojourn.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <random>
#include <vector>

namespace {

enum class What : char { Arrival, Departure };

struct Event {
  double at;
  What what;
  friend bool operator>(const Event& a, const Event& b) { return a.at > b.at; }
};

double mean_sojourn(long customers) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> gap(0.9);
  std::exponential_distribution<double> service(1.0);
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::queue<double> arrived;
  double sojourns = 0;
  events.push({gap(random), What::Arrival});
  for (long served = 0; served < customers;) {
    const auto [now, what] = events.top();
    events.pop();
    if (what == What::Arrival) {
      arrived.push(now);
      if (arrived.size() == 1) events.push({now + service(random), What::Departure});
      events.push({now + gap(random), What::Arrival});
    } else {
      sojourns += now - arrived.front();
      arrived.pop();
      ++served;
      if (!arrived.empty()) events.push({now + service(random), What::Departure});
    }
  }
  return sojourns / static_cast<double>(customers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::printf("%.4f\n", mean_sojourn(std::atol(argv[1])));
  return 0;
}

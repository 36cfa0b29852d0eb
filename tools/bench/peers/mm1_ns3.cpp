// M/M/1 on ns-3's Simulator. Arguments: customers, scheduler (ns3::HeapScheduler, ...). Prints the
// mean sojourn.
#include <cstdio>
#include <cstdlib>
#include <queue>

#include "ns3/core-module.h"

namespace {

class Queue {
 public:
  explicit Queue(long customers) : left_(customers) {
    gaps_->SetAttribute("Mean", ns3::DoubleValue(1e6 / 0.9));
    services_->SetAttribute("Mean", ns3::DoubleValue(1e6));
    plan_arrival();
  }
  double sojourns_ns() const { return static_cast<double>(sojourns_ns_); }

 private:
  static ns3::Time drawn(const ns3::Ptr<ns3::ExponentialRandomVariable>& law) {
    return ns3::NanoSeconds(static_cast<int64_t>(law->GetValue()));
  }
  void plan_arrival() { ns3::Simulator::Schedule(drawn(gaps_), &Queue::arrive, this); }
  void begin_service() { ns3::Simulator::Schedule(drawn(services_), &Queue::depart, this); }
  void arrive() {
    arrived_.push(ns3::Simulator::Now().GetNanoSeconds());
    if (arrived_.size() == 1) begin_service();
    plan_arrival();
  }
  void depart() {
    sojourns_ns_ += ns3::Simulator::Now().GetNanoSeconds() - arrived_.front();
    arrived_.pop();
    if (--left_ == 0) ns3::Simulator::Stop();
    if (!arrived_.empty()) begin_service();
  }

  ns3::Ptr<ns3::ExponentialRandomVariable> gaps_ =
      ns3::CreateObject<ns3::ExponentialRandomVariable>();
  ns3::Ptr<ns3::ExponentialRandomVariable> services_ =
      ns3::CreateObject<ns3::ExponentialRandomVariable>();
  std::queue<int64_t> arrived_;
  int64_t sojourns_ns_ = 0;
  long left_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ns3::Simulator::SetScheduler(ns3::ObjectFactory(argv[2]));
  const long customers = std::atol(argv[1]);
  Queue queue(customers);
  ns3::Simulator::Run();
  std::printf("%.4f\n", queue.sojourns_ns() / 1e6 / static_cast<double>(customers));
  ns3::Simulator::Destroy();
  return 0;
}

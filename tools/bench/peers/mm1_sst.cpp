// M/M/1 as one component of SST-core with two links to itself. Parameter: customers. Prints the
// mean sojourn.
#include <cmath>
#include <cstdio>
#include <queue>
#include <random>

#include <sst/core/component.h>
#include <sst/core/event.h>
#include <sst/core/link.h>

namespace mm1 {

class Tick : public SST::Event {
 public:
  ImplementSerializable(mm1::Tick)
};

class Queue : public SST::Component {
 public:
  SST_ELI_REGISTER_COMPONENT(Queue, "mm1", "Queue", SST_ELI_ELEMENT_VERSION(1, 0, 0), "M/M/1",
                             COMPONENT_CATEGORY_UNCATEGORIZED)

  Queue(SST::ComponentId_t id, SST::Params& params)
      : Component(id), customers_(params.find<long>("customers", 1)), left_(customers_) {
    arrivals_ =
        configureSelfLink("arrivals", "1ns", new SST::Event::Handler2<Queue, &Queue::arrive>(this));
    server_ =
        configureSelfLink("server", "1ns", new SST::Event::Handler2<Queue, &Queue::depart>(this));
    registerAsPrimaryComponent();
    primaryComponentDoNotEndSim();
  }
  Queue() : Component() {}

  void setup() override { plan_arrival(new Tick); }

 private:
  SST::SimTime_t drawn(double mean) { return static_cast<SST::SimTime_t>(law_(random_) * mean); }
  void plan_arrival(SST::Event* tick) { arrivals_->send(drawn(1e6 / 0.9), tick); }
  void begin_service(SST::Event* tick) { server_->send(drawn(1e6), tick); }

  void arrive(SST::Event* tick) {
    arrived_.push(getCurrentSimTimeNano());
    if (arrived_.size() == 1) begin_service(new Tick);
    plan_arrival(tick);
  }
  void depart(SST::Event* tick) {
    sojourns_ns_ += getCurrentSimTimeNano() - arrived_.front();
    arrived_.pop();
    if (--left_ == 0) {
      std::printf("%.4f\n",
                  static_cast<double>(sojourns_ns_) / 1e6 / static_cast<double>(customers_));
      primaryComponentOKToEndSim();
    }
    if (arrived_.empty()) {
      delete tick;
    } else {
      begin_service(tick);
    }
  }

  std::mt19937_64 random_{1};
  std::exponential_distribution<double> law_{1.0};
  SST::Link* arrivals_ = nullptr;
  SST::Link* server_ = nullptr;
  std::queue<SST::SimTime_t> arrived_;
  SST::SimTime_t sojourns_ns_ = 0;
  long customers_ = 1;
  long left_ = 1;
};

}  // namespace mm1

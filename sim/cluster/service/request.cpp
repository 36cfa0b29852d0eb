#include "request.hpp"

#include <algorithm>

namespace slicewise::sim {

void RequestQueue::push(const Request& request) {
  if (count_ == ring_.size()) {
    std::vector<Request> larger(std::max<std::size_t>(16, ring_.size() * 2));
    for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    head_ = 0;
  }
  ring_[(head_ + count_) & (ring_.size() - 1)] = request;
  ++count_;
}

Request RequestQueue::pop() {
  const Request request = ring_[head_];
  head_ = (head_ + 1) & (ring_.size() - 1);
  --count_;
  return request;
}

bool ReturningRequests::later(const Entry& a, const Entry& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

void ReturningRequests::push(TimePoint at, const Request& request) {
  heap_.push_back({at, pushed_++, request});
  std::ranges::push_heap(heap_, later);
}

Request ReturningRequests::pop() {
  std::ranges::pop_heap(heap_, later);
  const Request request = heap_.back().request;
  heap_.pop_back();
  return request;
}

}  // namespace slicewise::sim

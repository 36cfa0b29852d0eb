#include "commitments.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "../../result/merge.hpp"

namespace slicewise::sim {
namespace {

// "2023-08, before the price cut of June 2025"
bool has_ended(const models::Commitment& commitment) {
  return commitment.valid.find("before ") != std::string::npos;
}

double month_of(UsdPerHour price) { return to_dollars(cost_of(price, kMonth)); }

// What is paid for a node over the term.
double price_of(const CommitmentRate& rate, UsdPerHour price) {
  return rate.months * month_of(price) * (1 - rate.discount);
}

struct Purchase {
  std::size_t from = 0;  // month, from 0 on
  std::size_t rate = 0;
  double saves = 0;
};

// Of one node, by the months in which it is there: each may begin with a purchase or with none, and
// the best of what begins later is known.
std::vector<Purchase> best_purchases(const std::vector<bool>& used, UsdPerHour price,
                                     const std::vector<CommitmentRate>& rates) {
  const std::size_t months = used.size();
  const double by_the_hour = month_of(price);
  std::vector<double> saves(months + 1);  // from this month on
  std::vector<std::optional<Purchase>> choice(months);
  const auto end_of = [&](std::size_t from, const CommitmentRate& rate) {
    return std::min(months, from + static_cast<std::size_t>(rate.months));
  };
  for (std::size_t from = months; from-- > 0;) {
    saves[from] = saves[from + 1];
    if (!used[from]) continue;  // nobody buys before there is a node
    for (std::size_t r = 0; r < rates.size(); ++r) {
      const std::size_t end = end_of(from, rates[r]);
      const auto first = used.begin() + static_cast<std::ptrdiff_t>(from);
      const auto last = used.begin() + static_cast<std::ptrdiff_t>(end);
      const double own = by_the_hour * static_cast<double>(std::count(first, last, true)) -
                         price_of(rates[r], price);
      if (own <= 0 || own + saves[end] < saves[from]) continue;  // of equal ones the first
      saves[from] = own + saves[end];
      choice[from] = Purchase{from, r, own};
    }
  }
  std::vector<Purchase> chosen;
  for (std::size_t from = 0; from < months;) {
    if (!choice[from]) {
      ++from;
      continue;
    }
    chosen.push_back(*choice[from]);
    from = end_of(from, rates[choice[from]->rate]);
  }
  return chosen;
}

// The month, from 1 on, by whose end as much would have been paid by the hour.
int pays_off_in(const std::vector<bool>& used, const Purchase& purchase, double paid,
                double by_the_hour) {
  std::size_t month = purchase.from;
  for (double spent = 0; month < used.size(); ++month) {
    if (used[month]) spent += by_the_hour;
    if (spent >= paid) break;
  }
  return static_cast<int>(month) + 1;
}

}  // namespace

std::vector<CommitmentRate> commitment_rates(const Catalogue& catalogue,
                                             const std::string& instance_type,
                                             const std::string& region) {
  std::vector<CommitmentRate> rates;
  for (const models::Commitment& known : catalogue.commitments) {
    if (known.instance != instance_type || known.region != region || !known.months ||
        !known.discount_percent || has_ended(known)) {
      continue;
    }
    rates.push_back(
        {known.kind,
         known.valid.empty() ? known.source.text : known.valid + ": " + known.source.text,
         *known.months, *known.discount_percent / 100, known.by_month});
  }
  return rates;
}

std::vector<PlannedCommitment> commitments_for(const std::string& instance_type,
                                               const NodesByMonth& usage,
                                               const std::vector<CommitmentRate>& rates) {
  std::vector<PlannedCommitment> all;
  const int most = usage.nodes.empty() ? 0 : std::ranges::max(usage.nodes);
  for (int node = 0; node < most; ++node) {
    std::vector<bool> used;
    for (const int nodes : usage.nodes) used.push_back(nodes > node);
    for (const Purchase& purchase : best_purchases(used, usage.price, rates)) {
      const CommitmentRate& rate = rates[purchase.rate];
      const double paid = price_of(rate, usage.price);
      const double upfront = rate.by_month ? 0 : paid;
      const int pays_off = pays_off_in(used, purchase, paid, month_of(usage.price));
      const int from = static_cast<int>(purchase.from) + 1;
      const auto same = std::ranges::find_if(all, [&](const PlannedCommitment& other) {
        return other.from == from && other.pays_off == pays_off && other.kind == rate.kind;
      });
      if (same == all.end()) {
        all.push_back({instance_type, rate.kind, rate.source, rate.discount, from, rate.months, 1,
                       from_dollars(upfront), from_dollars(paid), from_dollars(purchase.saves),
                       pays_off});
      } else {
        ++same->nodes;
        same->upfront += from_dollars(upfront);
        same->price += from_dollars(paid);
        same->saves += from_dollars(purchase.saves);
      }
    }
  }
  return all;
}

}  // namespace slicewise::sim

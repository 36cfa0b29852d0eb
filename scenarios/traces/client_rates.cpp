#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/csv_lines.hpp"

#include "../fields/check_scalar.hpp"
#include "trace_files.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::array<std::string_view, 5> kRateColumns = {"client", "at_s", "rate", "law",
                                                          "variation"};
constexpr std::int64_t kLatestWindow = 1'000'000'000;

constexpr std::pair<std::string_view, ClientWindow::Law> kLaws[] = {
    {"Exponential", ClientWindow::Law::Exponential},
    {"Gamma", ClientWindow::Law::Gamma},
    {"Weibull", ClientWindow::Law::Weibull},
};

std::pair<std::uint32_t, Duration> place_of(const ClientWindow& window) {
  return {window.client, window.at};
}

class RatesReader {
 public:
  RatesReader(const SourceText& csv, Findings& findings)
      : name_(csv.name), lines_(csv), findings_(findings) {}

  ClientRates read() {
    if (!read_header()) return {};
    ClientRates rates;
    while (lines_.next()) {
      ClientWindow window;
      if (read_line(window)) rates.windows.push_back(window);
    }
    ClientWindow twice;
    if (bad_lines_.hidden() > 0) {
      findings_.add(Code::FieldType, bad_lines_.first_hidden(),
                    fmt::format("{} more lines cannot be read", bad_lines_.hidden()));
    } else if (bad_lines_.count() == 0 && !arrange_windows(rates, twice)) {
      findings_.add(Code::SettingConflict, {name_, 1, 1, 1},
                    fmt::format("client {} has two windows at {} s", twice.client,
                                twice.at.ns / seconds(1).ns));
    } else if (bad_lines_.count() == 0 &&
               std::ranges::all_of(rates.windows,
                                   [](const ClientWindow& w) { return w.rate.per_second <= 0; })) {
      findings_.add(Code::ValueRange, {name_, 1, 1, 1}, "no client asks for anything");
    }
    return rates;
  }

 private:
  enum Column : std::size_t { Client, At, RateOf, Law, Variation };

  bool read_header() {
    const bool any = lines_.next();
    columns_ = any ? lines_.size() : 0;
    std::string missing;
    for (std::size_t column = 0; column < kRateColumns.size(); ++column) {
      std::size_t place = 0;
      while (place < columns_ && lines_.value(place) != kRateColumns[column]) ++place;
      place_[column] = place;
      if (place == columns_)
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", kRateColumns[column]);
    }
    if (missing.empty()) return true;
    findings_.add(Code::FieldMissing, {name_, 1, 1, 1},
                  fmt::format("the first line does not name {} of client rates", missing),
                  fmt::format("it is `{}` in what `slicewise import servegen` writes",
                              fmt::join(kRateColumns, ",")));
    return false;
  }

  bool read_line(ClientWindow& window) {
    if (const std::string wrong = lines_.misfit(columns_); !wrong.empty()) {
      return bad(lines_.place(), wrong);
    }
    const auto client = to_integer(value(Client));
    if (!client || *client < 0 || *client > std::int64_t{UINT32_MAX}) {
      return bad(lines_.place(place_[Client]), "this is no number of a client", "write 0 or more");
    }
    const auto at = to_integer(value(At));
    if (!at || *at < 0 || *at > kLatestWindow) {
      return bad(lines_.place(place_[At]), "this is no whole number of seconds from 0 to 10^9");
    }
    const auto rate = to_number(value(RateOf));
    if (!rate || !(*rate >= 0 && *rate <= kMostRate)) {
      return bad(lines_.place(place_[RateOf]),
                 "this is no rate from 0 to 10^6 requests per second");
    }
    window = {static_cast<std::uint32_t>(*client), seconds(*at), {*rate}};
    return *rate <= 0 || read_gaps(window);
  }

  bool read_gaps(ClientWindow& window) {
    const auto law = law_called(value(Law));
    if (!law) {
      return bad(lines_.place(place_[Law]), "no law of gaps is called so",
                 "write Exponential, Gamma or Weibull");
    }
    window.law = *law;
    if (*law == ClientWindow::Law::Exponential) return true;
    const auto variation = to_number(value(Variation));
    if (!variation || !(*variation > 0 && *variation <= kMostVariation)) {
      return bad(lines_.place(place_[Variation]), "this is no coefficient of variation up to 10^4",
                 "write 1 for gaps as of a Poisson process");
    }
    window.variation = *variation;
    return true;
  }

  std::string_view value(Column column) const { return lines_.value(place_[column]); }

  bool bad(const SourceLocation& where, std::string message, std::string help = {}) {
    if (bad_lines_.shows(where)) {
      findings_.add(Code::FieldType, where, std::move(message), std::move(help));
    }
    return false;
  }

  std::string name_;
  CsvLines lines_;
  Findings& findings_;
  std::size_t columns_ = 0;
  std::array<std::size_t, kRateColumns.size()> place_{};  // of each column in a line
  BadLines bad_lines_;
};

// Requests of the windows between two times of the file.
double requests_between(const ClientTraffic& traffic, Duration begin, Duration end) {
  double requests = 0;
  for (const ClientWindow& window : traffic.windows) {
    const Duration from = std::max(begin, window.at);
    const Duration to = std::min(end, window.at + traffic.window);
    if (from < to) requests += window.rate.per_second * to_seconds(to - from);
  }
  return requests;
}

// As the files spell it: "Gamma".
std::string_view law_name(ClientWindow::Law law) {
  return kLaws[static_cast<std::size_t>(law)].first;
}

}  // namespace

std::optional<ClientWindow::Law> law_called(std::string_view name) {
  for (const auto& [known, law] : kLaws) {
    if (known == name) return law;
  }
  return std::nullopt;
}

bool arrange_windows(ClientRates& rates, ClientWindow& twice) {
  std::ranges::stable_sort(rates.windows, {}, place_of);
  std::optional<Duration> step;
  for (std::size_t i = 1; i < rates.windows.size(); ++i) {
    const ClientWindow& before = rates.windows[i - 1];
    const ClientWindow& here = rates.windows[i];
    if (before.client != here.client) continue;
    if (before.at == here.at) {
      twice = here;
      return false;
    }
    step = std::min(step.value_or(here.at - before.at), here.at - before.at);
  }
  rates.window = step.value_or(kUsualWindow);
  return true;
}

std::string client_rates_csv(const ClientRates& rates) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(kRateColumns, ","));
  for (const ClientWindow& window : rates.windows) {
    const std::int64_t at_s = window.at.ns / seconds(1).ns;
    if (window.rate.per_second <= 0) {
      fmt::format_to(std::back_inserter(text), "{},{},0,,0\n", window.client, at_s);
    } else {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", window.client, at_s,
                     window.rate.per_second, law_name(window.law), window.variation);
    }
  }
  return fmt::to_string(text);
}

ClientRates read_client_rates(const SourceText& csv, Findings& findings) {
  return RatesReader(csv, findings).read();
}

Duration end_of(const ClientTraffic& traffic) {
  Duration end;
  for (const ClientWindow& window : traffic.windows) {
    end = std::max(end, window.at + traffic.window);
  }
  return end;
}

Rate mean_rate(const ClientTraffic& traffic, std::optional<Duration> run) {
  const Duration end = end_of(traffic);
  constexpr Duration kLongest = hours(std::int64_t{24} * 36'500);  // keeps sums inside 64 bits
  const Duration length = std::min(run.value_or(end - traffic.from), kLongest);
  if (length <= Duration{} || traffic.from >= end) return {};
  double requests = requests_between(traffic, traffic.from, traffic.from + length);
  if (traffic.repeats && traffic.from + length > end) {
    const Duration left = traffic.from + length - end;
    const std::int64_t passes = left.ns / end.ns;
    requests += static_cast<double>(passes) * requests_between(traffic, {}, end) +
                requests_between(traffic, {}, left - end * passes);
  }
  return {traffic.scale * requests / to_seconds(length)};
}

}  // namespace slicewise::scenarios

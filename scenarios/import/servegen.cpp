#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "slicewise/csv_lines.hpp"
#include "slicewise/scenarios/import.hpp"

#include "../fields/check_scalar.hpp"
#include "../text/scalars.hpp"
#include "../traces/trace_files.hpp"
#include "import_report.hpp"
#include "importers.hpp"

namespace slicewise::scenarios {
namespace {

// Since the start of the recording: 31 years.
inline constexpr std::int64_t kMostSeconds = 1'000'000'000;

// Weight by number of tokens.
using TokenWeights = std::map<std::int64_t, double>;

// ServeGen's lengths of one client: JSON of {"window start in s": {"field": "dict literal"}}.
struct LengthWindow {
  Duration at;
  std::string input;  // the literals; "" where the window has none
  std::string output;
};

using Json = nlohmann::json;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

// Refuses what is deeper than a file of lengths, so that nothing recurses far.
class ShallowParser {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& /*parsed*/) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    too_deep_ = too_deep_ || (opens && depth >= 2);
    return !(opens && depth >= 2);
  }
  bool too_deep_ = false;
};

std::int64_t quantile(const TokenWeights& weights, double total, double q) {
  double seen = 0;
  for (const auto& [tokens, weight] : weights) {
    seen += weight;
    if (seen >= q * total) return tokens;
  }
  return weights.rbegin()->first;
}

// Adds the probabilities of "{50: 0.04, 51: 0.08}" (a Python dict literal: whole numbers to
// numbers), times `weight`. False when it is none; what was read until then has been added.
bool add_token_weights(std::string_view literal, double weight, TokenWeights& weights) {
  literal = trimmed(literal);
  if (literal.size() < 2 || literal.front() != '{' || literal.back() != '}') return false;
  literal = trimmed(literal.substr(1, literal.size() - 2));
  while (!literal.empty()) {
    const std::size_t end = std::min(literal.find(','), literal.size());
    const std::string_view pair = literal.substr(0, end);
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) return false;
    const auto tokens = whole_of(trimmed(pair.substr(0, colon)));
    const auto probability = to_number(trimmed(pair.substr(colon + 1)));
    if (!tokens || *tokens < 0 || *tokens > kMostTokens) return false;
    if (!probability || !(*probability >= 0 && *probability <= 1)) return false;
    if (*probability > 0) weights[*tokens] += weight * *probability;
    literal = trimmed(literal.substr(std::min(end + 1, literal.size())));
  }
  return true;
}

// nullopt when nothing weighs anything.
std::optional<TokenLengths> lengths_of(const TokenWeights& weights) {
  double total = 0;
  double sum = 0;
  for (const auto& [tokens, weight] : weights) {
    total += weight;
    sum += weight * static_cast<double>(tokens);
  }
  if (!(total > 0)) return std::nullopt;
  return TokenLengths{quantile(weights, total, 0.5), quantile(weights, total, 0.99),
                      weights.rbegin()->first, sum / total};
}

// In order of time; nullopt when the text is no such JSON.
std::optional<std::vector<LengthWindow>> read_length_windows(std::string_view json) {
  ShallowParser shallow;
  const Json document = Json::parse(json.begin(), json.end(), std::ref(shallow), false);
  if (document.is_discarded() || shallow.too_deep_ || !document.is_object()) return std::nullopt;
  std::vector<LengthWindow> windows;
  for (const auto& [start, fields] : document.items()) {
    const auto at = whole_of(start);
    if (!at || *at < 0 || *at > kMostSeconds || !fields.is_object()) return std::nullopt;
    LengthWindow window{seconds(*at), {}, {}};
    for (const auto& [name, text] :
         {std::pair("input_tokens", &window.input), {"output_tokens", &window.output}}) {
      const auto field = fields.find(name);
      if (field != fields.end() && field->is_string()) *text = field->get<std::string>();
    }
    windows.push_back(std::move(window));
  }
  std::ranges::sort(windows, {}, &LengthWindow::at);
  return windows;
}

constexpr std::string_view kRates = "-trace.csv";
constexpr std::string_view kLengths = "-dataset.json";

// "data/language/m-large/chunk-7-trace.csv": of the pool "language/m-large", client 7.
struct FilePlace {
  std::string pool;
  std::string model;  // last part of the pool
  std::optional<std::uint32_t> client;
};

FilePlace place_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("/:", begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  FilePlace place;
  if (parts.size() >= 3) {
    place.model = std::string(parts[parts.size() - 2]);
    place.pool = fmt::format("{}/{}", parts[parts.size() - 3], place.model);
  }
  constexpr std::string_view kChunk = "chunk-";
  const std::string_view file = parts.back();
  if (file.starts_with(kChunk)) {
    const char* end = file.data() + file.size();
    std::uint32_t client = 0;
    const auto result = std::from_chars(file.data() + kChunk.size(), end, client);
    if (result.ec == std::errc{}) place.client = client;
  }
  return place;
}

class ServeGenReader {
 public:
  ServeGenReader(std::span<const SourceText> files, const ImportOptions& options)
      : files_(files), options_(options), report_(options.skip_bad) {}

  Expected<Imported> read() {
    choose_files();
    if (rates_.empty() || (options_.pool.empty() && pools_.size() > 1)) return wrong_pool();
    for (const SourceText* file : rates_) {
      if (auto twice = read_rates(*file)) return tl::unexpected(std::move(*twice));
    }
    if (report_.has_failed()) return tl::unexpected(report_.errors());
    ClientWindow twice;  // there is none: read_rates()
    arrange_windows(result_, twice);
    tell_totals();
    for (const SourceText* file : lengths_) read_lengths(*file);
    if (report_.has_failed()) return tl::unexpected(report_.errors());
    finish_lengths();
    cut_to_window();
    for (ClientWindow& window : result_.windows) window.rate.per_second *= options_.rate_scale;
    if (result_.windows.empty()) {
      return not_the_format({files_.front().name, 1, 1, 1}, "no window is left to import");
    }
    const auto count = static_cast<std::int64_t>(result_.windows.size());
    return Imported{std::move(result_), report_.take_log(count)};
  }

 private:
  void choose_files() {
    for (const SourceText& file : files_) {
      const bool is_lengths = file.name.ends_with(kLengths);
      const bool is_rates = file.name.ends_with(kRates) ||
                            (!is_lengths && (files_.size() == 1 || file.name.ends_with(".csv")));
      const FilePlace place = place_of(file.name);
      if (!is_lengths && !is_rates) {
        report_.skipped("files that are neither rates (*-trace.csv) nor lengths (*-dataset.json)",
                        SourceLocation{file.name, 0});
        continue;
      }
      if (is_rates && file.name.ends_with(kRates)) pools_.insert(place.pool);
      if (!options_.pool.empty() && place.pool != options_.pool && place.model != options_.pool) {
        continue;
      }
      (is_rates ? rates_ : lengths_).push_back(&file);
    }
  }

  tl::unexpected<Diagnostics> wrong_pool() const {
    const bool none = pools_.empty();
    return not_the_format({files_.front().name, 0},
                          none ? "no file is called *-trace.csv"
                          : options_.pool.empty()
                              ? std::string("the files are of several pools of clients")
                              : fmt::format("there is no pool \"{}\" in the files", options_.pool),
                          none
                              ? "name files of ServeGen, or the archive that holds them"
                              : fmt::format("choose one with --pool: {}", fmt::join(pools_, ", ")));
  }

  std::optional<Diagnostics> read_rates(const SourceText& file) {
    const std::uint32_t client = place_of(file.name).client.value_or(next_client_);
    if (!clients_.insert(client).second) {
      return not_the_format({file.name, 1, 1, 1}, fmt::format("client {} has two files", client))
          .value();
    }
    next_client_ = std::max(next_client_, client) + 1;
    std::set<Duration> starts;
    CsvLines lines(file);
    while (lines.next()) {
      report_.read();
      ClientWindow window;
      window.client = client;
      if (!read_window(lines, window)) continue;
      if (starts.insert(window.at).second) {
        result_.windows.push_back(window);
      } else {
        report_.bad_row(lines.place(0), "a client has two windows at that time");
      }
    }
    return std::nullopt;
  }

  // Start of the window, rate, CV of the gaps, family, shape, scale.
  bool read_window(const CsvLines& lines, ClientWindow& window) {
    constexpr std::size_t kColumns = 6;
    const auto bad = [&](std::size_t column, std::string message) {
      report_.bad_row(lines.place(column), std::move(message));
      return false;
    };
    if (!lines.flaw().empty() || lines.size() != kColumns) {
      report_.bad_row(
          lines.place(),
          lines.flaw().empty()
              ? fmt::format("{} values where a window has 6: start, rate, CV, family, shape, scale",
                            lines.size())
              : std::string(lines.flaw()));
      return false;
    }
    const auto start = scaled_of(lines.value(0), 0);
    if (!start || *start < 0 || *start > kMostSeconds)
      return bad(0, "this is no start of a window");
    const auto rate = to_number(lines.value(1));
    if (!rate || !(*rate >= 0 && *rate <= kMostRate)) return bad(1, "this is no rate per second");
    const auto variation = to_number(lines.value(2));
    if (!variation || !(*variation >= 0 && *variation <= kMostVariation)) {
      return bad(2, "this is no coefficient of variation");
    }
    window.at = seconds(*start);
    window.rate = {*rate};
    if (*rate <= 0) return true;
    window.variation = *variation;
    return read_law(lines, window) || bad(3, "this is no family of gaps: Gamma or Weibull");
  }

  bool read_law(const CsvLines& lines, ClientWindow& window) {
    const std::string_view family = lines.value(3);
    const auto law = law_called(family);
    if (!law && !family.empty()) return false;
    window.law = law.value_or(ClientWindow::Law::Exponential);
    if (!law || window.variation <= 0) {
      window.law = ClientWindow::Law::Exponential;
      window.variation = 1;
      report_.guessed("windows with a rate but without a family or variation: taken for Poisson",
                      [&] { return lines.place(); });
    } else if (window.law == ClientWindow::Law::Weibull) {
      report_.noted("Weibull windows get the measured CV; the fitted shape and scale are not used",
                    [&] { return lines.place(); });
    }
    return true;
  }

  double requests(const ClientWindow& window) const {
    return window.rate.per_second * to_seconds(result_.window);
  }

  void tell_totals() {
    double total = 0;
    Duration end;
    for (const ClientWindow& window : result_.windows) {
      total += requests(window);
      end = std::max(end, window.at + result_.window);
    }
    if (end.ns <= 0) return;
    report_.note(
        fmt::format("{} clients, {:.0f} requests in {:.6g} h, {:.6g} per second", clients_.size(),
                    total, to_seconds(end) / 3600, total / to_seconds(end)),
        {files_.front().name, 0});
  }

  // Each window of lengths counts as much as its client has requests until the next.
  void read_lengths(const SourceText& file) {
    report_.read();
    const auto windows = read_length_windows(file.text);
    const auto client = place_of(file.name).client;
    if (!windows || !client) {
      report_.bad_row({file.name, 1, 1, 1}, "this is no file of lengths of chunk-N");
      return;
    }
    const auto first =
        std::ranges::lower_bound(result_.windows, *client, {}, &ClientWindow::client);
    for (std::size_t w = 0; w < windows->size(); ++w) {
      const LengthWindow& window = (*windows)[w];
      double weight = 0;
      for (auto it = first; it != result_.windows.end() && it->client == *client; ++it) {
        const bool before_next = w + 1 == windows->size() || it->at < (*windows)[w + 1].at;
        if (it->at >= window.at && before_next) weight += requests(*it);
      }
      if (weight <= 0 || window.input.empty() || window.output.empty()) continue;
      if (!add_token_weights(window.input, weight, input_) ||
          !add_token_weights(window.output, weight, output_)) {
        report_.bad_row({file.name, 1, 1, 1}, "a distribution of lengths is no dict literal");
        return;
      }
      known_requests_ += weight;
    }
    with_lengths_.insert(*client);
  }

  void finish_lengths() {
    if (lengths_.empty()) return;
    result_.input = lengths_of(input_);
    result_.output = lengths_of(output_);
    double total = 0;
    for (const ClientWindow& window : result_.windows) total += requests(window);
    std::int64_t without = 0;
    for (const std::uint32_t client : clients_) without += with_lengths_.contains(client) ? 0 : 1;
    if (without > 0) {
      report_.guessed(fmt::format("clients without a file of lengths: as all others; lengths are "
                                  "known of {:.1f} % of the requests",
                                  total > 0 ? 100 * known_requests_ / total : 0),
                      SourceLocation{files_.front().name, 0}, without);
    }
  }

  void cut_to_window() {
    if (!options_.from && !options_.length) return;
    const Duration from = options_.from.value_or(Duration{});
    const auto outside = std::erase_if(result_.windows, [&](const ClientWindow& window) {
      return window.at + result_.window <= from ||
             (options_.length && window.at - from >= *options_.length);
    });
    if (outside == 0) return;
    report_.skipped("windows outside the time that was asked for",
                    SourceLocation{files_.front().name, 0}, static_cast<std::int64_t>(outside));
  }

  std::span<const SourceText> files_;
  const ImportOptions& options_;
  ImportReport report_;
  std::set<std::string> pools_;
  std::vector<const SourceText*> rates_;
  std::vector<const SourceText*> lengths_;
  std::set<std::uint32_t> clients_;
  std::set<std::uint32_t> with_lengths_;
  std::uint32_t next_client_ = 0;
  ClientRates result_;
  TokenWeights input_;
  TokenWeights output_;
  double known_requests_ = 0;
};

}  // namespace

Expected<Imported> import_servegen(std::span<const SourceText> files,
                                   const ImportOptions& options) {
  return ServeGenReader(files, options).read();
}

}  // namespace slicewise::scenarios

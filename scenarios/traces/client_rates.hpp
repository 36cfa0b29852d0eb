#pragma once

#include <optional>
#include <string>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "../text/findings.hpp"

// Rates of clients, window by window, as CSV:
//
//   client,at_s,rate,law,variation
//   0,0,0.25,Gamma,1.5
//   0,600,0,,0
//
// `at_s` counts from the midnight that the file starts with, in whole seconds; `rate` is in
// requests per second; `law` (Exponential, Gamma, Weibull) and `variation` (coefficient of
// variation) are of the gaps between the requests of the window, and of no interest where the rate
// is 0. Columns go by name; others are passed over. A window lasts as long as the shortest step
// between two of a client (10 minutes when no client has two); a client without a window at some
// time asks for nothing then.
namespace slicewise::scenarios {

// Windows of a file that gives none to compare: what ServeGen has.
inline constexpr Duration kUsualWindow = seconds(600);

// As the files spell it: "Gamma".
std::string_view law_name(ClientWindow::Law law);
std::optional<ClientWindow::Law> law_called(std::string_view name);

// Puts windows in order of client and time and finds out how long they are. False when two windows
// of a client start together: `twice` is the first such.
bool arrange_windows(ClientRates& rates, ClientWindow& twice);

std::string client_rates_csv(const ClientRates& rates);

// Every bad line is reported at its place, the first few with their text. `where` is of the name of
// the file in the scenario.
ClientRates read_client_rates(const SourceText& csv, Findings& findings);

// Where the last window of the file ends.
Duration end_of(const ClientTraffic& traffic);

// Over `run`, or to the end of the file.
Rate mean_rate(const ClientTraffic& traffic, std::optional<Duration> run);

}  // namespace slicewise::scenarios

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/advice.hpp"
#include "slicewise/reports/result_report.hpp"

#include "../document/document_text.hpp"

// Fields by the JSON model of Grafana 10 and newer (schemaVersion 39); see
// https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
namespace slicewise::reports {
namespace {

using nlohmann::json;

constexpr int kGridWidth = 24;

struct Query {
  std::string expression;  // "@" stands for kThisRun
  std::string legend;
};

// The run that is looked at.
constexpr std::string_view kThisRun = "scenario=\"$scenario\",candidate=\"$candidate\"";

std::string of_this_run(std::string expression) {
  for (auto at = expression.find('@'); at != std::string::npos; at = expression.find('@')) {
    expression.replace(at, 1, kThisRun);
  }
  return expression;
}

json data_source() { return {{"type", "prometheus"}, {"uid", "${datasource}"}}; }

json query_json(const Query& query, std::size_t position) {
  return {{"datasource", data_source()},
          {"expr", of_this_run(query.expression)},
          {"legendFormat", query.legend},
          {"refId", std::string(1, static_cast<char>('A' + position))}};
}

class Dashboard {
 public:
  void row(const std::string& title) {
    end_line();
    panels_.push_back({{"type", "row"},
                       {"title", title},
                       {"collapsed", false},
                       {"panels", json::array()},
                       {"id", ++ids_},
                       {"gridPos", {{"x", 0}, {"y", y_}, {"w", kGridWidth}, {"h", 1}}}});
    ++y_;
  }

  struct Look {
    std::string type = "timeseries";
    std::string unit = "short";
    int width = 12;
    int height = 8;
    bool stacked = false;
    std::string remark = {};
  };

  json& panel(const std::string& title, const Look& look, const std::vector<Query>& queries) {
    if (x_ + look.width > kGridWidth) end_line();
    json targets = json::array();
    for (const Query& query : queries) targets.push_back(query_json(query, targets.size()));
    json custom = json::object();
    if (look.stacked) custom = {{"stacking", {{"mode", "normal"}}}, {"fillOpacity", 40}};
    panels_.push_back({{"type", look.type},
                       {"title", title},
                       {"description", look.remark},
                       {"id", ++ids_},
                       {"datasource", data_source()},
                       {"targets", targets},
                       {"fieldConfig",
                        {{"defaults", {{"unit", look.unit}, {"min", 0}, {"custom", custom}}},
                         {"overrides", json::array()}}},
                       {"gridPos", {{"x", x_}, {"y", y_}, {"w", look.width}, {"h", look.height}}}});
    x_ += look.width;
    line_height_ = std::max(line_height_, look.height);
    return panels_.back();
  }

  json take() { return std::move(panels_); }

 private:
  void end_line() {
    y_ += line_height_;
    x_ = line_height_ = 0;
  }

  json panels_ = json::array();
  int ids_ = 0;
  int x_ = 0;
  int y_ = 0;
  int line_height_ = 0;
};

void add_verdict(Dashboard& to) {
  to.row("Verdict");
  json& met = to.panel("Objectives", {"stat", "short", 5, 4}, {{"min(slicewise_slo_ok{@})", ""}});
  met["fieldConfig"]["defaults"]["mappings"] =
      json::array({{{"type", "value"},
                    {"options",
                     {{"0", {{"text", "missed"}, {"color", "red"}}},
                      {"1", {{"text", "met"}, {"color", "green"}}}}}}});
  to.panel(
      "Requests in SLO", {"stat", "percentunit", 5, 4},
      {{"sum(slicewise_requests_total{@,result=\"in_slo\"}) / sum(slicewise_requests_total{@})",
        ""}});
  to.panel("Bill so far", {"stat", "currencyUSD", 5, 4},
           {{"sum(slicewise_cost_usd_total{@})", ""}});
  to.panel("Nodes billed", {"stat", "short", 4, 4},
           {{"sum(slicewise_nodes{@,state=\"billed\"})", ""}});
  to.panel("GPU time busy", {"stat", "percentunit", 5, 4},
           {{"avg(avg_over_time(slicewise_gpu_time_busy_ratio{@}[$__range]))", ""}});
}

void add_latency(Dashboard& to) {
  to.row("Latency against its limit");
  to.panel("p99 and limit", {"timeseries", "s"},
           {{"slicewise_request_duration_p99_seconds{@}", "{{workload}} p99"},
            {"slicewise_request_duration_limit_seconds{@}", "{{workload}} limit"}});
  to.panel("Requests per second", {"timeseries", "reqps", 12, 8, true},
           {{"sum by (workload, result) (rate(slicewise_requests_total{@}[$__rate_interval]))",
             "{{workload}} {{result}}"}});
  to.panel("Latency from the histogram", {"timeseries", "s"},
           {{"histogram_quantile(0.5, sum by (workload, le) "
             "(rate(slicewise_request_duration_seconds_bucket{@}[$__rate_interval])))",
             "{{workload}} p50"},
            {"histogram_quantile(0.95, sum by (workload, le) "
             "(rate(slicewise_request_duration_seconds_bucket{@}[$__rate_interval])))",
             "{{workload}} p95"}});
  to.panel("Waiting and in the system", {"timeseries", "short"},
           {{"slicewise_requests_waiting{@}", "{{workload}} waiting"},
            {"slicewise_requests_in_system{@}", "{{workload}} in system"}});
}

void add_gpus(Dashboard& to) {
  to.row("GPUs: memory and the two utilisations");
  to.panel("GPU memory", {"timeseries", "bytes", 12, 8, true},
           {{"slicewise_gpu_memory_used_bytes{@}", "{{node}} GPU {{gpu}} {{mig_profile}}"}});
  to.panel(
      "Free GPU memory of the fullest", {"timeseries", "bytes"},
      {{"min(slicewise_gpu_memory_total_bytes{@} - slicewise_gpu_memory_used_bytes{@})", "free"}});
  to.panel("Time busy",
           {"timeseries", "percentunit", 12, 8, false, "Some kernel runs. What GPU_UTIL shows."},
           {{"slicewise_gpu_time_busy_ratio{@}", "{{node}} GPU {{gpu}}"},
            {"slicewise_gpu_context_switch_ratio{@}", "{{node}} GPU {{gpu}} switching"}});
  to.panel("SM active",
           {"timeseries", "percentunit", 12, 8, false,
            "How much of the GPU the kernels use. Absent where no workload says it."},
           {{"slicewise_gpu_sm_active_ratio{@}", "{{node}} GPU {{gpu}}"}});
  to.panel("GPU time by workload", {"timeseries", "short", 12, 8, true, "GPUs kept busy"},
           {{"sum by (workload) (rate(slicewise_workload_gpu_seconds_total{@}[$__rate_interval]))",
             "{{workload}}"}});
  to.panel("Pods running", {"timeseries", "short", 12, 8, true},
           {{"slicewise_pods_running{@}", "{{workload}}"}});
}

void add_cost(Dashboard& to) {
  to.row("Cost");
  to.panel("Bill so far", {"timeseries", "currencyUSD", 12, 8, true},
           {{"slicewise_cost_usd_total{@}", "{{node_pool}}"}});
  to.panel("Where the money of the run goes", {"bargauge", "currencyUSD"},
           {{"max by (reason) (slicewise_run_cost_usd{@})", "{{reason}}"}});
  to.panel("Nodes", {"timeseries", "short", 24, 6},
           {{"slicewise_nodes{@}", "{{node_pool}} {{state}}"}});
}

void add_comparison(Dashboard& to) {
  to.row("Simulated against real (export with --dcgm-compat and --start)");
  to.panel("GPU utilisation", {"timeseries", "percent"},
           {{"avg(DCGM_FI_DEV_GPU_UTIL{sim=\"true\",@})", "simulated"},
            {"avg(DCGM_FI_DEV_GPU_UTIL{sim=\"\"})", "real"}});
  to.panel("GPU memory used", {"timeseries", "decmbytes"},
           {{"sum(DCGM_FI_DEV_FB_USED{sim=\"true\",@})", "simulated"},
            {"sum(DCGM_FI_DEV_FB_USED{sim=\"\"})", "real"}});
  to.panel("SM active",
           {"timeseries", "percentunit", 12, 8, false,
            "dcgm-exporter's default counters leave DCGM_FI_PROF_SM_ACTIVE out: switch it on."},
           {{"avg(DCGM_FI_PROF_SM_ACTIVE{sim=\"true\",@})", "simulated"},
            {"avg(DCGM_FI_PROF_SM_ACTIVE{sim=\"\"})", "real"}});
}

json whole_dashboard(const std::string& title, const std::string& uid, json panels, json time,
                     json variables) {
  json list =
      json::array({{{"name", "datasource"}, {"type", "datasource"}, {"query", "prometheus"}}});
  list.insert(list.end(), variables.begin(), variables.end());
  return {{"title", title},
          {"uid", uid},
          {"tags", {"slicewise", "gpu"}},
          {"schemaVersion", 39},
          {"version", 1},
          {"editable", true},
          {"timezone", "utc"},
          {"time", std::move(time)},
          {"templating", {{"list", std::move(list)}}},
          {"panels", std::move(panels)}};
}

json dashboard_variable(const std::string& name, const std::string& query) {
  return {{"name", name},
          {"type", "query"},
          {"datasource", data_source()},
          {"query", {{"query", query}, {"refId", name}}},
          {"definition", query},
          {"refresh", 2},
          {"sort", 1}};
}

}  // namespace

std::string grafana_dashboard() {
  Dashboard panels;
  add_verdict(panels);
  add_latency(panels);
  add_gpus(panels);
  add_cost(panels);
  add_comparison(panels);
  return json_text(whole_dashboard(
      "slicewise: a simulated run", "slicewise-run", panels.take(),
      {{"from", "2026-01-05T00:00:00Z"}, {"to", "2026-01-06T00:00:00Z"}},
      json::array(
          {dashboard_variable("scenario", "label_values(slicewise_nodes, scenario)"),
           dashboard_variable(
               "candidate", "label_values(slicewise_nodes{scenario=\"$scenario\"}, candidate)")})));
}

std::string advice_dashboard() {
  Dashboard panels;
  panels.row("Drift: what runs against what would be cheapest");
  panels.panel("Age of the advice", {"stat", "s", 5, 4},
               {{"time() - min(slicewise_advice_timestamp_seconds{cluster=~\"$cluster\"})", ""}});
  panels.panel("Workloads on placeholders", {"stat", "short", 4, 4},
               {{"sum(slicewise_advice_assumed_workloads{cluster=~\"$cluster\"})", ""}});
  panels.panel("A month that could be saved", {"stat", "currencyUSD", 5, 4},
               {{"sum(slicewise_advice_monthly_usd{cluster=~\"$cluster\",pools=\"today\"}) - "
                 "sum(slicewise_advice_monthly_usd{cluster=~\"$cluster\",pools=\"best\"})",
                 ""}});
  panels.panel("Objectives, as it runs", {"stat", "short", 5, 4},
               {{"min(slicewise_advice_ok{cluster=~\"$cluster\",pools=\"today\"})", ""}});
  panels.panel("Simulation off the cluster, at most", {"stat", "percentunit", 5, 4},
               {{"max(abs(slicewise_advice_deviation_ratio{cluster=~\"$cluster\"}))", ""}});
  panels.panel("A month", {"timeseries", "currencyUSD"},
               {{"sum by (cluster, pools) (slicewise_advice_monthly_usd{cluster=~\"$cluster\"})",
                 "{{cluster}} {{pools}}"}});
  panels.panel("Nodes", {"timeseries", "short"},
               {{"sum by (cluster, pools, instance_type, strategy) "
                 "(slicewise_advice_nodes{cluster=~\"$cluster\"})",
                 "{{cluster}} {{pools}} {{instance_type}} {{strategy}}"}});
  panels
      .panel("Simulation off the cluster", {"timeseries", "percentunit", 24, 8},
             {{"slicewise_advice_deviation_ratio{cluster=~\"$cluster\"}",
               "{{cluster}} {{namespace}}/{{workload}} {{figure}}"}})["fieldConfig"]["defaults"]
      .erase("min");
  json clusters = dashboard_variable("cluster", "label_values(slicewise_advice_ok, cluster)");
  clusters["includeAll"] = true;
  clusters["multi"] = true;
  return json_text(whole_dashboard("slicewise: drift", "slicewise-drift", panels.take(),
                                   {{"from", "now-30d"}, {"to", "now"}},
                                   json::array({std::move(clusters)})));
}

}  // namespace slicewise::reports

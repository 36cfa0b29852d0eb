#include <fmt/format.h>

#include "svg.hpp"

namespace slicewise::reports::charts {
namespace {

// Contrast on white: 5.2, 6.0, 15.6, 3.1 and 5.7; on #0F1419: 8.1, 3.1, 3.3, 3.3 and 12.7. Any two
// stay apart for deuteranopes, protanopes and tritanopes.
constexpr std::string_view kChartStyle = R"css(
:root{--paper:#fff;--ink:#1b1f24;--muted:#57606a;--grid:#d8dee4;--frame:#8c959f;
--c0:#0072B2;--c1:#C12119;--c2:#3C1727;--c3:#CE7B8B;--c4:#9010FE}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#0F1419;--ink:#e6edf3;
--muted:#9da7b1;--grid:#2b333c;--frame:#6e7781;
--c0:#5BB4F0;--c1:#BF1369;--c2:#763BF7;--c3:#7A6608;--c4:#D4DC86}}
:root[data-theme=dark]{--paper:#0F1419;--ink:#e6edf3;--muted:#9da7b1;--grid:#2b333c;--frame:#6e7781;
--c0:#5BB4F0;--c1:#BF1369;--c2:#763BF7;--c3:#7A6608;--c4:#D4DC86}
.chart text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:var(--ink)}
.chart .tick{font-size:11px;fill:var(--muted)}
.chart .axis{fill:var(--muted)}
.chart .strong{font-weight:600}
.chart .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.chart .grid{stroke:var(--grid);fill:none}
.chart .frame{stroke:var(--frame);fill:none}
.chart .limit{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:6 4;fill:none}
.chart .k0{--k:var(--c0)}.chart .k1{--k:var(--c1)}.chart .k2{--k:var(--c2)}
.chart .k3{--k:var(--c3)}.chart .k4{--k:var(--c4)}
.chart .mark{fill:var(--k);stroke:var(--paper);stroke-width:1}
.chart .hollow{fill:var(--paper);stroke:var(--k);stroke-width:1.6}
.chart .ring{fill:none;stroke:var(--ink);stroke-width:1.5}
.chart .interval{stroke:var(--k);stroke-width:1.4;fill:none}
.chart .whisker{stroke:var(--ink);stroke-width:1.2;fill:none}
.chart .series{stroke:var(--k);stroke-width:2;fill:none;stroke-linejoin:round}
.chart .d1{stroke-dasharray:7 4}.chart .d2{stroke-dasharray:2 3}
.chart .d3{stroke-dasharray:10 3 2 3}.chart .d4{stroke-dasharray:4 2}
.chart .mark,.chart .hollow{stroke-dasharray:none}
.chart .band{fill:var(--k);opacity:.18}
.chart .area{fill:var(--k);stroke:var(--paper);stroke-width:.5}
.chart .thin{fill:var(--k)}
.chart .edge{stroke:var(--paper);stroke-width:.5}
.chart .hatch path{stroke:var(--paper);stroke-width:1.5;fill:none}
.chart .hatch rect{fill:var(--k)}
.chart .hatch .empty,.chart .empty{fill:var(--grid)}
.chart .waits{opacity:.45}
.chart .m{text-anchor:middle}.chart .e{text-anchor:end}
.chart .light text{fill:#fff}.chart .dark text{fill:#111}
)css";

}  // namespace

std::string_view chart_style() { return kChartStyle; }

std::string svg_file(const std::string& chart) {
  constexpr std::string_view kNamed = "</desc>\n";
  const std::size_t body = chart.find(kNamed) + kNamed.size();
  return chart.substr(0, body) + fmt::format("<style>{}</style>\n", kChartStyle) +
         "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n" +
         chart.substr(body);
}

}  // namespace slicewise::reports::charts

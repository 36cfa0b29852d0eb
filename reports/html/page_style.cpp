#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

// Colours of text are 4.5:1 and more on their ground, in both themes; borders of what can be used
// 3:1.
constexpr std::string_view kPageCss = R"css(
:root{--good:#1a6b2f;--bad:#b3151c;--link:#0a58a8;--raised:#f6f8fa;--line:#d0d7de;--best:#e8f2fb}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--good:#5fd07f;--bad:#ff8a80;
--link:#79b8ff;--raised:#1a2027;--line:#39424c;--best:#16283a}}
:root[data-theme=dark]{--good:#5fd07f;--bad:#ff8a80;--link:#79b8ff;--raised:#1a2027;--line:#39424c;
--best:#16283a}
*{box-sizing:border-box}
html{color-scheme:light dark;scroll-behavior:smooth}
:root[data-theme=dark]{color-scheme:dark}:root[data-theme=light]{color-scheme:light}
body{margin:0 auto;max-width:1366px;padding:0 20px;background:var(--paper);color:var(--ink);
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
a{color:var(--link)}
a.skip{position:absolute;left:-999px;background:var(--paper);padding:8px 12px;z-index:2}
a.skip:focus{left:8px;top:8px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
header{display:flex;flex-wrap:wrap;align-items:center;gap:4px 16px;padding:8px 0 6px;
border-bottom:1px solid var(--line)}
h1{font-size:17px;margin:0}header p{margin:0}.origin{color:var(--muted);font-size:13px;flex:1;max-width:none}
h2{font-size:20px;line-height:1.3;margin:0 0 8px}
section{padding:22px 0;border-bottom:1px solid var(--line)}
#verdict{padding:10px 0 12px}
#verdict h2{font-size:21px}
h2.good span{color:var(--good)}h2.bad span{color:var(--bad)}
.good{color:var(--good)}.bad{color:var(--bad)}h2.good,h2.bad{color:var(--ink)}
p{margin:0 0 8px;max-width:80ch}
.under{display:flex;flex-wrap:wrap;align-items:center;gap:4px 20px;margin-bottom:8px}
.under p{margin:0}.under .confidence{color:var(--muted);max-width:none}
button{font:inherit;font-size:13px;min-height:28px;padding:2px 10px;border:1px solid var(--frame);
border-radius:6px;background:var(--raised);color:var(--ink);cursor:pointer}
button:hover{border-color:var(--link)}
.js{display:none}.scripted .js{display:revert}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:10px;list-style:none;margin:0 0 10px;
padding:0}
.tiles li{border:1px solid var(--line);border-radius:8px;background:var(--raised);padding:7px 12px}
.tiles strong{display:block;font-size:20px;font-weight:650;font-variant-numeric:tabular-nums}
.tiles span{color:var(--muted);font-size:13px}
.choice{display:grid;grid-template-columns:minmax(0,4fr) minmax(0,8fr);gap:20px;align-items:start}
.choice figure{margin:0}
.risks{border-left:4px solid var(--frame);padding:2px 0 2px 10px;margin:8px 0 0;max-width:none;
font-size:14px}
nav ul{display:flex;flex-wrap:wrap;gap:2px 18px;list-style:none;margin:0;padding:10px 0}
nav{border-bottom:1px solid var(--line)}
nav a{display:inline-block;padding:3px 0}
figure{margin:0 0 18px}
figcaption{font-weight:600;margin:0 0 6px;max-width:80ch}
.choice figcaption{font-size:13px;font-weight:600;color:var(--muted)}
.plot{overflow-x:auto}.choice dl{margin-top:10px;font-size:13px}
.chart{display:block;max-width:100%;height:auto;min-width:400px}
section>figure{display:grid;grid-template-columns:minmax(0,680px) minmax(0,1fr);gap:0 28px;
align-items:start}section>figure table,.pair table{font-size:13px}section>figure>figcaption{grid-column:1/-1}section>figure>.plot{grid-row:2/span 4}
section>figure>.plot:last-child{grid-column:1/-1}
.chart a:focus-visible{outline:none}
.chart a:focus-visible path,.chart a:hover path{stroke:var(--link);stroke-width:3.5}
.cursor{stroke:var(--ink);stroke-width:1}.picked{fill:var(--link);opacity:.2}
.zoomed .upright,.zoomed>.tick.m{display:none}
.scripted svg[data-time]{cursor:crosshair;touch-action:pan-x pan-y}
.readout{min-height:1.45em;margin:0;font-size:13px;font-variant-numeric:tabular-nums}
.hint{color:var(--muted);font-size:13px}
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 28px}
.scroll{overflow-x:auto;margin:0 0 10px}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
.choice table{width:100%;font-size:13px}.choice thead button::after{font-size:10px}.choice td,.choice th{white-space:nowrap}
caption{text-align:left;color:var(--muted);font-size:13px;padding:0 0 4px}
th,td{text-align:left;vertical-align:top;padding:3px 10px 3px 0;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:4px}
.n{text-align:right;white-space:nowrap}
thead th{color:var(--muted);font-weight:600;border-bottom:1px solid var(--frame);white-space:nowrap}
tbody th{font-weight:400}
tr.best{background:var(--best)}tr.best th{font-weight:650}
tr.today th{font-style:italic}tr:target{outline:2px solid var(--link)}
thead button{border:0;background:none;padding:0;min-height:24px;font-weight:600;color:inherit;
text-align:inherit;white-space:nowrap}
thead button::after{content:" ↕";opacity:.7}
[aria-sort=ascending] button::after{content:" ↑";opacity:1}
[aria-sort=descending] button::after{content:" ↓";opacity:1}
details{margin:4px 0 10px}
summary{cursor:pointer;padding:3px 0;color:var(--link);width:fit-content}
.code{border:1px solid var(--line);border-radius:8px;margin:0 0 12px;overflow:hidden}
.codehead{display:flex;justify-content:space-between;align-items:center;gap:10px;padding:4px 10px;
background:var(--raised);border-bottom:1px solid var(--line);min-height:37px;font-size:13px;
font-weight:600}
pre{margin:0;padding:10px;overflow:auto;max-height:420px;
font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 18px;margin:0 0 12px}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
.toggle{border:0;margin:0 0 8px;padding:0;display:flex;flex-wrap:wrap;gap:4px 14px}
.toggle legend{float:left;padding:0;margin-right:14px;color:var(--muted)}
.toggle label{display:inline-flex;gap:6px;align-items:center;min-height:24px}
@supports selector(:has(a)){.view{display:none}
.views:has(#view-0:checked) .view-0,.views:has(#view-1:checked) .view-1,
.views:has(#view-2:checked) .view-2{display:block}}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);margin:0}
footer{color:var(--muted);font-size:13px;padding:14px 0 30px}
ul{padding-left:20px}li{max-width:100ch}
@media (max-width:1000px){.choice,.pair,section>figure{grid-template-columns:minmax(0,1fr)}}
@media (max-width:700px){body{padding:0 14px}.chart{min-width:600px}#gpus .chart{min-width:760px}
.choice .chart{min-width:0}.origin{flex-basis:100%;order:3}.tiles{grid-template-columns:1fr 1fr}
.tiles strong{font-size:17px}#verdict h2{font-size:18px}dl{grid-template-columns:minmax(0,1fr)}
dd{margin-bottom:6px}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{body{max-width:none;padding:0;font-size:11pt}.chart{min-width:0!important}nav,.readout,.js,.scripted .js,a.skip{display:none}
section{break-inside:auto}figure,.tiles,tr{break-inside:avoid}pre{max-height:none;white-space:
pre-wrap}details:not([open])>*{display:revert}details::details-content{content-visibility:visible;
block-size:auto}.scroll,.plot{overflow:visible}}
)css";

}  // namespace

std::string_view page_style() { return kPageCss; }

}  // namespace slicewise::reports::html

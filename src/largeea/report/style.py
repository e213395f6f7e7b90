"""The style sheet of all pages: light, dark, narrow screens and print."""

from __future__ import annotations

_LIGHT = """
  --paper: #fdfcfa; --card: #ffffff; --ink: #1d2126; --quiet: #585f68; --line: #dcdad4; --grid: #e8e6e0;
  --first: #1f6286; --second: #c77c2b; --mark: #a3291f; --tint: #eef4f7;
"""
_DARK = """
  --paper: #14171a; --card: #1b1f23; --ink: #e8e6e1; --quiet: #a9b0b8; --line: #343a40; --grid: #2a2f34;
  --first: #6fb6dc; --second: #e2a35c; --mark: #ff8f82; --tint: #1d2a32;
"""

STYLE = (
    f":root {{ color-scheme: light dark; {_LIGHT} }}\n"
    f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}\n"
    """
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 3.5rem 1.75rem 4rem; }
header { margin-bottom: 2rem; }
h1, h2, .summary { font-family: Georgia, "Times New Roman", "Noto Serif", serif; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 1rem; }
h3 { font-size: 1rem; line-height: 1.4; margin: 0 0 .25rem; }
p { margin: 0 0 1rem; max-width: 44rem; overflow-wrap: anywhere; }
section { margin-top: 3.25rem; padding-top: 1.75rem; border-top: 1px solid var(--line); }
.kicker { margin: 0 0 .4rem; color: var(--quiet); font-size: .85rem; letter-spacing: .06em;
  text-transform: uppercase; }
.summary { font-size: 1.3rem; line-height: 1.5; max-width: 46rem; }
.quiet, .none, footer { color: var(--quiet); }
.none { font-style: italic; }
footer { margin-top: 3.5rem; font-size: .85rem; }
.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem; margin: 0; }
.counts div, .pair { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.counts div { overflow-wrap: anywhere; min-width: 0; }
.counts div { display: flex; flex-direction: column; justify-content: space-between; padding: .9rem 1rem; }
.counts dt { color: var(--quiet); font-size: .85rem; line-height: 1.35; }
.counts dd { margin: .2rem 0 0; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.charts > * { min-width: 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 2rem; }
.charts + p, .wide + p { margin-top: 1.5rem; }
figure { margin: 0; min-width: 0; max-width: 30rem; break-inside: avoid; }
figcaption p { font-size: .9rem; margin: 0 0 .6rem; color: var(--quiet); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: 0 0 .4rem; padding: 0;
  font-size: .9rem; overflow-wrap: anywhere; }
.swatch { display: inline-block; width: .8em; height: .8em; margin-right: .45em; border-radius: .15em; }
svg { display: block; width: 100%; height: auto; }
svg text { font-size: 11px; fill: var(--ink); stroke: var(--paper); stroke-width: 3px; paint-order: stroke; }
svg .axis { fill: var(--quiet); }
svg .line { stroke: var(--grid); stroke-width: 1; }
svg .base { stroke: var(--quiet); stroke-width: 1; }
svg .mark { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
svg .marked { fill: var(--mark); }
svg .track { fill: var(--grid); }
svg .first { fill: var(--first); } .swatch.first { background: var(--first); }
svg .second { fill: var(--second); } .swatch.second { background: var(--second); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums;
  min-width: min(100%, 24rem); }
.wide + .wide, figure + .wide { margin-top: 2rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { text-align: right; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; font-weight: 400; }
thead th { color: var(--quiet); font-size: .85rem; vertical-align: bottom; overflow-wrap: anywhere;
  min-width: 4rem; }
th:last-child, td:last-child { padding-right: 0; }
th:first-child, .words th, .words td { text-align: left; }
.words { width: 100%; table-layout: fixed; overflow-wrap: anywhere; }
small { color: var(--quiet); font-size: .85rem; }
details { margin-top: 1.5rem; }
summary { cursor: pointer; font-weight: 600; font-size: 1.05rem; padding: .3rem 0; }
.pairs { display: grid; gap: .9rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
.pair { padding: 1rem 1.15rem; min-width: 0; break-inside: avoid; overflow-wrap: anywhere; }
.sides { display: grid; gap: .5rem 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 10rem), 1fr)); }
.sides strong, .sides span { display: block; }
.sides strong { line-height: 1.35; }
.sides span, .found { font-size: .85rem; color: var(--quiet); line-height: 1.45; }
.scores { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 10.5rem), 1fr));
  gap: .25rem 1.5rem; list-style: none; margin: .8rem 0 0; padding: 0; font-size: .9rem; }
.scores li { display: flex; align-items: center; gap: .5rem; font-variant-numeric: tabular-nums; }
.scores span:first-child { flex: 1; } .scores b { font-weight: 600; }
.meter { width: 3rem; height: .5rem; background: var(--grid);
  border-radius: .25rem; overflow: hidden; }
.meter i { display: block; height: 100%; background: var(--first); }
.found { margin: .7rem 0 0; }
.found b { display: block; font-weight: 600; }
.found ul { list-style: none; margin: 0; padding: 0; }
code, pre { font: .88rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
p code { white-space: nowrap; }
pre { background: var(--tint); border-radius: .5rem; padding: .9rem 1rem; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 0 0 1rem; }
@media (max-width: 40rem) {
  main { padding: 2rem 1.1rem 3rem; }
  h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; } .summary { font-size: 1.12rem; }
  section { margin-top: 2.25rem; padding-top: 1.4rem; }
  .counts { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .7rem; }
  .counts dd { font-size: 1.3rem; }
  figure { max-width: none; }
  table { font-size: .85rem; } th, td { padding-right: .6rem; }
}
@media print {
  @page { margin: 18mm 16mm; }
  body { background: #fff; font-size: 10pt; }
  main { max-width: none; padding: 0; }
  section { margin-top: 1.6rem; padding-top: 1rem; }
  h2, h3, caption, .legend { break-after: avoid; }
  .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .pairs { display: block; } .pair { margin-top: .7rem; }
  .wide { overflow: visible; }
  table, thead th { font-size: 8.5pt; min-width: 0; } th, td { padding-right: .5rem; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
)

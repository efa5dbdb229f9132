"""The page's style sheet: light and dark, nothing fetched, readable in print and without colour."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #fff; --ink: #1d1d1b; --soft: #63625c; --line: #d9d6cd; --wash: #f1efe9;
  --curve: #0b6e99; --depth: #b4b0a4; --cut: #c0341d; --warn: #9a5b00; --warn-wash: #fdf0d9; --shade: 88%;
  --h0: #2f6db3; --h1: #b06a1b; --h2: #3b8554; --h3: #8b4a9c; --h4: #a8434a; --h5: #4d6c77;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161716; --card: #1e201f; --ink: #e9e7e1; --soft: #a5a39b; --line: #3a3b38; --wash: #262826;
    --curve: #5cc0ea; --depth: #6d6b64; --cut: #ff7a61; --warn: #f0b457; --warn-wash: #3a2c14; --shade: 78%;
    --h0: #7fb2ea; --h1: #e0a662; --h2: #7cc796; --h3: #cb96da; --h4: #e8888e; --h5: #94b5c1;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 78rem; padding: 1.5rem 1.25rem 6rem; background: var(--paper);
  color: var(--ink);
  font: 1rem/1.6 system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "Noto Sans Arabic",
  sans-serif;
}
h1 { margin: 0; font-size: 1.5rem; line-height: 1.3; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
h3 { margin: 0; font-size: 1rem; }
a { color: inherit; }
:focus-visible { outline: 3px solid var(--curve); outline-offset: 2px; }
dl.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .5rem 0 0; }
dl.facts div { display: flex; gap: .4rem; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
p.note { margin: .75rem 0 0; padding: .5rem .75rem; background: var(--warn-wash);
  border-inline-start: 4px solid var(--warn); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0 0; color: var(--soft);
  font-size: .85rem; }
.legend svg { vertical-align: -3px; margin-inline-end: .3rem; }
.scroll { overflow-x: auto; margin-top: .5rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; }
.scroll svg { display: block; }
.scroll svg.whole { width: 100%; min-width: 52rem; height: auto; }
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
svg .name { fill: var(--ink); }
.curve { fill: none; stroke: var(--curve); stroke-width: 2; }
.bridge { stroke-dasharray: 3 4; }
.dot { fill: var(--curve); }
.bar { fill: var(--depth); }
rect.chosen { fill: var(--cut); }
.cutline { stroke: var(--cut); stroke-width: 1.5; }
.ownline { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 3; }
.grid { stroke: var(--line); stroke-width: 1; }
.band { fill-opacity: .3; stroke-width: 1.5; }
.hit { fill: transparent; }
a:hover .hit, a:focus .hit { fill: var(--curve); fill-opacity: .18; }
.hue0 { --hue: var(--h0); } .hue1 { --hue: var(--h1); } .hue2 { --hue: var(--h2); }
.hue3 { --hue: var(--h3); } .hue4 { --hue: var(--h4); } .hue5 { --hue: var(--h5); }
.band { fill: var(--hue); stroke: var(--hue); }
.chunk { background: var(--card); border: 1px solid var(--line); border-left: 6px solid var(--hue);
  border-radius: 4px; }
.chunk > header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline;
  padding: .5rem .9rem;
  border-bottom: 1px solid var(--line); background: color-mix(in srgb, var(--card) var(--shade),
  var(--hue)); }
.chunk > header .place { color: var(--soft); font-size: .85rem; font-variant-numeric: tabular-nums; }
.trail { unicode-bidi: isolate; overflow-wrap: anywhere; }
.size { display: inline-flex; align-items: center; gap: .4rem; font-variant-numeric: tabular-nums;
  font-weight: 600; }
.size svg { flex: none; }
.size .fill { fill: var(--hue); } .size .over { fill: var(--warn); } .size .room { fill: var(--line); }
.badge { padding: 0 .45rem; border: 1px solid var(--warn); border-radius: 1rem;
  background: var(--warn-wash);
  color: var(--warn); font-size: .8rem; }
.derived { margin: .5rem 0 .5rem 2rem; border-style: dashed; border-left-style: double; }
.part { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); padding: .3rem .9rem;
  color: var(--soft);
  background: var(--wash); font-size: .88rem; border-bottom: 1px dashed var(--line); }
.part.after { border-bottom: 0; border-top: 1px dashed var(--line); }
.part > b { font-weight: 600; }
.words { white-space: pre-wrap; overflow-wrap: anywhere; }
.row, .gap, .cut { display: grid; grid-template-columns: minmax(0, 1fr) 15rem; }
.row > .words { padding: .15rem .9rem; }
.block { unicode-bidi: plaintext; }
.heading { font-weight: 700; }
.code, .math, .table, .front_matter { font: .88rem/1.5 ui-monospace, "DejaVu Sans Mono",
  "Noto Sans Mono CJK SC", monospace; }
.blank { display: none; }
.rail { position: relative; border-left: 1px solid var(--line); background: var(--wash); }
.rail svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.flat .rail, .flat .axis { display: none; }
.flat .row, .flat .gap, .flat .cut { grid-template-columns: minmax(0, 1fr); }
.point { position: absolute; top: 50%; width: 8px; height: 8px; margin: -4px 0 0 -4px; border-radius: 50%;
  background: var(--curve); }
.point.chosen { width: 12px; height: 12px; margin: -6px 0 0 -6px; background: var(--cut); }
.measure { position: absolute; top: 50%; height: 12px; margin-top: -6px; background: var(--depth); }
.measure.chosen { background: var(--cut); }
.figure { position: absolute; top: 50%; padding-inline-start: 10px; transform: translateY(-50%);
  line-height: 1;
  font-size: .75rem; font-variant-numeric: tabular-nums; color: var(--soft); }
.figure.last { right: .4rem; }
.ruler { position: sticky; top: 0; z-index: 1; display: grid; grid-template-columns: minmax(0, 1fr) 15rem;
  align-items: end; margin-top: 2rem; background: var(--paper); }
.ruler h2 { margin: .5rem 0; }
.axis { position: relative; height: 1.6rem; font-size: .75rem; color: var(--soft); }
.axis span { position: absolute; bottom: .3rem; }
.axis .mid { transform: translateX(-50%); }
.axis .end { transform: translateX(-100%); }
[id] { scroll-margin-top: 4rem; }
.gap { position: relative; min-height: 1.25rem; font-size: .78rem; color: var(--soft); cursor: help; }
.gap > .what { display: flex; align-items: center; gap: .5rem; padding: 0 .9rem; }
.gap > .what::after { content: ""; flex: 1; border-top: 1px dashed var(--line); }
.gap.illegal > .what::after { border-top-style: dotted; }
.gap .tell { display: none; position: absolute; z-index: 2; left: 3rem; top: 100%; max-width: 34rem;
  padding: .4rem .7rem;
  background: var(--ink); color: var(--paper); border-radius: 4px; font-size: .85rem; }
.gap:hover .tell, .gap:focus .tell, .gap:focus-within .tell { display: block; }
.gap:hover, .gap:focus, .gap:target, .cut:target { background: color-mix(in srgb, var(--card) 82%,
  var(--curve)); }
.cut { margin: .35rem 0; border: 1px solid transparent; border-left: 6px solid transparent; }
.cut > .why { padding: .35rem .9rem; border-top: 3px solid var(--cut);
  border-bottom: 3px solid var(--cut); }
.cut.own > .why { border-color: var(--soft); border-style: dashed none; }
.cut p { margin: .1rem 0; }
.cut .first { font-weight: 650; }
.weighed { display: flex; flex-wrap: wrap; gap: .3rem; margin: .35rem 0 .1rem; padding: 0;
  list-style: none; font-size: .8rem; }
.weighed a { display: block; padding: .05rem .5rem; border: 1px solid var(--line); border-radius: 3px;
  text-decoration: none;
  font-variant-numeric: tabular-nums; }
.weighed .chosen a { border-color: var(--cut); color: var(--cut); font-weight: 700; }
.cut .rail { border-left-color: var(--line); }
.cut .figure { color: var(--cut); font-weight: 700; font-size: .85rem; }
.outside { margin: .35rem 0; padding: .2rem .9rem; color: var(--soft); border: 1px dotted var(--line);
  font-size: .88rem; }
.odd { font: 600 .72em/1 ui-monospace, monospace; font-style: normal; padding: 0 .2em;
  border: 1px solid var(--warn);
  border-radius: 2px; color: var(--warn); unicode-bidi: isolate; white-space: nowrap; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: start;
  vertical-align: top; }
td.number, th.number { text-align: end; font-variant-numeric: tabular-nums; }
@media (max-width: 46rem) { .row, .gap, .cut, .ruler { grid-template-columns: minmax(0, 1fr) 7rem; }
  .figure { display: none; } }
@media print { .scroll { overflow: visible; } .gap .tell { display: none !important; } }
"""

"""What the page adds to the style sheet of explanations."""

STYLE = """
body { max-width: 110rem; }
.choices { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .75rem 0 0; font-size: .9rem; }
.choices label { display: inline-flex; align-items: center; gap: .4rem; }
.swatch { display: inline-block; width: 1.4rem; height: .9rem; border: 2px solid var(--hue); border-radius: 2px;
  background: color-mix(in srgb, transparent 85%, var(--hue)); }
.text { --hue: var(--h0); } .heading { --hue: var(--h4); } .table { --hue: var(--h2); } .image { --hue: var(--h3); }
.code, .math { --hue: var(--h5); } .list { --hue: var(--h1); } .furniture { --hue: var(--soft); }
.low_confidence, .unreadable { --hue: var(--cut); }
nav.pages { display: flex; flex-wrap: wrap; gap: .3rem; margin: 1rem 0 0; padding: 0; }
nav.pages a { min-width: 2.2rem; padding: .1rem .5rem; border: 1px solid var(--line); border-radius: 3px;
  text-align: center; text-decoration: none; font-variant-numeric: tabular-nums; background: var(--card); }
nav.pages a.odd-page { border-color: var(--warn); color: var(--warn); background: var(--warn-wash); }
section.page { margin-top: 2rem; content-visibility: auto; contain-intrinsic-size: auto 60rem; }
section.page > header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding-bottom: .4rem;
  border-bottom: 3px solid var(--line); }
section.page > header h2 { margin: 0; }
section.page > header .place { color: var(--soft); font-size: .85rem; }
.pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.5rem; align-items: start;
  margin-top: .75rem; }
figure.sheet { position: sticky; top: .75rem; margin: 0; border: 1px solid var(--line); background: #fff; }
figure.sheet img, figure.sheet .blank-sheet { display: block; width: 100%; height: auto; }
.blank-sheet { background: #fff; }
.box { position: absolute; display: block; border: 1.5px solid var(--hue); border-radius: 2px;
  background: color-mix(in srgb, transparent 93%, var(--hue)); text-decoration: none; }
.box b { position: absolute; right: 100%; top: -1.5px; min-width: 1.2em; padding: 0 .25em; background: var(--hue);
  color: #fff; font: 600 .68rem/1.35 system-ui, sans-serif; text-align: center; border-radius: 2px 0 0 2px; }
.box.edge b { right: auto; left: 0; }
.box.gone { border-style: dashed; }
.box.row { border: 0; border-bottom: 1px solid color-mix(in srgb, transparent 55%, var(--hue)); border-radius: 0; }
.box.lit, .box.kept { z-index: 1; background: color-mix(in srgb, transparent 70%, var(--hue));
  box-shadow: 0 0 0 2px var(--hue); }
.box.row.lit, .box.row.kept { background: none; box-shadow: none; }
.c4 { --sure: #2c8a4b; } .c3 { --sure: #8a9a1c; } .c2 { --sure: #c98a00; } .c1 { --sure: #d9560f; }
.c0 { --sure: #c0341d; }
.box[class*=" c"] { background: color-mix(in srgb, transparent 76%, var(--sure)); }
mark { color: inherit; border-radius: 2px; background: color-mix(in srgb, transparent 80%, var(--sure)); }
.badge.sure { border-color: var(--sure); color: inherit;
  background: color-mix(in srgb, transparent 80%, var(--sure)); }
ol.blocks { margin: 0; padding: 0; list-style: none; }
ol.blocks li { position: relative; margin: 0 0 .35rem; padding: .25rem .6rem .25rem 2.6rem; background: var(--card);
  border: 1px solid var(--line); border-left: 4px solid var(--hue); border-radius: 3px; }
ol.blocks li > b { position: absolute; left: .5rem; top: .3rem; color: var(--hue); font-size: .8rem;
  font-variant-numeric: tabular-nums; }
ol.blocks li.lit, ol.blocks li.kept { border-color: var(--hue);
  background: color-mix(in srgb, var(--card) 84%, var(--hue)); }
ol.blocks .kind { float: inline-end; margin-inline-start: .6rem; color: var(--soft); font-size: .75rem; }
ol.blocks li.table .words, ol.blocks li.code .words { white-space: pre; overflow-x: auto; }
.gone { color: var(--soft); }
h3.aside { margin: 1rem 0 .4rem; color: var(--soft); font-size: .85rem; }
.hide-boxes .box, .hide-gone .gone, .hide-sure mark { display: none; }
.hide-sure mark { display: inline; background: none; }
.hide-sure .box[class*=" c"] { background: color-mix(in srgb, transparent 93%, var(--hue)); }
@media (max-width: 60rem) { .pair { grid-template-columns: minmax(0, 1fr); } figure.sheet { position: relative; } }
@media print { .choices, nav.pages { display: none; } figure.sheet { position: relative; } }
"""

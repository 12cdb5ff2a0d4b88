"""How the page looks: on a desk, on a phone, in the dark and on paper."""

CSS = """
:root {
  color-scheme: light dark;
  --ink: #1b1f24; --quiet: #57606a; --paper: #ffffff; --card: #f6f8fa;
  --line: #d0d7de; --link: #0969da;
  --good: #116329; --bad: #a40e26; --half: #7a4b00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6edf3; --quiet: #9aa4af; --paper: #0d1117; --card: #161b22;
    --line: #30363d; --link: #58a6ff;
    --good: #56d364; --bad: #ff8182; --half: #e3b341;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
}
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 {
  font-size: 1.3rem; line-height: 1.3; margin: 2.8rem 0 0.8rem;
  padding-top: 0.8rem; border-top: 1px solid var(--line);
}
h3 { font-size: 1.05rem; margin: 1.8rem 0 0.4rem; }
p, section > ul { max-width: 46rem; }
a { color: var(--link); }
sub { line-height: 0; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { display: inline-block; margin: 0 1rem 0.3rem 0; }
figure { margin: 1.2rem 0 0.6rem; }
.picture {
  overflow-x: auto; padding: 0.5rem; background: #ffffff;
  border: 1px solid var(--line); border-radius: 8px;
}
.picture svg {
  display: block; width: 100%; height: auto; margin: 0 auto;
  min-width: var(--width, 33rem); max-width: 56rem;
}
figcaption, caption {
  color: var(--quiet); font-size: 0.9rem; text-align: left; padding: 0.4rem 0;
}
figcaption { max-width: 46rem; }
caption span { display: block; max-width: min(46rem, 100vw - 4.5rem); }
.wide { overflow-x: auto; margin: 0.4rem 0 1rem; }
table { border-collapse: collapse; font-size: 0.88rem; min-width: 60%; }
th, td {
  padding: 0.3rem 0.7rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line);
}
thead th { background: var(--card); vertical-align: bottom; }
tbody th { font-weight: 600; background: var(--paper); }
tbody th:not(.number) { min-width: 8.5rem; }
tbody th, thead tr:first-child th:first-child { position: sticky; left: 0; }
.group { border-left: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead .number { white-space: normal; min-width: 6.6rem; }
.range { display: block; color: var(--quiet); font-size: 0.8rem; }
.prose table { min-width: 100%; }
.prose td ul { margin: 0; padding-left: 1.1rem; }
.verdict { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .half { color: var(--half); }
.note { color: var(--quiet); font-size: 0.9rem; margin-top: 0; }
.warning { border-left: 4px solid var(--half); padding: 0.1rem 0 0.1rem 0.9rem; }
.swipe { display: none; }
details {
  margin: 0.5rem 0; padding: 0.1rem 0.9rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px;
}
details th, details td { padding: 0.3rem 0.45rem; }
details tbody th { background: var(--card); }
summary { cursor: pointer; padding: 0.45rem 0; font-weight: 600; }
pre, code { font: 0.88rem/1.5 ui-monospace, monospace; }
pre {
  overflow-x: auto; padding: 0.8rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px;
}
@media (max-width: 40rem) {
  h1 { font-size: 1.5rem; }
  .swipe { display: inline; }
  th, td { padding: 0.3rem 0.5rem; }
  .prose thead { position: absolute; left: -999rem; }
  .prose tr { display: block; padding: 0.6rem 0; }
  .prose tr { border-bottom: 1px solid var(--line); }
  .prose tbody th, .prose td { display: block; padding: 0.1rem 0; border: 0; }
  .prose tbody th { position: static; }
}
@media print {
  :root { --ink: #000; --paper: #fff; --card: #fff; --quiet: #333; --link: #000; }
  body { max-width: none; font-size: 10pt; }
  nav, .swipe { display: none; }
  figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .picture { overflow: visible; }
  .picture svg { min-width: 0; }
  .wide { overflow: visible; }
}
"""

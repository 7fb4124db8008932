//! The demo's report as one HTML page, which needs no script and loads nothing.

use super::charts::{by_budget, colour_rules, over_time, timeline};
use super::contest::ThetaPoint;
use super::differences::SeenDifference;
use super::report::DemoReport;
use htmlize::escape_all_quotes as escape;
use recrawl::commands::diff::html as difference;

type HtmlResult = Result<String, Box<dyn std::error::Error>>;

/// Beside the style of `recrawl diff --html`.
const STYLE: &str = r##"<style>
:root {
  --recrawl: #0066aa; --round-robin: #6e7781; --stormcrawler: #b35900; --oracle: #1a7f37; --clairvoyant: #8250df;
  --stale: #cf222e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --recrawl: #58a6ff; --round-robin: #9ea7b3; --stormcrawler: #f0883e; --oracle: #56d364; --clairvoyant: #d2a8ff;
    --stale: #ff7b72;
  }
}
body { max-width: 64rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .3rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 0; font-weight: 600; }
.lead { font-size: 1.15rem; margin-top: 0; }
.quiet, figcaption { color: var(--quiet); }
.charts { display: grid; gap: 1rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; }
figcaption { font-size: .9rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); }
svg [stroke="#000000"] { stroke: var(--ink); }
.key { list-style: none; padding: 0; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
.key li::before {
  content: ""; display: inline-block; width: 1.4em; height: 3px; margin-right: .4em; vertical-align: middle;
  background: var(--colour);
}
table.figures { display: table; width: auto; min-width: min(100%, 30rem); table-layout: auto; }
table.figures tr { display: table-row; }
table.figures thead { display: table-header-group; }
table.figures tbody { display: table-row-group; }
table.figures th, table.figures td { display: table-cell; padding: .25rem .6rem .25rem 0; border: 0; border-bottom: 1px solid var(--line); }
table.figures td, table.figures thead th + th { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.figures th { font-weight: 400; }
.timeline { height: 2.6rem; }
.timeline path { fill: none; stroke-width: 1.2; vector-effect: non-scaling-stroke; }
.timeline .axis { stroke: var(--line); stroke-width: 6; }
.timeline .stale { stroke: var(--stale); stroke-width: 6; }
.timeline .changed { stroke: var(--ink); }
.timeline .fetched { stroke: var(--recrawl); }
"##;

pub(super) fn render(report: &DemoReport) -> HtmlResult {
    let worst: String = report
        .worst_pages
        .iter()
        .map(|page| {
            format!(
                "<h3><bdi>{}</bdi></h3>\n<p class=\"quiet\">stale {:.1} % of the time (round robin {:.1} %), weight {:.0}; \
                 changes: {}, fetches: {}</p>\n{}\n",
                escape(&page.url),
                100.0 * page.stale_share,
                100.0 * page.stale_share_round_robin,
                page.weight,
                page.changes,
                page.fetches,
                timeline(page)
            )
        })
        .collect();
    let differences: String = report.differences.iter().map(shown).collect();
    Ok(format!(
        r#"<!doctype html>
<html lang="en">
{head}<title>recrawl demo: {headline}</title>
{base}{STYLE}{colours}</style>
<main>
<h1 id="headline">{headline}.</h1>
<p class="lead" id="stale">{stale}</p>
<p class="quiet">{pages} pages on {hosts} hosts, {days:.0} days in {wall:.0} s, {every:.3} fetches per page and day; {replayed}.
recrawl {version}.</p>
{key}
<div class="charts">
<figure id="over-time"><h2>Share of time a copy is stale, over time</h2>{over_time}
<figcaption>From day {from:.0} on; before, all fetch their first copies. Everybody has the same pages and the same budget. Only recrawl
has to be polite, meets errors and finds sitemaps: the others are computed.</figcaption></figure>
<figure id="by-budget"><h2>Share of time a copy is stale, by budget</h2>{by_budget}
<figcaption>Lines: the default policy and round robin in the simulator, with a copy of every page at the start and without sitemaps.
Dots: the live replay, and round robin at its budget. The headline is read off the lines.</figcaption></figure>
</div>
<section id="figures"><h2>In figures</h2>
{figures}
<p class="quiet">Round robin fetches all pages in turn. StormCrawler's rule shortens a page's interval when it changed and lengthens it
when it did not; its idle slots are filled. The oracle knows every page's change rate and follows the best fixed plan. Clairvoyant knows
when each page will change: no crawler can do that. Stale counts by the weights of the pages{weights}, and only changes that mean
something to a reader; to the byte, every counter and every build date counts.</p></section>
<section id="age"><h2>Age</h2>
<p>{age}</p>
{thetas}</section>
<section id="worst"><h2>The pages it did worst on</h2>
<p class="quiet">Above the line: the page changed. Below: it was fetched. Red: the copy was stale. Days {from:.0} to {days:.0}.</p>
{worst}</section>
<section id="differences"><h2>Changes it caught, as a reader sees them</h2>
{differences}</section>
<section id="politeness"><h2>Politeness, as the server saw it</h2>
{politeness}</section>
<section id="cost"><h2>What it cost</h2>
{cost}</section>
</main>
</html>
"#,
        head = difference::HEAD,
        base = difference::STYLE,
        colours = colour_rules(),
        headline = escape(report.headline()),
        stale = escape(report.stale_sentence()),
        pages = report.pages,
        hosts = report.hosts,
        days = report.virtual_days,
        wall = report.wall_s,
        every = report.budget_fetches_per_day / report.pages.max(1) as f64,
        replayed = escape(&report.replayed),
        version = report.version,
        key = key(report),
        from = report.scored_from_day,
        over_time = over_time(report)?,
        by_budget = by_budget(report)?,
        figures = figures(report),
        weights = if report.weighted { " (one in ten weighs 5)" } else { "" },
        age = escape(report.age_sentence()),
        thetas = thetas(&report.by_theta),
        politeness = politeness(report),
        cost = cost(report),
        worst = if worst.is_empty() { "<p>No copy was stale.</p>\n".to_owned() } else { worst },
        differences = if differences.is_empty() { "<p>None with little text.</p>\n".to_owned() } else { differences },
    ))
}

fn key(report: &DemoReport) -> String {
    let of = |(name, class, _): (&str, &str, &f64)| format!("<li style=\"--colour: var(--{class})\">{name}</li>\n");
    let items: String = report.stale_share.named().into_iter().map(of).collect();
    format!("<ul class=\"key\" aria-label=\"Colours\">\n{items}</ul>")
}

fn figures(report: &DemoReport) -> String {
    let mut rows = String::new();
    let others = report.stale_share_any_byte.named().into_iter().zip(report.stale_age_days.named());
    for ((name, _, stale), ((_, _, byte), (_, _, age))) in report.stale_share.named().into_iter().zip(others) {
        rows += &format!(
            "<tr><th scope=\"row\">{name}</th><td>{:.2} %</td><td>{:.2} %</td><td>{age:.3}</td></tr>\n",
            100.0 * stale,
            100.0 * byte
        );
    }
    format!(
        "<table class=\"figures\"><thead><tr><th scope=\"col\"></th><th scope=\"col\">stale</th><th scope=\"col\">to the byte</th>\
         <th scope=\"col\">age, days</th></tr></thead><tbody>\n{rows}</tbody></table>"
    )
}

fn thetas(points: &[ThetaPoint]) -> String {
    let row = |point: &ThetaPoint| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{:.2} %</td><td>{:.3}</td></tr>\n",
            point.theta,
            100.0 * point.stale_share,
            point.age_days
        )
    };
    let rows: String = points.iter().map(row).collect();
    format!(
        "<table class=\"figures\"><thead><tr><th scope=\"col\">policy.theta (simulated)</th><th scope=\"col\">stale</th>\
         <th scope=\"col\">age, days</th></tr></thead><tbody>\n{rows}</tbody></table>"
    )
}

fn shown(difference: &SeenDifference) -> String {
    format!(
        "<h3><bdi>{}</bdi></h3>\n<p class=\"quiet\">found on day {:.1}, {:.1} days after the change</p>\n{}",
        escape(&difference.url),
        difference.found_on_day,
        difference.found_after_days,
        difference::table(&difference.record)
    )
}

/// Names and values.
fn list(rows: &[(&str, String)]) -> String {
    let rows: String =
        rows.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(value))).collect();
    format!("<dl>\n{rows}</dl>\n")
}

fn politeness(report: &DemoReport) -> String {
    let polite = &report.politeness;
    let gap = polite.min_gap_s.map_or("none".to_owned(), |gap| format!("{gap:.1} s (virtual)"));
    list(&[
        ("Smallest gap on a host", gap),
        ("Most in flight on a host", polite.max_in_flight_per_host.to_string()),
        ("Requests that robots.txt forbids", polite.robots_violations.to_string()),
        ("Requests to other hosts", polite.forbidden_requests.to_string()),
        ("Seeds that robots.txt forbids", polite.forbidden_pages.to_string()),
        ("Hosts with a sitemap", polite.sitemap_hosts.to_string()),
        ("Requests for sitemaps", polite.sitemap_requests.to_string()),
        ("Requests failed on purpose", polite.failed_requests.to_string()),
    ])
}

fn cost(report: &DemoReport) -> String {
    list(&[
        (
            "Fetches",
            format!(
                "{}, and {} of robots.txt, of {:.0} budgeted",
                report.fetches,
                report.politeness.robots_requests,
                report.budget_fetches_per_day * report.virtual_days
            ),
        ),
        ("Answered 304", format!("{:.1} %", 100.0 * report.not_modified_share)),
        ("Bytes", format!("{:.1} MB", report.bytes_fetched as f64 / 1e6)),
        ("CPU time", format!("{:.1} s, {:.0} µs a fetch", report.cpu_s, report.cpu_us_per_fetch)),
        ("Time", format!("{:.0} s for {:.0} days", report.wall_s, report.virtual_days)),
        (
            "Meaningful changes",
            format!(
                "{} seen of {} (those between two looks at a page count as one)",
                report.meaningful_changes_seen, report.meaningful_changes_total
            ),
        ),
        ("Changes of any byte", format!("{} seen of {}", report.changes_seen, report.changes_total)),
    ])
}

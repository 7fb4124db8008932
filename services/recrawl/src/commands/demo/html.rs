//! Renders the demo's report as a self-contained HTML page with plots.

use super::report::{Compared, DemoReport};
use htmlize::escape_all_quotes as escape;
use plotters::prelude::*;

type HtmlResult = Result<String, Box<dyn std::error::Error>>;

const RECRAWL: RGBColor = RGBColor(0, 102, 170);
const ROUND_ROBIN: RGBColor = RGBColor(150, 150, 150);
const ORACLE: RGBColor = RGBColor(200, 120, 0);

/// Renders the page.
pub(super) fn render(report: &DemoReport) -> Result<String, Box<dyn std::error::Error>> {
    let curve = curve(report)?;
    let meant = bars("Freshness: share of copies without a missed meaningful change", report.meaningful_freshness)?;
    let fresh = bars("Freshness to the byte: share of copies that were current", report.freshness)?;
    let age = bars("Age of the copies in days, by meaningful changes", report.meaningful_age_days)?;
    let gap = report.politeness.min_gap_s.map_or("none".to_owned(), |gap| format!("{gap:.1} s"));
    let rows = [
        ("Replayed", report.replayed.clone()),
        ("Pages, hosts", format!("{}, {}", report.pages, report.hosts)),
        ("Virtual time", format!("{:.0} days in {:.0} s", report.virtual_days, report.wall_s)),
        ("Fetches", format!("{} (budget {:.0} a day)", report.fetches, report.budget_fetches_per_day)),
        (
            "Meaningful changes",
            format!("{} seen of {}", report.meaningful_changes_seen, report.meaningful_changes_total),
        ),
        (
            "All changes",
            format!("{} seen, {} missed, of {}", report.changes_seen, report.changes_missed, report.changes_total),
        ),
        ("Answered 304", format!("{:.1} %", 100.0 * report.not_modified_share)),
        ("Bytes fetched", format!("{:.1} MB", report.bytes_fetched as f64 / 1e6)),
        ("CPU", format!("{:.1} s, {:.0} µs a fetch", report.cpu_s, report.cpu_us_per_fetch)),
        ("Smallest gap on a host", format!("{gap} (virtual)")),
        ("Most in flight on a host", report.politeness.max_in_flight_per_host.to_string()),
        ("Robots violations", report.politeness.robots_violations.to_string()),
        ("Forbidden requests", report.politeness.forbidden_requests.to_string()),
    ];
    let cells: String = rows.iter().map(|(name, value)| format!("<tr><th>{name}<td>{}\n", escape(value))).collect();
    Ok(format!(
        r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>recrawl demo</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
th {{ text-align: left; padding-right: 2rem; font-weight: 600; }}
figure {{ margin: 1.5rem 0; }}
svg {{ width: 100%; height: auto; }}
</style>
<h1>recrawl demo</h1>
<p>The same pages, the same changes, the same budget: recrawl, which learns as it goes; round robin, which fetches all pages
in turn; and an oracle that knows each page's true change rate beforehand. Measured from the web server's ledger.</p>
<p id="meaning">Freshness by what pages say: recrawl <b>{meant_recrawl:.4}</b>, round robin {meant_round_robin:.4}, oracle
{meant_oracle:.4}. recrawl does not spend its budget on changes that mean nothing: counters, stamps, advertisements.</p>
<p id="headline">Freshness to the byte: recrawl <b>{recrawl:.4}</b>, round robin {round_robin:.4}, oracle {oracle:.4}.</p>
<figure id="curve">{curve}</figure>
<figure id="meant">{meant}</figure>
<figure id="freshness">{fresh}</figure>
<figure id="age">{age}</figure>
<table>
{cells}</table>
</html>
"#,
        meant_recrawl = report.meaningful_freshness.recrawl,
        meant_round_robin = report.meaningful_freshness.round_robin,
        meant_oracle = report.meaningful_freshness.oracle,
        recrawl = report.freshness.recrawl,
        round_robin = report.freshness.round_robin,
        oracle = report.freshness.oracle,
    ))
}

/// Freshness over time, with horizontal lines for the averages of the other two policies.
fn curve(report: &DemoReport) -> HtmlResult {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, 320)).into_drawing_area();
        area.fill(&WHITE)?;
        let days = report.virtual_days.max(f64::MIN_POSITIVE);
        let mut chart = ChartBuilder::on(&area)
            .caption("Freshness of the copies over time", ("sans-serif", 18))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..days, 0.0..1.0)?;
        chart.configure_mesh().x_desc("day").y_desc("share current").light_line_style(WHITE).draw()?;
        let points = report.freshness_over_time.iter().map(|point| (point.day, point.freshness));
        let line = |color: RGBColor| move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], color.stroke_width(2));
        chart.draw_series(LineSeries::new(points, RECRAWL.stroke_width(2)))?.label("recrawl").legend(line(RECRAWL));
        for (name, color, level) in [
            ("round robin, average", ROUND_ROBIN, report.freshness.round_robin),
            ("oracle, average", ORACLE, report.freshness.oracle),
        ] {
            chart
                .draw_series(LineSeries::new([(0.0, level), (days, level)], color.stroke_width(1)))?
                .label(name)
                .legend(line(color));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}

/// A bar per policy.
fn bars(caption: &str, compared: Compared) -> HtmlResult {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, 190)).into_drawing_area();
        area.fill(&WHITE)?;
        let all = [
            ("recrawl", RECRAWL, compared.recrawl),
            ("round robin", ROUND_ROBIN, compared.round_robin),
            ("oracle", ORACLE, compared.oracle),
        ];
        let most = all.iter().map(|(_, _, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
        let mut chart = ChartBuilder::on(&area)
            .caption(caption, ("sans-serif", 18))
            .margin(10)
            .build_cartesian_2d(0.0..1.35 * most, 0.0..3.0)?;
        for (rank, (name, color, value)) in all.into_iter().enumerate() {
            let bottom = 2.0 - rank as f64;
            chart.draw_series([Rectangle::new(
                [(0.22 * most, bottom + 0.15), (0.22 * most + value, bottom + 0.85)],
                color.filled(),
            )])?;
            let style = ("sans-serif", 16).into_font();
            chart.draw_series([Text::new(name.to_owned(), (0.0, bottom + 0.7), style.clone())])?;
            chart.draw_series([Text::new(format!("{value:.4}"), (0.23 * most + value, bottom + 0.7), style)])?;
        }
        area.present()?;
    }
    Ok(svg)
}

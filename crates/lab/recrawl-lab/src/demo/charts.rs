//! The drawings of the demo's page. Their colours are those of the page, which follow the reader's colour scheme.

use super::contest::{BudgetPoint, ByCrawler, StalePoint};
use super::report::DemoReport;
use super::worst::WorstPage;
use htmlize::escape_text as escape;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::fmt::Write as _;
use std::ops::Range;

pub(super) type SvgResult = Result<String, Box<dyn std::error::Error>>;

/// Size of a chart in pixels. On a screen of 400 px its text is a little smaller than here.
const WIDTH: u32 = 420;
const HEIGHT: u32 = 300;
const CHARACTERS: u32 = 13;

/// Placeholders for the colours of the crawlers: the style sheet replaces each by its own.
const COLOURS: ByCrawler<RGBColor> = ByCrawler {
    recrawl: RGBColor(1, 0, 0),
    round_robin: RGBColor(2, 0, 0),
    stormcrawler: RGBColor(3, 0, 0),
    oracle: RGBColor(4, 0, 0),
    clairvoyant: RGBColor(5, 0, 0),
};

/// The rules of the style sheet for the placeholders.
pub(super) fn colour_rules() -> String {
    let mut rules = String::new();
    for (_, class, colour) in COLOURS.named() {
        let RGBColor(red, green, blue) = colour;
        let code = format!("#{red:02X}{green:02X}{blue:02X}");
        let _ = write!(
            rules,
            "svg [stroke=\"{code}\"] {{ stroke: var(--{class}); }}\nsvg [fill=\"{code}\"] {{ fill: var(--{class}); }}\n"
        );
    }
    rules
}

/// Gives a drawing its name and its description.
fn described(svg: &str, title: &str, description: &str) -> String {
    let (title, description) = (escape(title), escape(description));
    let head = format!("<title>{title}</title>\n<desc>{description}</desc>\n");
    let svg = svg.replacen("<svg ", "<svg role=\"img\" ", 1);
    match svg.find('>') {
        Some(end) => format!("{}>\n{head}{}", &svg[..end], &svg[end + 1..]),
        None => svg,
    }
}

fn percent(share: f64, most: f64) -> String {
    if most < 0.05 { format!("{:.1} %", 100.0 * share) } else { format!("{:.0} %", 100.0 * share) }
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A chart of stale shares up to `most`, with its axes and what `draw` adds.
fn chart(
    across: Range<f64>,
    across_is: &str,
    across_label: &dyn Fn(&f64) -> String,
    most: f64,
    draw: impl FnOnce(&mut Chart<'_, '_>) -> Drawn,
) -> SvgResult {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(16)
            .x_label_area_size(38)
            .y_label_area_size(50)
            .build_cartesian_2d(across, 0.0..most)?;
        chart
            .configure_mesh()
            .x_labels(6)
            .y_labels(6)
            .x_desc(across_is)
            .x_label_formatter(across_label)
            .y_label_formatter(&|share| percent(*share, most))
            .label_style(("sans-serif", CHARACTERS))
            .axis_desc_style(("sans-serif", CHARACTERS))
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .draw()?;
        draw(&mut chart)?;
        area.present()?;
    }
    Ok(svg)
}

/// Stale share of all crawlers over the scored time.
pub(super) fn over_time(report: &DemoReport) -> SvgResult {
    let from = report.scored_from_day;
    let points: Vec<&StalePoint> = report.stale_over_time.iter().filter(|point| point.day >= from).collect();
    let shares = points.iter().flat_map(|point| point.stale_share.named().map(|(_, _, share)| *share));
    let most = shares.fold(1e-3, f64::max) * 1.05;
    let across = from..report.virtual_days.max(from + 1.0);
    let svg = chart(across, "day", &|day| format!("{day:.0}"), most, |chart| {
        // The live replay last, on top.
        for (of, (_, _, colour)) in COLOURS.named().into_iter().enumerate().rev() {
            let width = if of == 0 { 3 } else { 2 };
            let line = points.iter().map(|point| (point.day, *point.stale_share.named()[of].2));
            chart.draw_series(LineSeries::new(line, colour.stroke_width(width)))?;
        }
        Ok(())
    })?;
    let shares = report.stale_share.named().map(|(name, _, share)| format!("{name} {:.2} %", 100.0 * share));
    let description = format!("Averages from day {from:.0} on: {}.", shares.join(", "));
    Ok(described(&svg, "Share of time a copy is stale, over time", &description))
}

/// Stale share of the live default and of round robin by budget, and the live replay as a dot. Budgets double from
/// label to label.
pub(super) fn by_budget(report: &DemoReport) -> SvgResult {
    let curve = &report.stale_by_budget;
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return Err("no budget was simulated".into()) };
    let across = first.fetches_per_page_per_day.log2()..last.fetches_per_page_per_day.log2();
    if !(across.start.is_finite() && across.start < across.end) {
        return Err("there is no budget to draw".into());
    }
    let spent = report.requests() as f64 / report.virtual_days / report.pages.max(1) as f64;
    // A crawl that was stopped at once has spent nothing in no time.
    let here = spent.log2().max(across.start).min(across.end);
    let most = curve.iter().flat_map(|point| [point.live, point.round_robin]).fold(1e-3, f64::max) * 1.05;
    let svg = chart(across, "fetches per page and day", &|doublings| short(*doublings), most, |chart| {
        let mut line = |colour: RGBColor, width, of: fn(&BudgetPoint) -> f64| {
            let points = curve.iter().map(|point| (point.fetches_per_page_per_day.log2(), of(point)));
            chart.draw_series(LineSeries::new(points, colour.stroke_width(width))).map(|_| ())
        };
        line(COLOURS.round_robin, 2, |point| point.round_robin)?;
        line(COLOURS.recrawl, 3, |point| point.live)?;
        let ByCrawler { recrawl, round_robin, .. } = report.stale_share;
        for (colour, share) in [(COLOURS.round_robin, round_robin), (COLOURS.recrawl, recrawl)] {
            chart.draw_series([Circle::new((here, share), 5, colour.filled())])?;
        }
        Ok(())
    })?;
    let description = format!("{}. Dots: the live replay, and round robin at its budget.", report.headline());
    Ok(described(&svg, "Share of time a copy is stale, by budget", &description))
}

/// A number by its logarithm to base 2.
fn short(doublings: f64) -> String {
    match doublings {
        whole if whole.fract() != 0.0 => format!("{:.3}", whole.exp2()),
        less if less < 0.0 => format!("1/{:.0}", (-less).exp2()),
        more => format!("{:.0}", more.exp2()),
    }
}

/// The times of a page's changes and fetches on a line, and between them the spells in which the copy was stale.
pub(super) fn timeline(page: &WorstPage) -> String {
    let place = |day: f64| 400.0 * (day / page.days.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let marks = |days: &[f64], top: u32, height: u32| {
        days.iter().fold(String::new(), |mut path, day| {
            let _ = write!(path, "M{:.1} {top}v{height}", place(*day));
            path
        })
    };
    let spells = page.stale_days.iter().fold(String::new(), |mut path, (from, to)| {
        let _ = write!(path, "M{:.1} 20H{:.1}", place(*from), place(*to).max(place(*from) + 0.5));
        path
    });
    let description = format!(
        "{} changes and {} fetches in {:.0} days; stale {:.1} % of the time.",
        page.changes,
        page.fetches,
        page.days,
        100.0 * page.stale_share
    );
    let svg = format!(
        "<svg viewBox=\"0 0 400 40\" preserveAspectRatio=\"none\" class=\"timeline\"><path class=\"axis\" d=\"M0 20H400\"/>\
         <path class=\"stale\" d=\"{spells}\"/><path class=\"changed\" d=\"{}\"/><path class=\"fetched\" d=\"{}\"/></svg>",
        marks(&page.changed_at_days, 2, 12),
        marks(&page.fetched_at_days, 26, 12),
    );
    described(&svg, &format!("Changes and fetches of {}", page.url), &description)
}

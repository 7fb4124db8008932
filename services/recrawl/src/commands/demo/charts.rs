//! The drawings of the demo's page. Their colours are those of the page, which follow the reader's colour scheme.

use super::contest::{BudgetPoint, ByCrawler, StalePoint};
use super::report::DemoReport;
use super::worst::WorstPage;
use htmlize::escape_text as escape;
use plotters::prelude::*;
use std::fmt::Write as _;

pub(super) type SvgResult = Result<String, Box<dyn std::error::Error>>;

/// Size of a chart. On a screen of 400 px its letters are a little smaller than here.
const WIDTH: u32 = 420;
const HEIGHT: u32 = 300;
const LETTERS: u32 = 13;

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

/// Stale share of all crawlers over the scored time.
pub(super) fn over_time(report: &DemoReport) -> SvgResult {
    let from = report.scored_from_day;
    let points: Vec<&StalePoint> = report.stale_over_time.iter().filter(|point| point.day >= from).collect();
    let shares = points.iter().flat_map(|point| point.stale_share.named().map(|(_, _, share)| *share));
    let most = shares.fold(1e-3, f64::max) * 1.05;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(16)
            .x_label_area_size(38)
            .y_label_area_size(50)
            .build_cartesian_2d(from..report.virtual_days.max(from + 1.0), 0.0..most)?;
        chart
            .configure_mesh()
            .x_labels(6)
            .y_labels(6)
            .x_desc("day")
            .x_label_formatter(&|day| format!("{day:.0}"))
            .y_label_formatter(&|share| percent(*share, most))
            .label_style(("sans-serif", LETTERS))
            .axis_desc_style(("sans-serif", LETTERS))
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .draw()?;
        let pick = |of: usize, point: &StalePoint| *point.stale_share.named()[of].2;
        // The live replay last, on top.
        for of in (0..COLOURS.named().len()).rev() {
            let width = if of == 0 { 3 } else { 2 };
            let line = points.iter().map(|point| (point.day, pick(of, point)));
            chart.draw_series(LineSeries::new(line, COLOURS.named()[of].2.stroke_width(width)))?;
        }
        area.present()?;
    }
    let shares: Vec<String> =
        report.stale_share.named().iter().map(|(name, _, share)| format!("{name} {:.2} %", 100.0 * **share)).collect();
    let description = format!("Averages from day {from:.0} on: {}.", shares.join(", "));
    Ok(described(&svg, "Share of time a copy is stale, over time", &description))
}

/// Stale share of the live default and of round robin by budget, and the live replay as a dot.
pub(super) fn by_budget(report: &DemoReport) -> SvgResult {
    let curve = &report.stale_by_budget;
    let budgets = curve.iter().map(|point| point.fetches_per_page_per_day);
    let (least, most) = (budgets.clone().fold(f64::MAX, f64::min), budgets.fold(0.0, f64::max));
    let here = report.requests() as f64 / report.virtual_days / report.pages.max(1) as f64;
    let highest = curve.iter().flat_map(|point| [point.live, point.round_robin]).fold(1e-3, f64::max) * 1.05;
    if !(least > 0.0 && least < most) {
        return Err("there is no budget to draw".into());
    }
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(16)
            .x_label_area_size(38)
            .y_label_area_size(50)
            .build_cartesian_2d((least..most).log_scale(), 0.0..highest)?;
        chart
            .configure_mesh()
            .x_labels(4)
            .y_labels(6)
            .x_desc("fetches per page and day")
            .x_label_formatter(&|budget| short(*budget))
            .y_label_formatter(&|share| percent(*share, highest))
            .label_style(("sans-serif", LETTERS))
            .axis_desc_style(("sans-serif", LETTERS))
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .draw()?;
        let mut line = |colour: RGBColor, width, of: fn(&BudgetPoint) -> f64| {
            let points = curve.iter().map(|point| (point.fetches_per_page_per_day, of(point)));
            chart.draw_series(LineSeries::new(points, colour.stroke_width(width))).map(|_| ())
        };
        line(COLOURS.round_robin, 2, |point| point.round_robin)?;
        line(COLOURS.recrawl, 3, |point| point.live)?;
        let dots =
            [(COLOURS.round_robin, report.stale_share.round_robin), (COLOURS.recrawl, report.stale_share.recrawl)];
        for (colour, share) in dots {
            chart.draw_series([Circle::new((here, share), 5, colour.filled())])?;
        }
        area.present()?;
    }
    let description = format!("{}. Dots: the live replay, and round robin at its budget.", report.headline());
    Ok(described(&svg, "Share of time a copy is stale, by budget", &description))
}

fn short(number: f64) -> String {
    if number >= 1.0 { format!("{number:.0}") } else { format!("{number:.3}").trim_end_matches('0').to_owned() }
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

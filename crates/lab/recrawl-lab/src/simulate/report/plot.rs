//! The plots. Those of freshness show the stale share, 1 - freshness, because near 1 differences in freshness are
//! invisible.

use super::{Course, Curve, CurveAxis};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

pub(super) type SvgResult = Result<String, Box<dyn std::error::Error>>;

/// Distinguishable in light and dark mode.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 122, 204),
    RGBColor(128, 128, 128),
    RGBColor(214, 112, 0),
    RGBColor(160, 96, 48),
    RGBColor(0, 150, 110),
    RGBColor(200, 60, 60),
    RGBColor(150, 100, 200),
    RGBColor(200, 80, 150),
    RGBColor(110, 140, 20),
    RGBColor(20, 150, 170),
];

/// Policies that are always shown if present, with the colour at the same index.
const ALWAYS: [&str; 7] = ["live", "uniform", "oracle", "smoothed", "crawl-value", "stormcrawler", "nutch"];

/// Selects as many items as there are colours: first those of `ALWAYS`, then the others in order.
pub(super) fn most_informative<T>(all: &[T], name: impl Fn(&T) -> &str) -> Vec<(RGBColor, &T)> {
    let place = |item: &T| ALWAYS.iter().position(|known| *known == name(item));
    let mut free: Vec<RGBColor> = COLOURS.to_vec();
    free.retain(|colour| !all.iter().filter_map(place).any(|place| COLOURS[place] == *colour));
    let mut free = free.into_iter();
    all.iter()
        .filter_map(|item| place(item).map(|place| COLOURS[place]).or_else(|| free.next()).map(|c| (c, item)))
        .collect()
}

/// Replaces black by the page's text colour.
fn themed(svg: String) -> String {
    svg.replace("\"#000000\"", "\"currentColor\"")
}

fn stale(freshness: f64) -> f64 {
    (1.0 - freshness).max(1e-5)
}

/// Width of a chart without what stands beside its axes.
const PLOT_WIDTH: f64 = 816.0;
/// Width of a legend without its names, and of a character.
const LEGEND_FRAME: f64 = 60.0;
const CHARACTER: f64 = 7.0;

/// The factor by which an axis is extended to leave room for the names beside the curves.
fn legend_room(lines: &[Line<'_>]) -> f64 {
    let characters = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    PLOT_WIDTH / (PLOT_WIDTH - LEGEND_FRAME - CHARACTER * characters.min(60) as f64)
}

/// An axis of a chart: its range and its label.
struct Axis<S> {
    range: S,
    shows: &'static str,
}

struct Line<'a> {
    colour: &'a RGBColor,
    name: &'a str,
    points: Vec<(f64, f64)>,
    width: u32,
    /// Whether each point has a circle.
    is_marked: bool,
}

impl<'a> Line<'a> {
    /// A curve, drawn at these heights. Ours is the widest.
    fn of(colour: &'a RGBColor, curve: &'a Curve, ours: &str, height: fn(f64) -> f64) -> Self {
        let points = curve.points.iter().map(|(place, value)| (*place, height(*value))).collect();
        Self { colour, name: &curve.name, points, width: if curve.name == ours { 3 } else { 2 }, is_marked: true }
    }
}

fn line_chart<X, Y>(
    (caption, height): (&str, u32),
    x: Axis<X>,
    y: Axis<Y>,
    legend: SeriesLabelPosition,
    lines: &[Line<'_>],
) -> SvgResult
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .caption(caption, ("sans-serif", 18).into_font().color(&BLACK))
            .margin(10)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(x.range, y.range)?;
        chart
            .configure_mesh()
            .x_desc(x.shows)
            .y_desc(y.shows)
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .draw()?;
        for line in lines {
            let style = ShapeStyle::from(line.colour).stroke_width(line.width);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(line.name)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], style));
            if line.is_marked {
                chart.draw_series(line.points.iter().map(|point| Circle::new(*point, 3, line.colour.filled())))?;
            }
        }
        chart.configure_series_labels().position(legend).border_style(BLACK.mix(0.3)).draw()?;
        area.present()?;
    }
    Ok(themed(svg))
}

/// Stale share over an axis, which is logarithmic. So is the share where it differs much, so that halving it looks the same
/// everywhere. Within a factor of ten it is not, because such an axis would have no marks.
pub(super) fn stale_against(axis: CurveAxis, curves: &[(RGBColor, &Curve)]) -> SvgResult {
    let (caption, shows, legend) = match axis {
        CurveAxis::Budget => (
            "Stale share against budget",
            "budget: fetches per page and day (logarithmic)",
            SeriesLabelPosition::LowerLeft,
        ),
        CurveAxis::FirstCopyDays => (
            "Stale share against the wait of new pages",
            "days from the birth of a page to its first copy (logarithmic)",
            SeriesLabelPosition::LowerRight,
        ),
    };
    let lines: Vec<_> = curves.iter().map(|(colour, curve)| Line::of(colour, curve, "live", stale)).collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let (places, shares) = (span(points().map(|point| point.0)), span(points().map(|point| point.1)));
    let x = Axis { range: (places.0..places.1).log_scale(), shows };
    let title = (caption, 460);
    if shares.1 > 10.0 * shares.0 {
        let y = Axis { range: (shares.0..shares.1).log_scale(), shows: "share of time a copy is stale (logarithmic)" };
        line_chart(title, x, y, legend, &lines)
    } else {
        line_chart(title, x, Axis { range: shares.0..shares.1, shows: "share of time a copy is stale" }, legend, &lines)
    }
}

/// Harvest rates over the fetches of crawls.
pub(super) fn harvest_over_fetches(curves: &[(RGBColor, &Curve)]) -> SvgResult {
    over_fetches(("Harvest rate over the crawl", "share of them in focus"), "recrawl", curves)
}

/// Coverage by importance over the fetches of crawls.
pub(super) fn coverage_over_fetches(curves: &[(RGBColor, &Curve)]) -> SvgResult {
    over_fetches(("Coverage by importance over the crawl", "share of the importance of all pages"), "live", curves)
}

/// Shares over the fetches of crawls. `ours` has the widest line.
fn over_fetches((caption, shows): (&str, &'static str), ours: &str, curves: &[(RGBColor, &Curve)]) -> SvgResult {
    let most = curves.iter().flat_map(|(_, curve)| &curve.points).map(|point| point.0).fold(1.0, f64::max);
    let lines: Vec<_> = curves.iter().map(|(colour, curve)| Line::of(colour, curve, ours, |share| share)).collect();
    line_chart(
        (caption, 460),
        Axis { range: 0.0..legend_room(&lines) * most, shows: "pages fetched" },
        Axis { range: 0.0..1.02, shows },
        SeriesLabelPosition::LowerRight,
        &lines,
    )
}

/// Stale share at one budget: a bar per policy.
pub(super) fn stale_bars(curves: &[(RGBColor, &Curve)]) -> SvgResult {
    let stale_share = |curve: &Curve| curve.points.first().map_or(0.0, |point| 1.0 - point.1);
    let most = curves.iter().map(|(_, curve)| stale_share(curve)).fold(f64::MIN_POSITIVE, f64::max);
    let rows = curves.len() as f64;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, 60 + 30 * curves.len() as u32)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .caption("Share of time a copy is stale (from 0)", ("sans-serif", 18).into_font().color(&BLACK))
            .margin(10)
            .build_cartesian_2d(0.0..1.4 * most, 0.0..rows)?;
        let style = ("sans-serif", 15).into_font().color(&BLACK);
        for (rank, (colour, curve)) in curves.iter().enumerate() {
            let (bottom, value) = (rows - 1.0 - rank as f64, stale_share(curve));
            let bar = [(0.25 * most, bottom + 0.15), (0.25 * most + value, bottom + 0.85)];
            chart.draw_series([Rectangle::new(bar, colour.filled())])?;
            chart.draw_series([Text::new(curve.name.clone(), (0.0, bottom + 0.75), style.clone())])?;
            chart.draw_series([Text::new(
                format!("{value:.4}"),
                (0.26 * most + value, bottom + 0.75),
                style.clone(),
            )])?;
        }
        area.present()?;
    }
    Ok(themed(svg))
}

/// Stale share over time, as weekly means: daily values are too noisy to read.
pub(super) fn stale_over_time(courses: &[(RGBColor, &Course)], budget: &str) -> SvgResult {
    let weekly = |course: &Course| -> Vec<(f64, f64)> {
        let weeks = course.freshness_by_day.chunks(7).enumerate();
        weeks
            .map(|(week, days)| {
                let mean = days.iter().sum::<f64>() / days.len() as f64;
                (7.0 * week as f64 + 0.5 * days.len() as f64, 1.0 - mean)
            })
            .collect()
    };
    let days = courses.iter().map(|(_, course)| course.freshness_by_day.len()).max().unwrap_or(1) as f64;
    let lines: Vec<_> = courses
        .iter()
        .map(|(colour, course)| {
            let width = if course.name == "live" { 3 } else { 1 };
            Line { colour, name: &course.name, points: weekly(course), width, is_marked: false }
        })
        .collect();
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(1e-6, f64::max);
    line_chart(
        (&format!("Stale share over the scored time, weekly means, budget {budget}"), 360),
        Axis { range: 0.0..legend_room(&lines) * days, shows: "day of the scored time" },
        Axis { range: 0.0..1.05 * most, shows: "share of copies stale" },
        SeriesLabelPosition::UpperRight,
        &lines,
    )
}

/// The range of the values, with a margin.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) = values.fold((f64::INFINITY, 0.0f64), |(least, most), x| (least.min(x), most.max(x)));
    (0.8 * least.min(most), 1.25 * most)
}

/// Formats a number with few digits and without trailing zeros.
fn short(value: f64) -> String {
    let digits = (2 - value.abs().max(1e-6).log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of these attributes of each element of a kind.
    fn numbers<const N: usize>(svg: &str, kind: &str, names: [&str; N]) -> Vec<[f64; N]> {
        let of = |element: &str, name: &str| -> Option<f64> {
            element.split_once(&format!(" {name}=\""))?.1.split('"').next()?.parse().ok()
        };
        let elements = svg.split('<').filter(|element| element.starts_with(kind));
        elements
            .filter_map(|element| {
                let found = names.map(|name| of(element, name));
                found.iter().all(Option::is_some).then(|| found.map(Option::unwrap_or_default))
            })
            .collect()
    }

    #[test]
    fn the_legend_of_harvest_rates_lies_on_no_point() {
        for name in ["pagerank", "ipagerank, as it was published"] {
            let curve = |rate: u32| Curve {
                name: name.to_owned(),
                points: (1..=8).map(|step| (500.0 * f64::from(step), f64::from(rate) / 8.0)).collect(),
            };
            let curves: Vec<Curve> = (0..=8).map(curve).collect();
            let curves: Vec<_> = curves.iter().map(|curve| (COLOURS[0], curve)).collect();
            let svg = harvest_over_fetches(&curves).unwrap();
            let legends = numbers(&svg, "rect", ["x", "y", "width", "height"]);
            let points = numbers(&svg, "circle", ["cx", "cy"]);
            assert!(!legends.is_empty() && points.len() == 72, "{legends:?} {}", points.len());
            for [x, y, width, height] in legends {
                let is_within = |[cx, cy]: &&[f64; 2]| (x..x + width).contains(cx) && (y..y + height).contains(cy);
                assert_eq!(points.iter().find(is_within), None, "{name}: a legend at {x} {y}, {width} by {height}");
            }
        }
    }
}

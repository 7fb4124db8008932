//! Simulation results as a self-contained HTML page with plots, readable in light and dark mode.

mod plot;

use htmlize::escape_all_quotes as escape;
use recrawl::CommandFailure;
use std::fmt::Write as _;
use std::path::Path;

pub(super) struct SimulationReport {
    pub(super) title: String,
    /// Description of the simulation, in sentences.
    pub(super) introduction: String,
    /// Freshness of each policy by budget, or by the axis that `curves_over` names.
    pub(super) curves: Vec<Curve>,
    /// The horizontal axis of the curves.
    pub(super) curves_over: CurveAxis,
    /// Harvest rate of each order of fetches by their number.
    pub(super) harvests: Vec<Curve>,
    /// Share of the web's importance that each crawl has copied, by the number of fetches.
    pub(super) coverage: Vec<Curve>,
    /// Freshness of each policy over the scored time.
    pub(super) courses: Vec<Course>,
    /// The budget of the courses, for people.
    pub(super) courses_at: String,
    /// Tables below the plots.
    pub(super) tables: Vec<ReportTable>,
}

/// Quantity on the horizontal axis of the curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CurveAxis {
    /// Fetches per page and day.
    Budget,
    /// Days from the birth of a page to its first copy.
    FirstCopyDays,
}

/// Freshness of one policy by budget, or harvest rate of one order by fetches.
pub(super) struct Curve {
    pub(super) name: String,
    /// (place on the axis, freshness or rate), in the order in which they are joined.
    pub(super) points: Vec<(f64, f64)>,
}

pub(super) struct Course {
    pub(super) name: String,
    /// Freshness of each day, from 0 to 1.
    pub(super) freshness_by_day: Vec<f64>,
}

/// A table. The first column holds names, the others numbers.
pub(super) struct ReportTable {
    pub(super) caption: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl SimulationReport {
    /// Writes the page to a file.
    pub(super) fn write(&self, path: &Path) -> Result<(), CommandFailure> {
        let page = self.render().map_err(|error| CommandFailure::World(format!("cannot draw the plots: {error}")))?;
        std::fs::write(path, page)
            .map_err(|error| CommandFailure::World(format!("cannot write {}: {error}", path.display())))?;
        eprintln!("report: {}", path.display());
        Ok(())
    }

    fn render(&self) -> Result<String, Box<dyn std::error::Error>> {
        let mut body = String::new();
        if !self.curves.is_empty() {
            let shown = plot::most_informative(&self.curves, |curve| &curve.name);
            let plot = if self.curves.iter().any(|curve| curve.points.len() > 1) {
                plot::stale_against(self.curves_over, &shown)?
            } else {
                plot::stale_bars(&shown)?
            };
            writeln!(body, "<figure id=\"freshness\">{plot}{}</figure>", left_out(shown.len(), self.curves.len()))?;
        }
        if !self.harvests.is_empty() {
            let shown = plot::most_informative(&self.harvests, |curve| &curve.name);
            writeln!(body, "<figure id=\"harvest\">{}</figure>", plot::harvest_over_fetches(&shown)?)?;
        }
        if !self.coverage.is_empty() {
            let shown = plot::most_informative(&self.coverage, |curve| &curve.name);
            let left_out = left_out(shown.len(), self.coverage.len());
            writeln!(body, "<figure id=\"coverage\">{}{left_out}</figure>", plot::coverage_over_fetches(&shown)?)?;
        }
        if self.courses.iter().any(|course| course.freshness_by_day.len() > 1) {
            let shown = plot::most_informative(&self.courses, |course| &course.name);
            let plot = plot::stale_over_time(&shown, &self.courses_at)?;
            writeln!(body, "<figure id=\"course\">{plot}{}</figure>", left_out(shown.len(), self.courses.len()))?;
        }
        for table in &self.tables {
            table.render(&mut body)?;
        }
        Ok(format!(
            r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }}
figure {{ margin: 1.5rem 0; }}
svg {{ width: 100%; height: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }}
caption {{ text-align: left; font-weight: 600; padding: 1rem 0 .3rem; }}
th, td {{ padding: .15rem .8rem .15rem 0; text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
thead th {{ border-bottom: 1px solid; }}
</style>
<h1>{title}</h1>
<p>{introduction}</p>
{body}</html>
"#,
            title = escape(&self.title),
            introduction = escape(&self.introduction),
        ))
    }
}

fn left_out(shown: usize, all: usize) -> String {
    match all - shown {
        0 => String::new(),
        1 => "<figcaption>One more curve is in the table only.</figcaption>".to_owned(),
        more => format!("<figcaption>{more} more curves are in the table only.</figcaption>"),
    }
}

impl ReportTable {
    fn render(&self, out: &mut String) -> std::fmt::Result {
        write!(out, "<table>\n<caption>{}</caption>\n<thead><tr>", escape(&self.caption))?;
        for title in &self.head {
            write!(out, "<th scope=\"col\">{}</th>", escape(title))?;
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for cell in row {
                write!(out, "<td>{}</td>", escape(cell))?;
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(curves: usize, budgets: usize) -> String {
        let curve = |index: usize| Curve {
            name: format!("policy-{index}"),
            points: (1..=budgets).map(|budget| (budget as f64 / 60.0, 0.9 + 0.01 * budget as f64)).collect(),
        };
        let course = |index| Course { name: format!("policy-{index}"), freshness_by_day: vec![0.9, 1.0, 0.95] };
        SimulationReport {
            title: "Trace <x>".to_owned(),
            introduction: "A & B".to_owned(),
            curves: (0..curves).map(curve).collect(),
            curves_over: CurveAxis::Budget,
            harvests: Vec::new(),
            coverage: Vec::new(),
            courses: (0..curves).map(course).collect(),
            courses_at: "1/15d".to_owned(),
            tables: vec![ReportTable {
                caption: "All".to_owned(),
                head: vec!["policy".to_owned(), "freshness".to_owned()],
                rows: vec![vec!["<live>".to_owned(), "0.99".to_owned()]],
            }],
        }
        .render()
        .unwrap()
    }

    #[test]
    fn harvest_rates_and_coverage_have_plots_of_their_own() {
        let curve = |name: &str, rate| Curve { name: name.to_owned(), points: vec![(500.0, 1.0), (4_000.0, rate)] };
        let page = SimulationReport {
            title: "Focus".to_owned(),
            introduction: String::new(),
            curves: Vec::new(),
            curves_over: CurveAxis::Budget,
            harvests: vec![curve("recrawl", 0.8), curve("breadth-first", 0.2)],
            coverage: vec![curve("live", 0.9)],
            courses: Vec::new(),
            courses_at: String::new(),
            tables: Vec::new(),
        }
        .render()
        .unwrap();
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(page.contains("<figure id=\"harvest\">") && page.contains("breadth-first"));
        assert!(page.contains("<figure id=\"coverage\">"));
    }

    #[test]
    fn the_page_has_plots_and_tables_and_loads_nothing() {
        for (curves, budgets) in [(1, 1), (3, 1), (3, 4), (30, 2)] {
            let page = report(curves, budgets);
            assert_eq!(page.matches("<svg").count(), 2);
            assert!(page.contains("<td>&lt;live&gt;</td>") && page.contains("A &amp; B"));
            let loaded = page.replace("http://www.w3.org/2000/svg", "");
            for word in ["http:", "https:", "<script", "src=", "url(", "@import"] {
                assert!(!loaded.contains(word), "{word}");
            }
            assert!(!page.contains("#000000"), "text and axes take the page's colour");
            assert_eq!(page.contains("more curves are in the table only"), curves == 30);
        }
    }
}

//! The HTML page of `recrawl simulate trace`.

use super::super::report::{Course, Curve, CurveAxis, ReportTable, SimulationReport};
use super::rows::{TraceRow, head, sorted};
use super::{KnowledgeArgument, TraceArguments};
use simulate::trace::JudgedTrace;

/// Plots and tables of these rows.
pub(super) fn report(arguments: &TraceArguments, trace: &JudgedTrace, rows: &[TraceRow]) -> SimulationReport {
    let rows = sorted(rows);
    let mut curves: Vec<Curve> = Vec::new();
    for row in &rows {
        let point = (row.budget_fetches_per_page_per_day, row.freshness);
        match curves.iter_mut().find(|curve| curve.name == row.label()) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name: row.label(), points: vec![point] }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let courses_at = rows.first().map_or(String::new(), |row| row.budget.clone());
    let courses = rows.iter().filter(|row| row.budget == courses_at);
    let courses =
        courses.map(|row| Course { name: row.label(), freshness_by_day: row.freshness_by_day.clone() }).collect();
    let mut tables = vec![ReportTable {
        caption: "Policies".to_owned(),
        head: head(&rows),
        rows: rows.iter().map(|row| row.cells()).collect(),
    }];
    tables.extend(arguments.budget.iter().map(|budget| by_source(&budget.written, &rows)));
    let knows = match arguments.knowledge {
        KnowledgeArgument::Fetches => {
            "Policies know what their own fetches showed, from the start of the learning year"
        }
        KnowledgeArgument::History => "Policies know every change of the learning year; the schedule then starts",
        KnowledgeArgument::None => "Policies know nothing but a copy of every page on the first day",
    };
    SimulationReport {
        title: "Policies on recorded change times".to_owned(),
        introduction: format!(
            "Pages: {}, sources: {}; of each source the last two years, the {} one scored. {knows}{}. Freshness is the \
             share of time that a copy is current, mean over pages; all policies see the same pages and changes.",
            trace.pages.len(),
            trace.sources.len(),
            if arguments.knowledge == KnowledgeArgument::None { "first" } else { "second" },
            if arguments.frozen { " and learn nothing from their fetches" } else { "" },
        ),
        curves,
        curves_over: CurveAxis::Budget,
        harvests: Vec::new(),
        coverage: Vec::new(),
        courses,
        courses_at,
        tables,
    }
}

fn by_source(budget: &str, rows: &[&TraceRow]) -> ReportTable {
    let rows: Vec<&&TraceRow> = rows.iter().filter(|row| row.budget == budget).collect();
    let mut head = vec!["source".to_owned(), "pages".to_owned()];
    head.extend(rows.iter().map(|row| row.label()));
    let sources = rows.first().map_or(&[][..], |row| &row.by_source[..]);
    let cells = sources.iter().enumerate().map(|(index, source)| {
        let mut cells = vec![source.source.clone(), source.pages.to_string()];
        cells.extend(rows.iter().map(|row| format!("{:.4}", row.by_source[index].freshness)));
        cells
    });
    ReportTable { caption: format!("Freshness by source at {budget}"), rows: cells.collect(), head }
}

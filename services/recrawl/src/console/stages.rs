//! Stages, with their backlogs and their figures.

use super::query::Query;
use super::{ScreenFailure, Source};
use daemon::StageLag;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Stages {
    stages: Vec<StageLine>,
    disk: Option<String>,
}

#[derive(Serialize)]
struct StageLine {
    name: String,
    state: &'static str,
    why: Option<String>,
    partitions: Option<usize>,
    waiting: u64,
    waiting_s: String,
    /// `None` where it is not known.
    processed: Option<u64>,
    set_aside: Option<u64>,
    /// By name.
    figures: Vec<(String, String)>,
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Stages, ScreenFailure> {
    Query::read(query, &[])?;
    let status = source.crawl.status(source.state)?;
    Ok(Stages { stages: status.stages.into_iter().map(line).collect(), disk: status.disk.map(|disk| disk.words()) })
}

fn line(stage: StageLag) -> StageLine {
    let state = match (stage.last_error.is_some(), stage.ready) {
        (true, _) => "fails",
        (false, Some(false)) => "starting",
        (false, Some(true)) => "ready",
        // Over Kafka not all stages are asked.
        (false, None) => "unknown",
    };
    StageLine {
        name: stage.name,
        state,
        why: stage.last_error.or(stage.waits_for.map(|schema| format!("waits for {schema}"))),
        partitions: stage.partitions,
        waiting: stage.lag_records,
        waiting_s: format!("{:.1}", stage.lag_s),
        processed: stage.processed_total,
        set_aside: stage.set_aside_total,
        figures: stage.figures.into_iter().map(|(name, value)| (name, shown(value))).collect(),
    }
}

/// A figure with as many digits as say something.
fn shown(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1_000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

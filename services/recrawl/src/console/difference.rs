//! Two versions of a page, side by side.

use super::query::Query;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use crate::commands::diff::ComparedVersions;
use messages::word;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Difference {
    url: String,
    from: u32,
    to: u32,
    times: [String; 2],
    verdict: String,
    magnitude: String,
    rule: Option<String>,
    triggers: Vec<String>,
    not_found: Vec<String>,
    /// HTML table of the changed units between their unchanged neighbours, escaped.
    table: String,
    left_out: usize,
    passed_over: usize,
    /// The versions before the older and behind the newer one, if they are kept.
    before: Option<u32>,
    after: Option<u32>,
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Difference, ScreenFailure> {
    let query = Query::read(query, &["url", "from", "to"])?;
    let (url, from, to) = (query.url(source.settings)?, query.version("from")?, query.version("to")?);
    source.permit(&url)?;
    if from == to {
        return Err(CommandFailure::Input(format!("from and to are both {from}: two versions are needed")).into());
    }
    let (from, to) = (from.min(to), from.max(to));
    let compared = ComparedVersions::of(source.state, source.settings, &url, [from, to])?;
    let kept: Vec<u32> = source.state.history(&url)?.iter().map(|version| version.number).collect();
    let reported = &compared.reported;
    let record = &reported.diff.record;
    Ok(Difference {
        from,
        to,
        times: compared.times.map(|time| time.to_string()),
        verdict: word(&reported.diff.verdict),
        magnitude: format!("{:.3}", reported.diff.magnitude),
        rule: reported.rule.clone(),
        triggers: reported.triggers.clone(),
        not_found: reported.not_found.clone(),
        table: compared.table(),
        left_out: record.left_out,
        passed_over: record.passed_over,
        before: kept.iter().copied().filter(|number| *number < from).max(),
        after: kept.iter().copied().filter(|number| *number > to).min(),
        url: url.to_string(),
    })
}

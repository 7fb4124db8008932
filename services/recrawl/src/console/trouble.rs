//! Trouble: everything that needs a person, failures by their kind with what would change them, and records that were set aside.

use super::now::{Outcome, outcome};
use super::query::Query;
use super::{ScreenFailure, Source};
use crate::attention::{Trouble, troubles};
use daemon::ReceiverStatus;
use messages::{OutcomeClass, topics};
use operate::dead_letters;
use serde::Serialize;

/// Records on the screen.
const SHOWN: usize = 50;

#[derive(Serialize)]
pub(super) struct Troubles {
    troubles: Vec<Trouble>,
    /// Whether they are known. Over Kafka they are not.
    has_failures: bool,
    failures: Vec<Outcome>,
    records: Vec<SetAside>,
    /// Whether the caller may see records of any host, and the receivers of their changes.
    sees_records: bool,
    receivers: Vec<ReceiverStatus>,
}

#[derive(Serialize)]
struct SetAside {
    at: String,
    stage: String,
    reason: String,
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Troubles, ScreenFailure> {
    Query::read(query, &[])?;
    let status = source.crawl.status(source.state)?;
    let failed = status
        .outcomes
        .iter()
        .filter(|outcome| matches!(outcome.class, OutcomeClass::Failed | OutcomeClass::NotSent) && outcome.count > 0);
    let mut failures: Vec<_> = failed.map(outcome).collect();
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    let sees_records = source.caller.hosts.is_none();
    let records = if sees_records {
        let rows = dead_letters::newest(&mut source.crawl.reader(topics::DEAD_LETTERS.spec())?, SHOWN)?;
        rows.into_iter().map(|row| SetAside { at: row.set_aside_at, stage: row.stage, reason: row.reason }).collect()
    } else {
        Vec::new()
    };
    let receivers = if sees_records { status.receivers.clone() } else { Vec::new() };
    let (troubles, has_failures) = (troubles(&status), status.fetch_rate_per_s.is_some());
    Ok(Troubles { troubles, has_failures, failures, records, sees_records, receivers })
}

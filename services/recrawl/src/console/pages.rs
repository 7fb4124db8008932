//! Pages, by what is known of them.

use super::query::Query;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use crate::commands::pages::known_outcome;
use messages::{PageSelection, Verdict, word};
use page::HostName;
use scheduler::ListedPage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Pages on the screen.
const SHOWN: usize = 50;
/// The verdicts of a last look.
const VERDICTS: [Verdict; 8] = [
    Verdict::First,
    Verdict::Unchanged,
    Verdict::Cosmetic,
    Verdict::Minor,
    Verdict::Major,
    Verdict::Gone,
    Verdict::Returned,
    Verdict::Unknown,
];
/// Outcomes that can be chosen. The address takes others, too.
const OUTCOMES: [&str; 5] = ["fetched", "unchanged", "missing", "failed", "not_sent"];

#[derive(Serialize)]
pub(super) struct Pages {
    contains: String,
    host: String,
    outcome: String,
    outcomes: Vec<String>,
    verdict: String,
    verdicts: Vec<String>,
    pages: Vec<PageLine>,
    has_more: bool,
}

#[derive(Serialize)]
struct PageLine {
    url: String,
    last_look_at: Option<String>,
    last_change_at: Option<String>,
    outcome: Option<String>,
    verdict: Option<String>,
    fetches: i64,
    changes: i64,
}

impl From<ListedPage> for PageLine {
    fn from(page: ListedPage) -> Self {
        Self {
            url: page.url.to_string(),
            last_look_at: page.last_look_at.map(|at| at.to_string()),
            last_change_at: page.last_change_at.map(|at| at.to_string()),
            outcome: page.outcome.map(|outcome| outcome.replace('_', " ")),
            verdict: page.verdict.as_ref().map(word),
            fetches: page.fetches,
            changes: page.changes,
        }
    }
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Pages, ScreenFailure> {
    let query = Query::read(query, &["contains", "host", "outcome", "verdict"])?;
    let text = |name: &str| query.get(name).unwrap_or_default().trim().to_owned();
    let (contains, host, outcome, verdict) = (text("contains"), text("host"), text("outcome"), text("verdict"));
    // A key for some hosts sees few of all pages.
    let at_most = if source.caller.hosts.is_some() { i32::MAX } else { SHOWN as i32 + 1 };
    let selection = PageSelection {
        after: None,
        at_most,
        host: (!host.is_empty()).then(|| HostName::from_name(host.to_lowercase())),
        address_part: (!contains.is_empty()).then(|| contains.clone()),
        outcome: (!outcome.is_empty()).then(|| known_outcome(&outcome)).transpose()?,
        verdict: (!verdict.is_empty()).then(|| verdict_of(&verdict)).transpose()?,
        never_fetched: false,
    };
    let mut listed = Vec::new();
    source.state.list_pages(&selection, &mut |page| {
        if listed.len() <= SHOWN && source.caller.includes_host(page.url.host_name()) {
            listed.push(page);
        }
    })?;
    let has_more = listed.len() > SHOWN;
    listed.truncate(SHOWN);
    listed.sort_by(|one, other| one.url.cmp(&other.url));
    let mut outcomes: Vec<String> = OUTCOMES.map(str::to_owned).to_vec();
    if !outcome.is_empty() && !outcomes.contains(&outcome) {
        outcomes.push(outcome.clone());
    }
    let (verdicts, pages) = (VERDICTS.iter().map(word).collect(), listed.into_iter().map(PageLine::from).collect());
    Ok(Pages { contains, host, outcome, outcomes, verdict, verdicts, pages, has_more })
}

fn verdict_of(verdict: &str) -> Result<Verdict, CommandFailure> {
    let found = Verdict::deserialize(Value::String(verdict.to_owned())).ok().filter(|found| VERDICTS.contains(found));
    found.ok_or_else(|| {
        let words = VERDICTS.iter().map(word).collect::<Vec<_>>().join(", ");
        CommandFailure::Input(format!("verdict {verdict}: there is no such verdict; give one of {words}"))
    })
}

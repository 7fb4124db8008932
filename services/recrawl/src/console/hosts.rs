//! Hosts: what each takes of the budget, and what its pages are worth.

use super::query::Query;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use crate::commands::hosts::state_in_words;
use messages::{HostOrder, HostSelection, word};
use scheduler::HostReport;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Hosts on the screen.
const SHOWN: usize = 50;
const ORDERS: [HostOrder; 5] =
    [HostOrder::Pages, HostOrder::Fetches, HostOrder::Value, HostOrder::Freshness, HostOrder::Name];

#[derive(Serialize)]
pub(super) struct Hosts {
    by: String,
    orders: Vec<String>,
    hosts: Vec<HostLine>,
    known: u64,
}

#[derive(Serialize)]
struct HostLine {
    host: String,
    pages: u64,
    never_fetched: u64,
    fetches: u64,
    changes: u64,
    freshness: String,
    budget: String,
    value: String,
    state: String,
    is_paused: bool,
    is_blocked: bool,
}

impl From<HostReport> for HostLine {
    fn from(report: HostReport) -> Self {
        Self {
            host: report.host.as_str().to_owned(),
            pages: report.pages,
            never_fetched: report.never_fetched,
            fetches: report.fetches,
            changes: report.changes,
            freshness: format!("{:.1} %", 100.0 * report.freshness),
            budget: format!("{:.1} %", 100.0 * report.budget_share),
            value: format!("{:.2}", report.value),
            state: state_in_words(&report),
            is_paused: report.paused,
            is_blocked: report.blocked,
        }
    }
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Hosts, ScreenFailure> {
    let query = Query::read(query, &["by"])?;
    let by = query.get("by").unwrap_or("pages").to_owned();
    let order = HostOrder::deserialize(Value::String(by.clone())).map_err(|_| {
        let words = ORDERS.iter().map(word).collect::<Vec<_>>().join(", ");
        CommandFailure::Input(format!("by {by}: there is no such order; give one of {words}"))
    })?;
    let at_most = if source.caller.hosts.is_some() { i32::MAX } else { SHOWN as i32 };
    // Stages over Kafka list no more.
    let at_most = at_most.min(source.state.most_hosts().unwrap_or(i32::MAX));
    let listing = source.state.hosts(HostSelection { order, at_most })?;
    let seen = |report: &HostReport| source.caller.includes_host(report.host.as_str());
    let known = match source.caller.hosts {
        None => listing.known,
        Some(_) => listing.hosts.iter().filter(|report| seen(report)).count() as u64,
    };
    let hosts = listing.hosts.into_iter().filter(|report| seen(report)).take(SHOWN).map(HostLine::from).collect();
    Ok(Hosts { by, orders: ORDERS.iter().map(word).collect(), hosts, known })
}

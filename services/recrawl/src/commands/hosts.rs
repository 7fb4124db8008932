//! `recrawl hosts`: what each host takes and is worth.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use crate::output::{Format, answer, answers};
use change_rate::Gamma;
use clap::{Args, ValueEnum};
use daemon::WebClock;
use page::{HostName, Timestamp};
use scheduler::{FrontierRules, HostSchedule, ScheduledPage};
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;
use stream::Clock;

/// Arguments of `recrawl hosts`.
#[derive(Args, Debug)]
pub struct HostsArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Number of hosts shown; 0 shows all.
    #[arg(long, default_value_t = 20)]
    top: usize,
    /// What the hosts are ordered by.
    #[arg(long, default_value = "pages")]
    by: HostOrder,
}

/// An order of hosts, from the first to the last shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HostOrder {
    /// Most pages first.
    Pages,
    /// Most fetches first.
    Fetches,
    /// Largest sum of weights first.
    Value,
    /// Stalest first.
    Freshness,
    /// By name.
    Name,
}

/// A host with what its pages add up to.
#[derive(Clone, Debug, Serialize)]
struct HostReport {
    host: HostName,
    /// Number of known pages.
    pages: u64,
    /// Those without a copy.
    never_fetched: u64,
    /// Fetches of its pages so far.
    fetches: u64,
    /// Changes seen.
    changes: u64,
    /// Expected share of current copies, by weight; a page without a copy is not current.
    freshness: f64,
    /// Sum of the weights of its pages.
    value: f64,
    /// Share of all fetches so far.
    budget_share: f64,
    /// Pages that another page is fetched for, because they have the same text.
    mirrors: u64,
    paused: bool,
    blocked: bool,
    /// Not asked before this time, because it failed or asked for it.
    left_alone_until: Option<Timestamp>,
}

/// What is summed up over the pages of a host.
#[derive(Clone, Copy, Debug, Default)]
struct HostSums {
    pages: u64,
    never_fetched: u64,
    fetches: u64,
    changes: u64,
    weight: f64,
    current_weight: f64,
    mirrors: u64,
}

impl HostSums {
    fn add(&mut self, page: &ScheduledPage, rules: &FrontierRules, now: Timestamp) {
        let weight = rules.own_weight(page);
        self.pages += 1;
        self.never_fetched += u64::from(page.last_look_at.is_none());
        self.fetches += page.fetches.max(0).unsigned_abs();
        self.changes += page.changes.max(0).unsigned_abs();
        self.weight += weight;
        self.mirrors += u64::from(page.ties.as_ref().is_some_and(|ties| ties.canonical.is_some()));
        if let Some(at) = page.last_look_at {
            let belief = Gamma::new(page.belief.alpha, page.belief.beta_days);
            let fresh = belief.map_or(0.0, |belief| belief.fresh_probability(now.days_since(at).max(0.0)));
            self.current_weight += weight * fresh;
        }
    }

    fn report(&self, host: HostName, schedule: Option<&HostSchedule>, all_fetches: u64, now: Timestamp) -> HostReport {
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        HostReport {
            host,
            pages: self.pages,
            never_fetched: self.never_fetched,
            fetches: self.fetches,
            changes: self.changes,
            freshness: share(self.current_weight, self.weight),
            value: self.weight,
            budget_share: share(self.fetches as f64, all_fetches as f64),
            mirrors: self.mirrors,
            paused: schedule.is_some_and(|schedule| schedule.paused),
            blocked: schedule.is_some_and(|schedule| schedule.blocked),
            left_alone_until: schedule.map(|schedule| schedule.left_alone_until).filter(|until| *until > now),
        }
    }
}

/// Lists hosts.
pub fn hosts(arguments: &HostsArguments, format: Format) -> Result<(), CommandFailure> {
    let (settings, inspection) = arguments.settings.inspect(arguments.data.as_deref())?;
    let rules = FrontierRules::new(&settings, inspection.partitions().max(1));
    let now = WebClock::new(&settings.clock).now();
    let mut sums: HashMap<HostName, HostSums> = HashMap::new();
    inspection.pages(&mut |_, page| sums.entry(HostName::of(&page.url)).or_default().add(&page, &rules, now))?;
    let schedules = inspection.hosts()?;
    // A blocked host may have no page left.
    schedules.iter().filter(|(_, schedule)| schedule.blocked).for_each(|(host, _)| {
        sums.entry(host.clone()).or_default();
    });
    let all_fetches = sums.values().map(|sums| sums.fetches).sum();
    let report = |(host, sums): (HostName, HostSums)| {
        let schedule = schedules.get(&host);
        sums.report(host, schedule, all_fetches, now)
    };
    let mut reports: Vec<HostReport> = sums.into_iter().map(report).collect();
    reports.sort_by(|a, b| {
        let order = match arguments.by {
            HostOrder::Pages => b.pages.cmp(&a.pages),
            HostOrder::Fetches => b.fetches.cmp(&a.fetches),
            HostOrder::Value => b.value.total_cmp(&a.value),
            HostOrder::Freshness => a.freshness.total_cmp(&b.freshness),
            HostOrder::Name => std::cmp::Ordering::Equal,
        };
        order.then_with(|| a.host.cmp(&b.host))
    });
    let known = reports.len();
    if arguments.top > 0 {
        reports.truncate(arguments.top);
    }
    match format {
        Format::Text => answer(format, &reports, |reports| text(reports, known)),
        Format::Json | Format::Jsonl => answers(format, &reports, |_| String::new()),
    }
}

fn text(reports: &[HostReport], known: usize) -> String {
    let width = reports.iter().map(|report| report.host.as_str().chars().count()).max().unwrap_or(0).max("host".len());
    let mut lines = vec![format!(
        "{:<width$} {:>9} {:>9} {:>8} {:>9} {:>9} {:>8}  state",
        "host", "pages", "fetches", "budget", "value", "freshness", "mirrors"
    )];
    lines.extend(reports.iter().map(|report| {
        let state = match (report.blocked, report.paused, report.left_alone_until) {
            (true, _, _) => "blocked".to_owned(),
            (false, true, _) => "paused".to_owned(),
            (false, false, Some(until)) => format!("left alone until {until}"),
            (false, false, None) => String::new(),
        };
        let line = format!(
            "{:<width$} {:>9} {:>9} {:>6.1} % {:>9.2} {:>7.1} % {:>8}  {state}",
            report.host.as_str(),
            report.pages,
            report.fetches,
            100.0 * report.budget_share,
            report.value,
            100.0 * report.freshness,
            report.mirrors,
        );
        line.trim_end().to_owned()
    }));
    if reports.len() < known {
        lines.push(format!("{} of {known} hosts; --top 0 shows all", reports.len()));
    }
    lines.join("\n")
}

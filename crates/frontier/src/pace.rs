//! How often can each page of a crawl be asked, and what sets it?

use crate::rules::FrontierRules;
use revisit::value::due_after_days;
use settings::Settings;
use std::fmt::{Display, Formatter, Result};
use std::time::Duration;
use sweeps::rules::{PRIOR_ALPHA, PRIOR_BETA_DAYS};

/// The pace of a crawl at its start, before anything is known of its pages. Rules for single pages are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrawlPace {
    pages: u64,
    hosts: u64,
    fetches_per_second: f64,
    /// Shortest time between two requests for a page, and the setting that it follows from.
    shortest: (Duration, &'static str),
    /// The time after which a page of which nothing is known is worth a fetch, if that is longer.
    unknown: Option<Duration>,
}

impl CrawlPace {
    /// The pace of so many pages on so many hosts.
    pub fn of(settings: &Settings, pages: u64, hosts: u64) -> Self {
        let (pages, hosts) = (pages.max(1), hosts.max(1));
        let fetches_per_second = settings.budget.fetches_per_second;
        let span = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let pages_of_host = pages.div_ceil(hosts) as f64;
        let host_rate = settings.budget.host_fetches_per_second.unwrap_or(f64::INFINITY);
        let bounds = [
            (settings.policy.min_interval, "policy.min_interval"),
            (span(pages as f64 / fetches_per_second), "budget.fetches_per_second"),
            (span(pages_of_host * settings.politeness.crawl_delay.as_secs_f64()), "politeness.crawl_delay"),
            (span(pages_of_host / host_rate), "budget.host_fetches_per_second"),
        ];
        let shortest = bounds.into_iter().max_by_key(|(bound, _)| *bound).unwrap_or(bounds[0]);
        let rules = FrontierRules::new(settings, 1);
        let unknown = change_rate::Gamma::new(PRIOR_ALPHA, PRIOR_BETA_DAYS)
            .ok()
            .map(|prior| span(due_after_days(prior, rules.options.theta, 1.0, 1.0, rules.least_worth_days) * 86_400.0));
        Self { pages, hosts, fetches_per_second, shortest, unknown: unknown.filter(|unknown| *unknown > shortest.0) }
    }
}

impl Display for CrawlPace {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let (pages, hosts) = (counted(self.pages, "page"), counted(self.hosts, "host"));
        let (shortest, set_by) = self.shortest;
        let (budget, shortest) = (self.fetches_per_second, rounded(shortest));
        write!(
            out,
            "{pages} on {hosts}, at most {budget} requests a second: each page can be asked every {shortest} ({set_by})"
        )?;
        match self.unknown {
            Some(unknown) => write!(
                out,
                ", and is asked every {} while nothing is known of its changes (policy.least_worth)",
                rounded(unknown)
            ),
            None => Ok(()),
        }
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A time span in its largest unit of which there are two.
fn rounded(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    let units = [(86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")];
    match units.into_iter().find(|(unit, _)| seconds >= 2.0 * unit) {
        Some((unit, name)) => format!("{:.0} {name}", seconds / unit),
        None => format!("{seconds:.0} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::Layers;

    #[test]
    fn the_pace_of_a_crawl_names_what_sets_it() {
        let check = |sets: &[(&str, &str)], pages, hosts, expected: &str| {
            let overrides: Vec<_> = sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            let settings =
                Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
            assert_eq!(CrawlPace::of(&settings, pages, hosts).to_string(), expected);
        };
        check(
            &[],
            30,
            1,
            "30 pages on 1 host, at most 10 requests a second: each page can be asked every 5 minutes \
             (policy.min_interval), and is asked every 4 hours while nothing is known of its changes \
             (policy.least_worth)",
        );
        check(
            &[("policy.least_worth", "0s")],
            1_200,
            2,
            "1200 pages on 2 hosts, at most 10 requests a second: each page can be asked every 10 minutes \
             (politeness.crawl_delay)",
        );
        check(
            &[],
            5_000_000,
            40_000,
            "5000000 pages on 40000 hosts, at most 10 requests a second: each page can be asked every 6 days \
             (budget.fetches_per_second)",
        );
        check(
            &[("policy.name", "uniform"), ("budget.host_fetches_per_second", "0.01")],
            1,
            1,
            "1 page on 1 host, at most 10 requests a second: each page can be asked every 5 minutes \
             (policy.min_interval)",
        );
    }
}

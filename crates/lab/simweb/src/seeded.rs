//! A web from a seed: hosts, pages, and Poisson change times at known rates.

use crate::seeds::{hash, numbers};
use crate::trace::{ChangeTrace, HistoryState, PageHistory, StateContent, TimeWindow};
use chance::{Draws, SplitMix64};
use page::Timestamp;
use std::sync::Arc;

/// Change rates of pages, in changes a day.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeRates {
    /// The same for all.
    Same(f64),
    /// Classes as (share of the pages, rate); shares are scaled to add up to 1. Rate 0 never changes.
    Classes(Vec<(f64, f64)>),
    /// Log-normal over the pages.
    LogNormal {
        /// Median rate in changes a day.
        median_per_day: f64,
        /// Standard deviation of the natural logarithm of the rate.
        log_deviation: f64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostNames {
    /// `host-0001.test` …: the crawler must resolve `*.test` to the server's address and port.
    Test,
    /// `127.0.0.1`, `127.0.0.2` … at the server's port: reachable without a resolver. Each is a listening socket.
    Loopback,
}

/// A web made from a seed. Page 0 of a host is `/`, page `i` is `/section-S/page-I.html`. Every page links to up to 16
/// others, so that all pages of a host can be reached from `/`.
#[derive(Clone, Debug)]
pub struct SeededConfig {
    pub hosts: usize,
    pub pages_per_host: usize,
    pub host_names: HostNames,
    pub rates: ChangeRates,
    /// Share of the pages that first appear at a random time in the window.
    pub appearing_share: f64,
    /// Share of the pages that vanish for good at a random time in the window.
    pub vanishing_share: f64,
    /// Start of the window, in virtual time.
    pub start: Timestamp,
    /// Days for which change times are drawn; afterwards nothing changes.
    pub days: f64,
    /// Same seed, same web.
    pub seed: u64,
}

impl Default for SeededConfig {
    fn default() -> Self {
        Self {
            hosts: 10,
            pages_per_host: 100,
            host_names: HostNames::Test,
            rates: ChangeRates::LogNormal { median_per_day: 0.1, log_deviation: 1.5 },
            appearing_share: 0.0,
            vanishing_share: 0.0,
            start: Timestamp::from_secs(1_700_000_000),
            days: 365.0,
            seed: 1,
        }
    }
}

/// Sections per host: enough that a `Disallow` on one hides a tenth of the pages.
const SECTIONS: usize = 10;

impl SeededConfig {
    /// Draws the change times.
    pub fn trace(&self) -> ChangeTrace {
        let window = TimeWindow::days_from(self.start, self.days);
        let html: Arc<str> = "text/html".into();
        let mut pages = Vec::with_capacity(self.hosts * self.pages_per_host);
        for host_number in 1..=self.hosts {
            let host: Arc<str> = match self.host_names {
                HostNames::Test => format!("host-{host_number:04}.test").into(),
                HostNames::Loopback => loopback_name(host_number - 1).into(),
            };
            for page_number in 0..self.pages_per_host {
                let path: Arc<str> = match page_number {
                    0 => "/".into(),
                    _ => format!("/section-{}/page-{page_number:05}.html", page_number % SECTIONS).into(),
                };
                // The stream belongs to the page, so adding hosts or pages leaves the others unchanged.
                let mut stream = numbers(self.seed ^ hash(&[&format!("{host_number}"), &path]));
                let rate = self.rates.draw(&mut stream);
                pages.push(PageHistory {
                    states: self.states(rate, page_number == 0, window, &mut stream),
                    host: Arc::clone(&host),
                    path,
                    media_type: Arc::clone(&html),
                    change_rate_per_day: Some(rate),
                });
            }
        }
        ChangeTrace { window, pages }
    }

    fn states(&self, rate: f64, is_root: bool, window: TimeWindow, stream: &mut SplitMix64) -> Vec<HistoryState> {
        let (appearing, vanishing) = (stream.uniform() < self.appearing_share, stream.uniform() < self.vanishing_share);
        // The root stays: without it no page of the host could be found.
        let born = match appearing && !is_root {
            true => window.start.plus_days(stream.uniform() * self.days),
            false => window.start.plus_days(-(1.0 + stream.exponential() / rate.max(1.0 / 365.0))),
        };
        let dies = match vanishing && !is_root {
            true => born.max(window.start).plus_days(stream.uniform() * window.end.days_since(born.max(window.start))),
            false => Timestamp::MAX,
        };
        let mut states = vec![HistoryState { since: whole_second(born), content: StateContent::Generated }];
        // At rate zero the first gap is infinite, and time saturates at its end.
        let mut next = |at: Timestamp| at.plus_days(stream.exponential() / rate);
        let mut at = next(born.max(window.start));
        while at < window.end && at < dies {
            push(&mut states, at, StateContent::Generated);
            at = next(at);
        }
        if dies < window.end {
            push(&mut states, dies, StateContent::Gone);
        }
        states
    }
}

/// Appends a state at the next free whole second.
fn push(states: &mut Vec<HistoryState>, at: Timestamp, content: StateContent) {
    let earliest = states.last().map_or(Timestamp::MIN, |last| last.since + page::SECOND);
    states.push(HistoryState { since: whole_second(at).max(earliest), content });
}

fn loopback_name(host: usize) -> String {
    format!("127.0.{}.{}", host / 250, host % 250 + 1)
}

fn whole_second(moment: Timestamp) -> Timestamp {
    Timestamp::from_secs(moment.as_secs())
}

impl ChangeRates {
    fn draw(&self, stream: &mut SplitMix64) -> f64 {
        match self {
            Self::Same(rate) => *rate,
            Self::Classes(classes) => {
                let mut left = stream.uniform() * classes.iter().map(|(share, _)| share).sum::<f64>();
                for (share, rate) in classes {
                    left -= share;
                    if left < 0.0 {
                        return *rate;
                    }
                }
                classes.last().map_or(0.0, |(_, rate)| *rate)
            }
            Self::LogNormal { median_per_day, log_deviation } => {
                median_per_day * (log_deviation * stream.normal()).exp()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_is_the_same_web_and_another_is_not() {
        let config = SeededConfig { appearing_share: 0.2, vanishing_share: 0.2, ..SeededConfig::default() };
        assert_eq!(config.trace(), config.trace());
        assert_ne!(config.trace(), SeededConfig { seed: 2, ..config.clone() }.trace());
    }

    #[test]
    fn pages_change_at_the_rate_they_were_given() {
        let config = SeededConfig { rates: ChangeRates::Same(0.5), ..SeededConfig::default() };
        let changes: usize = config.trace().pages.iter().map(|page| page.states.len() - 1).sum();
        let expected = 0.5 * 365.0 * 1_000.0;
        // Four standard deviations of a Poisson count.
        assert!((changes as f64 - expected).abs() < 4.0 * expected.sqrt(), "{changes} changes, expected {expected}");
    }

    #[test]
    fn a_page_at_rate_zero_never_changes() {
        let trace = SeededConfig { rates: ChangeRates::Same(0.0), ..SeededConfig::default() }.trace();
        assert!(trace.pages.iter().all(|page| page.states.len() == 1));
    }

    #[test]
    fn loopback_hosts_are_valid_addresses_however_many() {
        let check = |host, name: &str| assert_eq!(loopback_name(host), name);
        check(0, "127.0.0.1");
        check(249, "127.0.0.250");
        check(250, "127.0.1.1");
    }

    #[test]
    fn states_rise_by_whole_seconds_even_when_changes_crowd() {
        let config = SeededConfig {
            rates: ChangeRates::Same(50_000.0),
            hosts: 1,
            pages_per_host: 1,
            days: 1.0,
            ..SeededConfig::default()
        };
        let states = &config.trace().pages[0].states;
        assert!(states.windows(2).all(|pair| pair[1].since >= pair[0].since + page::SECOND));
    }

    #[test]
    fn appearing_and_vanishing_pages_do_so_inside_the_window() {
        let config = SeededConfig { appearing_share: 0.5, vanishing_share: 0.5, ..SeededConfig::default() };
        let trace = config.trace();
        let late = trace.pages.iter().filter(|page| !page.exists_at(trace.window.start)).count();
        let gone = trace.pages.iter().filter(|page| !page.exists_at(trace.window.end)).count();
        assert!((400..600).contains(&late) && (400..600).contains(&gone), "{late} late, {gone} gone");
        assert!(trace.pages.iter().filter(|page| &*page.path == "/").all(|page| page.exists_at(trace.window.start)));
    }
}

//! Why a page is, or is not, due: read from a partition's stores beside the running loop, by the code that decides.

use crate::forecast::{place_of, restore};
use crate::frontier::Frontier;
use crate::hint_record::{HintRecord, KINDS};
use crate::hints::{Lister, value_of_list, value_with_hints};
use crate::hosts::Hosts;
use crate::rules::Rules;
use crate::state::{HOSTS, HostSchedule, OUTLOOK, PAGES, ScheduledPage};
use crate::ties::weight_of;
use change_rate::Gamma;
use messages::{HintKind, Message};
use mirrors::PROBE_EVERY;
use page::{CanonicalUrl, Timestamp};
use revisit::columns::{Index, Slot, Worth};
use serde::Serialize;
use std::ops::ControlFlow;
use stream::{StateStore, StoreError};
use sweeps::{GroupKind, GroupOutlook, Outlook};

/// Nobody plans further ahead.
const HORIZON_DAYS: f64 = 3_650.0;

/// The decision about one page. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The page.
    pub url: String,
    /// The revisit policy that decides.
    pub policy: String,
    /// Whether it may be fetched: `never_fetched`, `ready`, `in_flight`, `held`.
    pub state: &'static str,
    /// When its value reaches the price as far as is known now; absent when that is never, or not for the next ten years.
    pub due_at: Option<String>,
    /// What a fetch now is worth, in days of weighted freshness; absent without a copy.
    pub crawl_value: Option<f64>,
    /// The value at which pages are fetched now; absent before it was first worked out.
    pub price: Option<f64>,
    /// Importance; 1 is ordinary.
    pub weight: f64,
    /// What is believed of its change rate, whatever the cause of the changes.
    pub change_rate_per_day: RateRange,
    /// Probability that the copy is current; absent without a copy.
    pub expected_freshness: Option<f64>,
    /// Days since the last look.
    pub days_since_look: Option<f64>,
    /// Changes of its own to be expected since the last look.
    pub own_hazard: Option<f64>,
    /// The groups it changes together with.
    pub sweep_hazards: Vec<SweepHazard>,
    /// What it is worth as the first look into groups long not looked into; part of the value it competes with.
    pub sentinel_value: Option<f64>,
    /// Weight of the belief with sweeps against own rates alone at its site, 0 to 1.
    pub trust: Option<f64>,
    /// Its host.
    pub host: HostCap,
    /// What hints since the last look say.
    pub hints: Hints,
    /// The page that is fetched for it, because its text is the same.
    pub mirror_of: Option<String>,
    /// How many pages it is fetched for, whose weight it carries.
    pub mirrors: usize,
    /// The same in plain words.
    pub reasons: Vec<String>,
}

/// A believed change rate.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RateRange {
    /// Expected changes per day.
    pub mean: f64,
    /// With 5 % probability it is below.
    pub p05: f64,
    /// With 5 % probability it is above.
    pub p95: f64,
}

/// One group of the page.
#[derive(Clone, Debug, Serialize)]
pub struct SweepHazard {
    /// What its pages have in common.
    pub group: &'static str,
    /// How many they are.
    pub pages: u32,
    /// -ln of the probability that what changed the group since the last look spared the page.
    pub hazard: f64,
    /// Expected share of its pages changed at once per day.
    pub per_day: f64,
}

/// What limits fetches from the page's host.
#[derive(Clone, Debug, Serialize)]
pub struct HostCap {
    /// Its name.
    pub name: String,
    /// No request before this.
    pub next_permitted_at: Option<String>,
    /// Milliseconds between two requests.
    pub crawl_delay_ms: Option<i64>,
    /// An operator paused it.
    pub paused: bool,
}

/// Hints since the last look, and what those of the host are worth.
#[derive(Clone, Debug, Serialize)]
pub struct Hints {
    /// How many kinds of hints speak of a change.
    pub kinds: u32,
    /// Probability that they are right.
    pub probability: f64,
    /// Kinds that were ever judged by a look at a page of the host.
    pub host: Vec<HintQuality>,
    /// Known pages that this page lists, when it is a sitemap or feed.
    pub listed: i64,
}

/// How far hints of one kind can be trusted on a host.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HintQuality {
    /// The kind: `sitemap`, `feed`, `ping`, `websub`.
    pub kind: HintKind,
    /// Probability that there is a change behind a hint that would not be there without it.
    pub precision: f64,
    /// Share of changes that are announced.
    pub recall: f64,
}

/// A reading of the stores that failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExplainError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What it holds.
    #[error("{0}")]
    Record(String),
}

/// What is known of one site, put together as the running scheduler has it.
struct Site {
    frontier: Frontier,
    outlook: Outlook,
    slot: Slot,
    page: ScheduledPage,
    index: Index,
    hint_hazard: f64,
    hints: HintRecord,
    /// What the price is taken for where none was worked out.
    price: f64,
}

/// Explains the decision about a page; `None` when it is not known. `price`: the last one that was published.
///
/// # Errors
/// When the store cannot be read.
pub fn explain(
    store: &dyn StateStore,
    rules: &Rules,
    url: &CanonicalUrl,
    price: Option<f64>,
    now: Timestamp,
) -> Result<Option<Explanation>, ExplainError> {
    let mut outlook = Outlook::default();
    let mut problem = None;
    store.scan(OUTLOOK.0, b"", &mut |key, value| match restore(&mut outlook, key, value) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            problem = Some(error);
            ControlFlow::Break(())
        }
    })?;
    if let Some(problem) = problem {
        return Err(ExplainError::Record(problem));
    }
    let id = url.page_id();
    let schedule = match store.get(HOSTS.0, url.host().as_str().as_bytes())? {
        Some(bytes) => Some(HostSchedule::decode(&bytes).map_err(|error| ExplainError::Record(error.to_string()))?),
        None => None,
    };
    let hints = schedule.as_ref().map(HintRecord::from_kept).unwrap_or_default();
    let mut frontier = Frontier::default();
    let mut hosts = Hosts::default();
    let host = hosts.number(&url.host());
    hosts.gate_mut(host).hints = hints.clone();
    let mut found = None;
    let mut problem = None;
    // Siblings matter: they share the groups, and the last look into these.
    let site = url.site_key();
    store.scan(PAGES.0, b"", &mut |key, value| match (<[u8; 16]>::try_from(key), ScheduledPage::decode(value)) {
        (Ok(key), Ok(page)) => {
            if page.url.site_key() == site {
                let key = page::PageId(key);
                let slot = frontier.set(key, &page, &mut hosts, rules, &outlook);
                if key == id {
                    found = Some((slot, page));
                }
            }
            ControlFlow::Continue(())
        }
        (_, Err(error)) => {
            problem = Some(error.to_string());
            ControlFlow::Break(())
        }
        (Err(_), _) => {
            problem = Some("a key is no page id".to_owned());
            ControlFlow::Break(())
        }
    })?;
    let Some((slot, page)) = found else {
        return problem.map_or(Ok(None), |problem| Err(ExplainError::Record(problem)));
    };
    frontier.columns.refresh(&outlook, usize::MAX);
    let (hint_hazard, index) = (page.hint_hazard, rules.index);
    let known = Site { frontier, outlook, slot, page, index, hint_hazard, hints, price: price.unwrap_or(0.0) };
    Ok(Some(known.explain(rules, schedule, price, now)))
}

impl Site {
    fn worth(&self, at: Timestamp) -> Option<Worth> {
        self.frontier.columns.worth(self.slot, &self.index, &self.outlook, at)
    }

    /// What the page competes with at a moment.
    fn value(&self, at: Timestamp) -> f64 {
        self.worth(at).map_or(0.0, |worth| {
            let own = if self.hint_hazard > 0.0 {
                value_with_hints(&worth, &self.index, self.hint_hazard)
            } else {
                worth.value
            };
            let listed = Lister::of(&self.page).filter(|_| self.price > 0.0).map_or(0.0, |list| {
                value_of_list(&worth, &self.index, list.pages, self.hints.precision(list.kind), self.price)
            });
            (own + worth.sentinel_value).max(listed)
        })
    }

    /// Days from now until the page is worth the price, at present knowledge; `None` when not for the next ten years.
    fn due_after_days(&self, price: f64, now: Timestamp) -> Option<f64> {
        if self.value(now) >= price {
            return Some(0.0);
        }
        let reached = |days: f64| self.value(now.plus_days(days)) >= price;
        let (mut low, mut high) = (0.0, 1.0 / 1_440.0);
        while !reached(high) {
            (low, high) = (high, high * 2.0);
            if low > HORIZON_DAYS {
                return None;
            }
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if reached(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    fn qualities(&self) -> Vec<HintQuality> {
        let heard = (0..KINDS.len()).filter(|kind| self.hints.has_heard(*kind));
        let quality = |kind: usize| HintQuality {
            kind: KINDS[kind].0,
            precision: self.hints.precision(kind),
            recall: self.hints.recall(kind),
        };
        heard.map(quality).collect()
    }

    fn sweep_hazards(&self, last: Timestamp, now: Timestamp) -> Vec<SweepHazard> {
        let place = place_of(&self.page.url);
        let groups = self.outlook.groups_of(&place);
        let shown = |group: &GroupOutlook| SweepHazard {
            group: kind_of(&place.groups, group.group),
            pages: group.pages,
            hazard: group.hazard.between(last.as_days(), now.as_days()),
            per_day: group.hazard.per_day(),
        };
        groups.as_slice().iter().filter_map(|group| self.outlook.group(*group)).map(shown).collect()
    }

    fn explain(
        &self,
        rules: &Rules,
        schedule: Option<HostSchedule>,
        price: Option<f64>,
        now: Timestamp,
    ) -> Explanation {
        let page = &self.page;
        let worth = self.worth(now);
        let live = matches!(self.index, Index::Live { .. });
        let belief = crate::siblings::belief_of(page, place_of(&page.url).cell, rules, &self.outlook);
        let believed = match &worth {
            Some(worth) if live => worth.plain,
            _ => belief,
        };
        let state = match page {
            page if page.lease_until.is_some() => "in_flight",
            page if page.held_until.is_some_and(|until| until > now) => "held",
            page if page.last_look_at.is_none() => "never_fetched",
            _ => "ready",
        };
        let scored = rules.scores_pages();
        let due_days = match (page.last_look_at, price) {
            _ if page.refetch || page.probe => Some(0.0),
            (None, _) => Some(0.0),
            (Some(_), Some(price)) if scored => self.due_after_days(price, now),
            _ => None,
        };
        let permitted_at = schedule.as_ref().map(|schedule| schedule.next_permitted_at);
        let waits = [page.held_until, permitted_at].into_iter().flatten().max();
        let due_at = due_days.map(|days| now.plus_days(days).max(waits.unwrap_or(Timestamp::MIN)).max(now));
        let sweep_hazards = match page.last_look_at {
            Some(last) if live => self.sweep_hazards(last, now),
            _ => Vec::new(),
        };
        let probability = -(-page.hint_hazard).exp_m1();
        let ties = page.ties.as_ref().filter(|_| rules.mirrors);
        let mut explanation = Explanation {
            url: page.url.to_string(),
            policy: rules.policy.name().to_owned(),
            state,
            due_at: due_at.map(|at| at.to_string()),
            crawl_value: worth.map(|_| self.value(now)),
            price,
            weight: weight_of(page, rules),
            change_rate_per_day: RateRange {
                mean: believed.mean(),
                p05: believed.quantile(0.05),
                p95: believed.quantile(0.95),
            },
            expected_freshness: worth.map(|worth| worth.fresh_probability * (-page.hint_hazard).exp()),
            days_since_look: worth.map(|worth| worth.days),
            own_hazard: worth.map(|worth| hazard(worth.own, worth.days)),
            sweep_hazards,
            sentinel_value: worth.filter(|_| live).map(|worth| worth.sentinel_value),
            trust: worth.filter(|_| live).map(|worth| worth.trust),
            host: HostCap {
                name: page.url.host().to_string(),
                next_permitted_at: permitted_at.filter(|at| *at > Timestamp::MIN).map(|at| at.to_string()),
                crawl_delay_ms: schedule.as_ref().map(|schedule| schedule.crawl_delay_ms),
                paused: schedule.as_ref().is_some_and(|schedule| schedule.paused),
            },
            hints: Hints { kinds: page.hinted.count_ones(), probability, host: self.qualities(), listed: page.listed },
            mirror_of: ties.and_then(|ties| ties.canonical.as_ref()).map(|canonical| canonical.url.to_string()),
            mirrors: ties.map_or(0, |ties| ties.followers.len()),
            reasons: Vec::new(),
        };
        explanation.reasons = self.reasons(&explanation, rules, schedule.as_ref(), now);
        explanation
    }

    fn reasons(
        &self,
        explanation: &Explanation,
        rules: &Rules,
        schedule: Option<&HostSchedule>,
        now: Timestamp,
    ) -> Vec<String> {
        let page = &self.page;
        let mut reasons = Vec::new();
        match explanation.state {
            "in_flight" => reasons.push("A request for it is under way.".to_owned()),
            "never_fetched" => {
                reasons.push("It was never fetched; such pages come first, the oldest first.".to_owned())
            }
            "held" if page.failures > 0 => {
                reasons.push(format!("Its last {} fetches in a row failed, so it waits.", page.failures));
            }
            "held" if page.probe => {}
            "held" => reasons.push("It was looked at just now (policy.min_interval).".to_owned()),
            _ => {}
        }
        if page.probe {
            reasons.push("Its last look left something open (gone or not, error or not, noise or not), or a page with its text has changed.".to_owned());
        }
        if let Some(canonical) = &explanation.mirror_of {
            let passes = page.ties.as_ref().map_or(0, |ties| ties.passes);
            reasons.push(format!(
                "Its text is that of {canonical}, which is fetched for both: of {PROBE_EVERY} turns it gets one, to see \
                 whether that is still so, and {passes} have passed."
            ));
        }
        if explanation.mirrors > 0 {
            let mirrors = explanation.mirrors;
            reasons.push(format!("It is fetched also for {mirrors} pages with its text, and carries their weight."));
        }
        if page.refetch {
            reasons.push("It is wanted next, whatever it is worth.".to_owned());
        }
        if explanation.host.paused {
            reasons.push("An operator paused its host; nothing is fetched from it until it is resumed.".to_owned());
        } else if schedule.is_some_and(|schedule| schedule.next_permitted_at > now) {
            reasons.push("Its host may not be visited yet (crawl delay).".to_owned());
        }
        let Some(worth) = self.worth(now) else { return reasons };
        if !rules.scores_pages() {
            let policy = &explanation.policy;
            reasons.push(format!("The policy {policy} keeps its plan in the running process; it cannot be told here."));
            return reasons;
        }
        if matches!(self.index, Index::Uniform) {
            reasons.push(format!("It was looked at {:.2} days ago; the longest ago comes next.", worth.days));
        } else {
            reasons.push(format!(
                "It was looked at {:.2} days ago and changes {:.3} times a day, so its copy is current with {:.0} %.",
                worth.days,
                explanation.change_rate_per_day.mean,
                100.0 * explanation.expected_freshness.unwrap_or(0.0),
            ));
        }
        let strongest = explanation.sweep_hazards.iter().max_by(|a, b| a.hazard.total_cmp(&b.hazard));
        if let Some(sweep) = strongest.filter(|sweep| sweep.hazard >= 0.05) {
            reasons.push(format!(
                "Pages of its group ({}, {} pages) have changed since: by that alone it has with {:.0} %.",
                sweep.group,
                sweep.pages,
                -100.0 * (-sweep.hazard).exp_m1(),
            ));
        }
        if explanation.hints.kinds > 0 {
            let percent = 100.0 * explanation.hints.probability;
            reasons.push(format!("Hints say it has changed; such hints are right with {percent:.0} %."));
        }
        for quality in &explanation.hints.host {
            reasons.push(format!(
                "Hints of its host ({}) tell more than chance with {:.0} % and of {:.0} % of the changes.",
                messages::word(&quality.kind),
                100.0 * quality.precision,
                100.0 * quality.recall,
            ));
        }
        if explanation.hints.listed > 0 {
            let pages = explanation.hints.listed;
            reasons.push(format!("It lists {pages} known pages; a look is worth what it may say of them."));
        }
        if worth.sentinel_value > 0.5 * explanation.crawl_value.unwrap_or(0.0).max(explanation.price.unwrap_or(0.0)) {
            reasons.push(
                "Nobody has looked into its groups for a while: a first look would speak for all of them.".to_owned(),
            );
        }
        match (explanation.crawl_value, explanation.price) {
            (_, None) => reasons.push("No price was worked out yet.".to_owned()),
            (Some(value), Some(price)) if value >= price => {
                let (value, price) = (shown(value), shown(price));
                reasons.push(format!("A fetch is worth {value}, which reaches the price of {price}: it is due."));
            }
            (Some(value), Some(price)) if explanation.due_at.is_some() => {
                let (value, price) = (shown(value), shown(price));
                reasons.push(format!("A fetch is worth {value}, below the price of {price}: it is not due yet."));
            }
            (Some(value), Some(price)) => reasons.push(format!(
                "A fetch is worth {} and does not reach the price of {} in ten years: it changes too fast or matters too \
                 little. It is looked at all the same once it was left for policy.max_interval.",
                shown(value),
                shown(price),
            )),
            (None, Some(_)) => {}
        }
        reasons
    }
}

/// A value for people.
fn shown(value: f64) -> String {
    if value == 0.0 || value >= 1e-3 { format!("{value:.3}") } else { format!("{value:.1e}") }
}

/// Expected changes of its own.
fn hazard(own: Gamma, days: f64) -> f64 {
    own.alpha() * (days / own.beta_days()).ln_1p()
}

fn kind_of(groups: &[u64], hash: u64) -> &'static str {
    let kind = GroupKind::ALL.into_iter().zip(groups).find(|(_, group)| **group == hash);
    match kind.map(|(kind, _)| kind) {
        Some(GroupKind::Site) => "site",
        Some(GroupKind::Host) => "host",
        Some(GroupKind::Directory) => "directory",
        Some(GroupKind::Subdirectory) => "subdirectory",
        Some(GroupKind::FileType) => "file type",
        Some(GroupKind::DirectoryFileType) => "directory and file type",
        Some(GroupKind::FileName) => "file name",
        None => "unknown",
    }
}

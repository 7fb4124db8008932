//! The hosts' gates: when the next request may go to each host, by host name, whatever the scheme and port. The next
//! permitted time is stored, so neither a restart nor a rebalance causes a burst.

use crate::hint_kinds;
use crate::rules::FrontierRules;
use messages::{ContentEvidence, Look, RetryRule, TroubleNotice, impl_message};
use page::{HostName, Timestamp};
use politeness::{CrawlDelay, DelayRule, HostBackoff};
use revisit::hints::HintRecord;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The stored record of a host. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostSchedule {
    pub next_permitted_at: Timestamp,
    pub crawl_delay_ms: i64,
    pub paused: bool,
    pub blocked: bool,
    pub troubles: i32,
    pub left_alone_until: Timestamp,
    pub hints_right: Vec<f32>,
    pub hints_wrong: Vec<f32>,
    pub changes_hinted: Vec<f32>,
    pub changes_unhinted: Vec<f32>,
    pub rests_unhinted: Vec<f32>,
}

impl_message!(HostSchedule, "HostSchedule", include_str!("../../../schemas/state/HostSchedule.avsc"));

/// Result of a request, as far as it concerns the host: an answer, or that there was none.
pub(crate) struct HostAnswer {
    fetched_at: Timestamp,
    latency: Duration,
    health: HostHealth,
    retry_after: Option<Duration>,
    /// Whether the host keeps crawlers out.
    is_challenge: bool,
    /// The origin that was asked, and the crawl delay in its robots.txt.
    origin: Box<str>,
    robots_delay: Option<Duration>,
    /// Whether the host said anything.
    was_received: bool,
    /// In \[0, 1), the same for the same page.
    chance: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HostHealth {
    Good,
    Trouble,
    /// The result concerns the page only.
    Unclear,
}

impl HostAnswer {
    pub(crate) fn of(look: &Look) -> Self {
        let health = match look.outcome.meaning() {
            _ if is_trouble(look) => HostHealth::Trouble,
            meaning if meaning.content != ContentEvidence::Nothing => HostHealth::Good,
            _ => HostHealth::Unclear,
        };
        // With a good status it is known by the body alone, and a host may serve the pages of others.
        let is_challenge = look.outcome.meaning().retry == RetryRule::Weekly
            && look.status.is_none_or(|status| !(200..300).contains(&status));
        Self { health, is_challenge, ..Self::noticed(&TroubleNotice::of(look)) }
    }

    pub(crate) fn noticed(notice: &TroubleNotice) -> Self {
        Self {
            fetched_at: notice.fetched_at,
            latency: Duration::from_millis(notice.latency_ms.max(0) as u64),
            health: HostHealth::Trouble,
            is_challenge: false,
            retry_after: notice.retry_after_s.map(|seconds| Duration::from_secs(seconds.max(0) as u64)),
            origin: notice.url.origin().into(),
            robots_delay: notice.robots_crawl_delay_ms.map(|delay| Duration::from_millis(delay.max(0) as u64)),
            was_received: notice.status.is_some(),
            chance: f64::from(notice.page_id.0[0]) / 256.0,
        }
    }
}

/// Whether a look shows that the host that answered is failing, or wants to be left alone.
pub(crate) fn is_trouble(look: &Look) -> bool {
    look.outcome.meaning().host_trouble.is_shown_by(look.status, look.retry_after_s)
}

/// When a host may be asked, and how many requests it may have in flight.
pub(crate) struct HostGate {
    pub(crate) host: HostName,
    /// The delay of the operator's rule for it.
    own_delay: Option<CrawlDelay>,
    pub(crate) next_permitted_at: Timestamp,
    pub(crate) crawl_delay: Duration,
    /// The origin whose robots.txt asks for the longest delay. Lost at a restart; the delay is stored.
    slowest: Option<Box<(Box<str>, Duration)>>,
    pub(crate) paused: bool,
    pub(crate) blocked: bool,
    pub(crate) in_flight: u32,
    /// Time the host took for its last answer, on the clock of the web. Lost at a restart; the delay learned from it is
    /// stored.
    pub(crate) response_time: Duration,
    pub(crate) backoff: HostBackoff,
    /// How often hints about its pages were right. Few hosts have any.
    hints: Option<Box<HintRecord>>,
    pub(crate) pages: u32,
    /// Whether its schedule is in the table.
    pub(crate) is_stored: bool,
    /// Without pages: the end of its rest, as it was when the last page left.
    pub(crate) idle_until: Option<Timestamp>,
}

impl HostGate {
    pub(crate) fn new(host: HostName, rules: &FrontierRules) -> Self {
        Self {
            own_delay: rules.own_delay_of(host.as_str()),
            host,
            next_permitted_at: Timestamp::MIN,
            crawl_delay: Duration::ZERO,
            slowest: None,
            paused: false,
            blocked: false,
            in_flight: 0,
            response_time: Duration::ZERO,
            backoff: HostBackoff::default(),
            hints: None,
            pages: 0,
            is_stored: false,
            idle_until: None,
        }
    }

    /// Whether an operator paused or blocked the host.
    pub(crate) fn is_stopped(&self) -> bool {
        self.paused || self.blocked
    }

    /// Whether nothing but a rest is to be kept of it.
    pub(crate) fn is_idle(&self) -> bool {
        self.pages == 0 && !self.is_stopped()
    }

    /// Until then it asked to be left alone, or may still answer a request for a page that has gone.
    pub(crate) fn rests_until(&self, rules: &FrontierRules) -> Timestamp {
        (self.next_permitted_at + rules.lease_timeout).max(self.backoff.until)
    }

    /// How often hints about its pages were right.
    pub(crate) fn hints(&self) -> &HintRecord {
        static NONE: HintRecord = HintRecord::NONE;
        self.hints.as_deref().unwrap_or(&NONE)
    }

    pub(crate) fn hints_mut(&mut self) -> &mut HintRecord {
        self.hints.get_or_insert_default()
    }

    /// The delays that the operator set.
    fn delay_rule(&self, rules: &FrontierRules) -> DelayRule {
        self.own_delay.map_or(rules.delay, |delay| rules.delay.with_configured(delay))
    }

    /// Pause between the end of a request to the host and the start of the next.
    pub(crate) fn delay(&self, rules: &FrontierRules) -> Duration {
        let configured = self.delay_rule(rules).delay_after(None, Duration::ZERO).as_duration();
        self.crawl_delay.max(configured).max(rules.host_interval)
    }

    /// How long one request keeps the host busy: it answers, and is then left alone.
    pub(crate) fn time_per_request(&self, rules: &FrontierRules) -> Duration {
        self.delay(rules) + self.response_time
    }

    /// Records an answer: the host's speed, the crawl delay of its robots.txt, its back-off. A delay that the host
    /// asked for is never shortened by an answer that does not say so.
    pub(crate) fn answered(&mut self, answer: &HostAnswer, now: Timestamp, rules: &FrontierRules) {
        // A host that could not be reached may not have been asked for its robots.txt either.
        let is_complete = answer.was_received || answer.robots_delay.is_some();
        if is_complete {
            self.take_delay(answer);
        }
        let robots_delay = self.slowest.as_ref().map(|slowest| slowest.1);
        let delay = self.delay_rule(rules).delay_after(robots_delay, answer.latency).as_duration();
        self.crawl_delay = if is_complete { delay } else { self.crawl_delay.max(delay) };
        if !answer.latency.is_zero() {
            self.response_time = rules.web_time(answer.latency);
        }
        let answered_at = answer.fetched_at + rules.web_time(answer.latency);
        match answer.health {
            HostHealth::Trouble => {
                // An answer to a request that was under way when the pause began adds nothing new, and neither does a repeated one.
                let taken_at = if answered_at < self.backoff.until { answered_at } else { now };
                let HostAnswer { retry_after, chance, .. } = *answer;
                self.backoff = match answer.is_challenge {
                    true => self.backoff.after_challenge(&rules.backoff, retry_after, chance, taken_at),
                    false => self.backoff.after_trouble(&rules.backoff, retry_after, chance, taken_at),
                };
                self.leave_alone(self.backoff.until);
            }
            HostHealth::Good => self.backoff = self.backoff.after_answer(now),
            HostHealth::Unclear => {}
        }
        self.leave_alone(answered_at + self.crawl_delay);
    }

    /// Takes in the delay that the robots.txt of an origin asks for. Schemes and ports have files of their own; the
    /// longest delay counts.
    fn take_delay(&mut self, answer: &HostAnswer) {
        let is_outdone = self.slowest.as_deref().is_some_and(|(origin, delay)| {
            *origin != answer.origin && answer.robots_delay.is_none_or(|reported| reported <= *delay)
        });
        if !is_outdone {
            self.slowest = answer.robots_delay.map(|delay| Box::new((answer.origin.clone(), delay)));
        }
    }

    /// Forgets failures and challenges, and the rest that follows them. Returns whether there was one. The host's last request lies
    /// further back than its crawl delay, since rests are longer.
    pub(crate) fn end_rest(&mut self) -> bool {
        let backoff = std::mem::take(&mut self.backoff);
        if self.next_permitted_at == backoff.until {
            self.next_permitted_at = Timestamp::MIN;
        }
        backoff != HostBackoff::default()
    }

    /// Books that no request may go to the host before a time.
    pub(crate) fn leave_alone(&mut self, until: Timestamp) {
        self.next_permitted_at = self.next_permitted_at.max(until);
    }

    /// Records a redirect to another host.
    pub(crate) fn redirected(&mut self, answered_at: Timestamp, now: Timestamp) {
        self.backoff = self.backoff.after_answer(now);
        self.leave_alone(answered_at + self.crawl_delay);
    }

    /// The stored values of the host that an answer changes.
    pub(crate) fn booked(&self) -> (Timestamp, Duration, HostBackoff) {
        (self.next_permitted_at, self.crawl_delay, self.backoff)
    }

    /// The host's schedule as it is stored.
    pub(crate) fn schedule(&self) -> HostSchedule {
        let mut schedule = HostSchedule {
            next_permitted_at: self.next_permitted_at,
            crawl_delay_ms: self.crawl_delay.as_millis() as i64,
            paused: self.paused,
            blocked: self.blocked,
            troubles: i32::try_from(self.backoff.troubles).unwrap_or(i32::MAX),
            left_alone_until: self.backoff.until.max(Timestamp::from_secs(0)),
            hints_right: Vec::new(),
            hints_wrong: Vec::new(),
            changes_hinted: Vec::new(),
            changes_unhinted: Vec::new(),
            rests_unhinted: Vec::new(),
        };
        hint_kinds::keep(self.hints(), &mut schedule);
        schedule
    }
}

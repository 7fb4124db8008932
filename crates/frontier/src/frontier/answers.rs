//! Effects of an answer: on the page's record, its host's schedule, the budget, and the policy's account.

use super::Frontier;
use crate::fetch_cost::learned_bytes;
use crate::hosts::{HostAnswer, is_trouble};
use crate::page_record::{LastFailure, ScheduledPage};
use crate::request::{AnswerFate, PageRequest, WantedReason};
use crate::unseen::{RetryTimes, UnseenPage};
use change_rate::Gamma;
use messages::{
    AnswerKind, ChangeEstimate, ContentEvidence, FetchOutcome, Look, MirrorMessage, TroubleNotice, Verdict,
};
use page::{PageId, Timestamp};
use revisit::columns::Index;
use revisit::value::due_after_days;
use std::time::Duration;

/// Wait after a request whose lease was over before its turn came. Where the clocks of fetcher and scheduler differ, every
/// request comes back so, and without a wait would be sent again at once.
const LEASE_OVER_WAIT: Duration = Duration::from_secs(60);

/// Cap on a time that a page may never reach: a hundred years, in seconds.
const LONGEST_EARNED_S: f64 = 3.2e9;

impl Frontier {
    /// Handles a request's result for its page: it was fetched, could not be, or the request came back unsent. Returns
    /// messages to its mirrors. [`Frontier::mind_hosts`] and [`Frontier::pay_for`] handle the rest.
    pub fn take_estimate(&mut self, estimate: &ChangeEstimate, page: &mut ScheduledPage) -> Vec<MirrorMessage> {
        let ChangeEstimate { look, judgement, belief, .. } = estimate;
        if look.was_not_sent() {
            self.take_back(look, page);
            return Vec::new();
        }
        let verdict = judgement.verdict;
        let changed = verdict.is_change() == Some(true);
        self.counts.fetches += u64::from(look.is_fetch());
        self.counts.fetches_seen += u64::from(look.is_fetch());
        self.counts.answers += 1;
        self.counts.changes += u64::from(changed);
        self.counts.changes_seen += u64::from(changed);
        if look.is_fetch() {
            page.bytes_per_fetch = learned_bytes(page.bytes_per_fetch, page.fetches, look.wire_bytes);
        }
        page.fetches += i64::from(look.is_fetch());
        page.changes += i64::from(changed);
        page.belief = *belief;
        let previous = page.last_look_at;
        (page.outcome, page.verdict, page.status) = (Some(look.outcome), Some(verdict), look.status);
        if changed {
            page.last_change_at = Some(look.fetched_at);
        }
        let content = look.outcome.meaning().content;
        page.validators = std::mem::take(&mut page.validators).after(look, verdict);
        if content == ContentEvidence::Body {
            page.body_length = look.body_length;
        }
        if content != ContentEvidence::Nothing {
            page.last_look_at = page.last_look_at.max(Some(look.fetched_at));
            self.judge_hints(look.page_id, page, verdict, look.fetched_at, previous);
            self.note_list(look.page_id, page);
            self.count_news(page, previous, look.fetched_at);
            if verdict == Verdict::Unchanged {
                self.receive_again(look.page_id, look.fetched_at);
            }
        } else {
            page.failure = Some(LastFailure::of(look));
        }
        let is_shown = UnseenPage::is_shown(look, judgement);
        let earned = if is_shown { None } else { self.earned_interval(look.page_id, page) };
        let times = self.rules.retry_times_of(page, earned);
        let times = RetryTimes { fresh_for: self.rules.fresh_for(look, times.max_interval), ..times };
        let (request, fate) = page.request.answer(look, judgement, &times);
        page.request = self.granted(look.page_id, request, page, verdict);
        match fate {
            AnswerFate::Late => self.counts.late_answers += 1,
            AnswerFate::Current { audited: Some(expected) } => self.audit.judge(page, verdict, expected),
            AnswerFate::Current { audited: None } => {}
        }
        let messages = self.judge_ties(page, estimate);
        let slot = self.set(look.page_id, page);
        if content == ContentEvidence::Nothing {
            self.pages.columns.unanswered(slot);
        }
        self.plan_after_look(slot, page, verdict, look.fetched_at, previous);
        messages
    }

    /// The request of a page after a look. Where links led to the page, its site pays for another look at once, or the page
    /// competes by its value. A look that finds a copy current earns its site one.
    fn granted(&mut self, id: PageId, request: PageRequest, page: &ScheduledPage, verdict: Verdict) -> PageRequest {
        let site = self.pages.place(self.pages.slot(id), page).site;
        if verdict.is_change() == Some(false) {
            self.pages.lasting.earn(site);
        }
        let is_asked = page.depth > 0 && request.wanted == WantedReason::Probe;
        let wanted = if is_asked && !self.pages.lasting.grants(site) { WantedReason::No } else { request.wanted };
        PageRequest { wanted, ..request }
    }

    /// The time after a look at which another is worth the price, from the page's own belief. `None` without a price, and for
    /// policies that give pages no value.
    fn earned_interval(&self, id: PageId, page: &ScheduledPage) -> Option<Duration> {
        let (Index::Live { theta, .. } | Index::CrawlValue { theta }) = self.rules.index else { return None };
        let price = self.demand.price();
        if price <= 0.0 || !self.rules.values_hints() {
            return None;
        }
        let belief = Gamma::new(page.belief.alpha, page.belief.beta_days).ok()?;
        let days = due_after_days(belief, theta, self.pages.weight(id)?, 1.0, price);
        Some(Duration::from_secs_f64((days * 86_400.0).min(LONGEST_EARNED_S)))
    }

    /// Subtracts the cost of a look from the budget. A fetch was taken from it when the request was handed out. It is
    /// given back if nothing was sent for the page: the host rests, or robots.txt or the rules of this crawler forbid
    /// it.
    pub fn pay_for(&mut self, look: &Look) {
        if look.is_fetch() {
            self.budget.pay(look.wire_bytes, look.requests.saturating_sub(1));
        } else {
            self.budget.refund();
            self.budget.pay(look.wire_bytes, look.requests);
        }
    }

    /// Handles a request that was not sent, because its host had just refused another or its robots.txt cannot be had.
    /// There was no look at the page: it is due again after the host's rest. The host's back-off counts only requests
    /// that were sent.
    fn take_back(&mut self, look: &Look, page: &mut ScheduledPage) {
        let wait = if AnswerKind::of(look) == AnswerKind::LeaseOver { LEASE_OVER_WAIT } else { rest_after(look) };
        let (request, fate) = page.request.take_back(look.attempt, look.fetched_at + wait);
        page.request = request;
        self.counts.late_answers += u64::from(fate == AnswerFate::Late);
        // Without robots.txt the page may never get another answer, so this one is recorded as its last failure.
        if look.outcome == FetchOutcome::RobotsUnavailable {
            page.failure = Some(LastFailure::of(look));
        }
        let slot = self.set(look.page_id, page);
        self.pages.columns.unanswered(slot);
    }

    /// Records a look at the host that answered. A host that redirected elsewhere is not responsible for the answer
    /// found there. Hosts without pages here have no record. Trouble of a host of another partition is returned, as a
    /// notice to send there.
    pub fn mind_hosts(&mut self, look: &Look, now: Timestamp) -> Option<TroubleNotice> {
        let Self { hosts, rules, .. } = self;
        let answering = look.answered_by();
        if look.url.host_name() != answering.host_name()
            && let Some(own) = hosts.known(&look.url)
        {
            hosts.book(own, |gate| gate.redirected(look.fetched_at, now));
        }
        let Some(number) = hosts.known(answering) else {
            let is_elsewhere = answering.site_key() != look.site_key;
            return (is_elsewhere && is_trouble(look)).then(|| TroubleNotice::of(look));
        };
        hosts.book(number, |gate| match look.was_not_sent() {
            true => gate.leave_alone(look.fetched_at + rest_after(look)),
            false => gate.answered(&HostAnswer::of(look), now, rules),
        });
        None
    }

    /// Records the trouble of a host that a redirect from another partition's site led to. A host without pages here is
    /// not recorded: nothing is requested from it, the fetcher leaves it alone by itself, and strangers could fill the
    /// memory.
    pub fn take_notice(&mut self, notice: &TroubleNotice, now: Timestamp) {
        let Self { hosts, rules, .. } = self;
        if let Some(number) = hosts.known(&notice.url) {
            hosts.book(number, |gate| gate.answered(&HostAnswer::noticed(notice), now, rules));
        }
    }
}

/// How long the host of a request that was not sent is still left alone.
fn rest_after(unsent: &Look) -> Duration {
    Duration::from_secs(unsent.retry_after_s.unwrap_or_default().max(0) as u64)
}

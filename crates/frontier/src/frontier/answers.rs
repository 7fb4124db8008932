//! What an answer changes: the page's record, its host's schedule, the budget, and the policy's account.

use super::Frontier;
use crate::page_record::{LastFailure, ScheduledPage};
use crate::request::AnswerFate;
use messages::{ChangeEstimate, ContentEvidence, FetchOutcome, Look, MirrorLetter};
use page::Timestamp;
use std::time::Duration;

impl Frontier {
    /// Handles the result of a request: the page was fetched, could not be, or the request came back unsent. Returns
    /// letters to its mirrors.
    pub fn take_estimate(
        &mut self,
        estimate: &ChangeEstimate,
        page: &mut ScheduledPage,
        now: Timestamp,
    ) -> Vec<MirrorLetter> {
        let ChangeEstimate { look, judgement, belief, .. } = estimate;
        self.pay_for(look);
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
            self.judge_hints(look.page_id, page, verdict, look.fetched_at);
        } else {
            page.failure = Some(LastFailure::of(look));
        }
        let (request, fate) = page.request.answer(look, judgement, &self.rules.retry_times);
        page.request = request;
        match fate {
            AnswerFate::Late => self.counts.late_answers += 1,
            AnswerFate::Current { audit: true } => self.audit.judge(page, verdict),
            AnswerFate::Current { audit: false } => {}
        }
        let letters = self.judge_ties(page, estimate);
        let slot = self.set(look.page_id, page);
        self.plan_after_look(slot, page, verdict, look.fetched_at, previous);
        self.mind_host(look, now);
        letters
    }

    /// Subtracts from the budget what a look has cost. A fetch was taken from it when the request was handed out.
    pub fn pay_for(&mut self, look: &Look) {
        if look.was_not_sent() {
            self.budget.refund();
            self.budget.pay(look.wire_bytes, look.requests);
        } else {
            self.budget.pay(look.wire_bytes, look.requests - 1);
        }
    }

    /// Handles a request that was not sent, because its host had just refused another or its robots.txt cannot be had.
    /// There was no look at the page: it is due again after the host's rest. The host's back-off counts only requests
    /// that were sent.
    fn take_back(&mut self, look: &Look, page: &mut ScheduledPage) {
        let rest = Duration::from_secs(look.retry_after_s.unwrap_or_default().max(0) as u64);
        let (request, fate) = page.request.take_back(look.attempt, look.fetched_at + rest);
        page.request = request;
        self.counts.late_answers += u64::from(fate == AnswerFate::Late);
        // Without robots.txt nothing else may ever be heard of the page, so this is told, and nobody waits for more.
        if look.outcome == FetchOutcome::RobotsUnavailable {
            page.failure = Some(LastFailure::of(look));
        }
        self.set(look.page_id, page);
        let own = look.url.host();
        if own == look.answered_by().host() {
            let own = self.hosts.number(&own);
            self.hosts.book(own, |gate| gate.next_permitted_at = gate.next_permitted_at.max(look.fetched_at + rest));
        }
    }

    /// Books the answer on the host that gave it: its speed, the crawl delay of its robots.txt, its back-off. A host that
    /// redirected elsewhere has nothing to do with what is found there. Hosts without pages here have no books; the
    /// fetcher leaves them alone on its own.
    fn mind_host(&mut self, look: &Look, now: Timestamp) {
        let Self { hosts, rules, .. } = self;
        let latency = Duration::from_millis(look.latency_ms.max(0) as u64);
        let (own, answering) = (look.url.host(), look.answered_by().host());
        if own != answering {
            let own = hosts.number(&own);
            hosts.book(own, |gate| gate.redirected(look.fetched_at, now));
        }
        let Some(number) = hosts.known(&answering) else { return };
        hosts.book(number, |gate| {
            let robots = look.robots_crawl_delay_ms.map(|delay| Duration::from_millis(delay.max(0) as u64));
            gate.crawl_delay = rules.delay.delay_after(robots, latency).as_duration();
            if !latency.is_zero() {
                gate.response_time = rules.web_time(latency);
            }
            gate.answered(look, look.fetched_at + rules.web_time(latency), now, rules);
        });
    }
}

//! What an answer changes: the page's record, its host's schedule, the budget, and the policy's account.

use super::Frontier;
use crate::page_record::ScheduledPage;
use crate::request::AnswerFate;
use messages::{ChangeEstimate, ContentEvidence, Look, MirrorLetter};
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
        if look.was_not_sent() {
            self.take_back(look, page);
            return Vec::new();
        }
        let verdict = judgement.verdict;
        let changed = verdict.is_change() == Some(true);
        self.counts.fetches += 1;
        self.counts.answers += 1;
        self.counts.changes += u64::from(changed);
        self.counts.changes_seen += u64::from(changed);
        page.fetches += 1;
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
        }
        self.budget.pay_bytes(look.wire_bytes);
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

    /// Handles a request that was not sent, because its host had just refused another. There was no look at the page:
    /// it is due again after the host's rest. The host's back-off counts only requests that were sent.
    fn take_back(&mut self, look: &Look, page: &mut ScheduledPage) {
        self.budget.refund();
        let rest = Duration::from_secs(look.retry_after_s.unwrap_or_default().max(0) as u64);
        let (request, fate) = page.request.take_back(look.attempt, look.fetched_at + rest);
        page.request = request;
        self.counts.late_answers += u64::from(fate == AnswerFate::Late);
        self.set(look.page_id, page);
    }

    /// Updates the host from the answer: its speed, the crawl delay of its robots.txt, its back-off.
    fn mind_host(&mut self, look: &Look, now: Timestamp) {
        let number = self.hosts.number(&look.url.host());
        let gate = self.hosts.gate_mut(number);
        let robots = look.robots_crawl_delay_ms.map(|delay| Duration::from_millis(delay.max(0) as u64));
        let latency = Duration::from_millis(look.latency_ms.max(0) as u64);
        let before = (gate.crawl_delay, gate.next_permitted_at);
        gate.crawl_delay = self.rules.delay.delay_after(robots, latency).as_duration();
        if !latency.is_zero() {
            gate.response_time = self.rules.web_time(latency);
        }
        let answered_at = look.fetched_at + self.rules.web_time(latency);
        if look.outcome.meaning().host_trouble.is_shown_by(look.status, look.retry_after_s) {
            let retry_after = look.retry_after_s.map(|seconds| Duration::from_secs(seconds.max(0) as u64));
            let chance = f64::from(look.page_id.0[0]) / 256.0;
            gate.backoff = gate.backoff.after_trouble(&self.rules.backoff, retry_after, chance, now);
            if let Some(until) = gate.backoff.pause_until(now) {
                gate.next_permitted_at = gate.next_permitted_at.max(until);
            }
        }
        gate.next_permitted_at = gate.next_permitted_at.max(answered_at + gate.crawl_delay);
        if before != (gate.crawl_delay, gate.next_permitted_at) {
            self.hosts.mark_changed(number);
        }
    }
}

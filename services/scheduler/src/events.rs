//! What reaches the scheduler: estimates after a fetch, and links.

use crate::Scheduler;
use crate::dispatch::find;
use crate::hint_record::place_of;
use crate::planner::look_of;
use crate::siblings::belief_of;
use ::frontier::{AnswerFate, ScheduledPage};
use messages::{ChangeBelief, ChangeEstimate, ContentEvidence, Link, Look, PageLinks};
use page::{CanonicalUrl, Timestamp};
use settings::Discover;
use std::time::Duration;
use stream::{Context, ProcessError};

impl Scheduler {
    /// A page was fetched, or could not be.
    pub(crate) fn take_estimate(
        &mut self,
        estimate: &ChangeEstimate,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let ChangeEstimate { look, judgement, belief } = estimate;
        let Some(mut page) = find(context, look.page_id)? else {
            self.counts.unknown_pages += 1;
            return Ok(());
        };
        if look.was_not_sent() {
            self.take_back(look, &mut page, context);
            return Ok(());
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
            self.judge_hints(look.page_id, &mut page, verdict, look.fetched_at, context);
        }
        self.budget.pay_bytes(look.wire_bytes);
        let (request, fate) = page.request.answer(look, judgement, &self.rules.retry_times);
        page.request = request;
        match fate {
            AnswerFate::Late => self.counts.late_answers += 1,
            AnswerFate::Current { audit: true } => self.audit.judge(&mut page, verdict),
            AnswerFate::Current { audit: false } => {}
        }
        self.judge_ties(&mut page, estimate, context);
        let slot = self.store(look.page_id, &page, context);
        if let Some(planner) = &mut self.planner {
            let cell = self.frontier.columns.place(slot).map_or(0, |place| place.cell);
            let belief = belief_of(&page, cell, &self.rules, &self.outlook);
            planner.looked(slot, &look_of(verdict, look.fetched_at, previous, belief));
        }
        self.mind_host(look, context);
        Ok(())
    }

    /// A request was not sent, because its host had just refused another. Nobody has looked at the page: it is due when
    /// the host has been left alone for long enough. The host's own back-off is counted by what was sent.
    fn take_back(&mut self, look: &Look, page: &mut ScheduledPage, context: &mut Context<'_>) {
        self.budget.refund();
        let rest = Duration::from_secs(look.retry_after_s.unwrap_or_default().max(0) as u64);
        let (request, fate) = page.request.take_back(look.attempt, look.fetched_at + rest);
        page.request = request;
        self.counts.late_answers += u64::from(fate == AnswerFate::Late);
        self.store(look.page_id, page, context);
    }

    /// What the answer says about the host: how fast it is, what its robots.txt asks, whether it is in trouble.
    fn mind_host(&mut self, look: &Look, context: &mut Context<'_>) {
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
            gate.backoff = gate.backoff.after_trouble(&self.rules.backoff, retry_after, chance, context.now());
            if let Some(until) = gate.backoff.pause_until(context.now()) {
                gate.next_permitted_at = gate.next_permitted_at.max(until);
            }
        }
        gate.next_permitted_at = gate.next_permitted_at.max(answered_at + gate.crawl_delay);
        if before != (gate.crawl_delay, gate.next_permitted_at) {
            gate.save(context);
        }
    }

    /// Links of a known page: those the settings ask for become pages.
    pub(crate) fn take_links(&mut self, links: &PageLinks, context: &mut Context<'_>) -> Result<(), ProcessError> {
        // The source is of the same site, so of this partition; without it nothing says how deep the links are.
        let Some(mut source) = find(context, links.source_page_id)? else { return Ok(()) };
        if let Some(kind) = links.list_kind {
            (source.listed, source.list_kind) = (links.listed, place_of(kind) as i32);
            self.store(links.source_page_id, &source, context);
        }
        let depth = source.depth.saturating_add(1);
        if depth as u32 > self.rules.max_depth {
            self.counts.refused_pages += links.links.len() as u64;
            return Ok(());
        }
        for link in &links.links {
            let wanted = match self.rules.discover {
                Discover::None => false,
                Discover::SameHost => link.url.host() == source.url.host(),
                Discover::SameSite => link.url.site_key() == source.url.site_key(),
            };
            let wanted = wanted || (self.rules.discover_lists && names_list(link));
            let url = self.rules.urls.apply(link.url.clone());
            if !wanted || self.frontier.contains(url.page_id()) {
                continue;
            }
            if self.rules.urls.check(&url).is_ok() {
                self.discover(&url, 1.0, depth, context);
            } else {
                self.counts.refused_pages += 1;
            }
        }
        Ok(())
    }

    /// The number from which requests for a new page are counted.
    ///
    /// The page may have been known before and forgotten. The detector still knows its last number then and would take
    /// lower ones for repeats, so every life counts on from its own beginning in microseconds: no page is fetched so often
    /// that an earlier life could have come so far. The clock may have been set back since: what it has been is kept in
    /// the numbers of the other pages and, also for the next start, in the host's next permitted time.
    fn first_attempt(&mut self, url: &CanonicalUrl, now: Timestamp) -> i64 {
        let number = self.hosts.number(&url.host());
        let latest = now.max(self.hosts.gate(number).next_permitted_at);
        latest.as_micros().max(self.frontier.highest_attempt())
    }

    pub(crate) fn discover(&mut self, url: &CanonicalUrl, weight: f64, depth: i32, context: &mut Context<'_>) {
        if self.frontier.pages() as u64 >= self.rules.max_pages {
            self.counts.refused_pages += 1;
            return;
        }
        let first_attempt = self.first_attempt(url, context.now());
        let prior = ChangeBelief::new(self.rules.prior.alpha(), self.rules.prior.beta_days());
        let page = ScheduledPage::new(url.clone(), weight, depth, prior, first_attempt, context.now());
        let slot = self.store(url.page_id(), &page, context);
        self.plan_for(slot, &page, context.now());
    }
}

/// Whether a link is said to lead to a sitemap or feed; those of another site do not come this far.
fn names_list(link: &Link) -> bool {
    matches!(link.rel.as_str(), "sitemap" | "alternate")
}

//! What reaches the scheduler: estimates after a fetch, and links.

use crate::Scheduler;
use crate::dispatch::find;
use crate::hint_record::place_of;
use crate::planner::look_of;
use crate::siblings::belief_of;
use crate::state::ScheduledPage;
use messages::{ChangeEstimate, ContentEvidence, Link, PageLinks, RetryRule};
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
        let Some(mut page) = find(context, estimate.page_id)? else {
            self.counts.unknown_pages += 1;
            return Ok(());
        };
        if estimate.outcome.was_not_sent(estimate.status) {
            self.take_back(estimate, &mut page, context);
            return Ok(());
        }
        let changed = estimate.verdict.is_change() == Some(true);
        self.counts.fetches += 1;
        self.counts.answers += 1;
        self.counts.changes += u64::from(changed);
        self.counts.changes_seen += u64::from(changed);
        page.fetches += 1;
        page.changes += i64::from(changed);
        page.answered = page.answered.max(estimate.attempt);
        page.alpha = estimate.alpha;
        page.beta_days = estimate.beta_days;
        (page.own_alpha, page.own_beta_days) = (estimate.own_alpha, estimate.own_beta_days);
        (page.plain_alpha, page.plain_beta_days) = (estimate.plain_alpha, estimate.plain_beta_days);
        let previous = page.last_look_at;
        page.outcome = Some(word(&estimate.outcome));
        page.verdict = Some(word(&estimate.verdict));
        page.status = estimate.status;
        if changed {
            page.last_change_at = Some(estimate.fetched_at);
        }
        if estimate.outcome.meaning().content != ContentEvidence::Nothing {
            page.last_look_at = page.last_look_at.max(Some(estimate.fetched_at));
            page.etag.clone_from(&estimate.etag);
            page.last_modified.clone_from(&estimate.last_modified);
            page.content_digest = estimate.content_digest;
            page.body_length = estimate.body_length;
            page.failures = 0;
            self.judge_hints(estimate.page_id, &mut page, estimate.verdict, estimate.fetched_at, context);
        } else {
            page.failures = page.failures.saturating_add(1);
        }
        self.budget.pay_bytes(estimate.wire_bytes);
        if estimate.attempt < page.attempt {
            // A lease ran out before this answer came, and another request is on its way.
            self.counts.late_answers += 1;
        } else {
            if std::mem::take(&mut page.audit) {
                self.audit.judge(&mut page, estimate.verdict);
            }
            page.lease_until = None;
            (page.refetch_in_flight, page.probe_in_flight) = (false, false);
            page.held_until = self.hold_until(estimate, page.failures);
            if let Some(wait_s) = estimate.look_again_after_s {
                // It settles what this look left open, whatever the page is worth.
                page.probe = true;
                page.held_until =
                    (wait_s > 0).then(|| estimate.fetched_at + Duration::from_secs(wait_s.unsigned_abs()));
            }
        }
        self.judge_ties(&mut page, estimate, context);
        let slot = self.store(estimate.page_id, &page, context);
        if let Some(planner) = &mut self.planner {
            let cell = self.frontier.columns.place(slot).map_or(0, |place| place.cell);
            let belief = belief_of(&page, cell, &self.rules, &self.outlook);
            planner.looked(slot, &look_of(estimate.verdict, estimate.fetched_at, previous, belief));
        }
        self.mind_host(&page.url, estimate, context);
        Ok(())
    }

    /// A request was not sent, because its host had just refused another. Nobody has looked at the page: it is as it was
    /// when it was handed out, and due when the host has been left alone for long enough.
    fn take_back(&mut self, estimate: &ChangeEstimate, page: &mut ScheduledPage, context: &mut Context<'_>) {
        page.answered = page.answered.max(estimate.attempt);
        self.budget.refund();
        if estimate.attempt < page.attempt {
            self.counts.late_answers += 1;
        } else {
            let rest = Duration::from_secs(estimate.retry_after_s.unwrap_or_default().max(0) as u64);
            page.give_up_request();
            // Ends at a tick, which also tells a policy that plans; the host's own back-off is counted by what was sent.
            page.held_until = Some(estimate.fetched_at + rest);
            page.audit = false;
        }
        self.store(estimate.page_id, page, context);
    }

    /// Until when a page is not to be fetched again after this answer; learned rates are kept through every failure.
    fn hold_until(&self, estimate: &ChangeEstimate, failures: i32) -> Option<Timestamp> {
        let wait = match estimate.outcome.meaning().retry {
            RetryRule::WhenWorthIt => self.rules.min_interval,
            RetryRule::WhenRobotsRefresh => self.rules.robots_refresh,
            RetryRule::BackOff => {
                let doublings = (failures - 1).clamp(0, 20) as u32;
                self.rules.retry_base.saturating_mul(1 << doublings).min(self.rules.retry_max)
            }
        };
        let until = estimate.fetched_at + wait;
        (wait > Duration::ZERO).then_some(until)
    }

    /// What the answer says about the host: how fast it is, what its robots.txt asks, whether it is in trouble.
    fn mind_host(&mut self, url: &CanonicalUrl, estimate: &ChangeEstimate, context: &mut Context<'_>) {
        let number = self.hosts.number(&url.host());
        let gate = self.hosts.gate_mut(number);
        let robots = estimate.robots_crawl_delay_ms.map(|delay| Duration::from_millis(delay.max(0) as u64));
        let latency = Duration::from_millis(estimate.latency_ms.max(0) as u64);
        let before = (gate.crawl_delay, gate.next_permitted_at);
        gate.crawl_delay = self.rules.delay.delay_after(robots, latency).as_duration();
        if !latency.is_zero() {
            gate.response_time = self.rules.web_time(latency);
        }
        let answered_at = estimate.fetched_at + self.rules.web_time(latency);
        if estimate.outcome.meaning().host_trouble.is_shown_by(estimate.status, estimate.retry_after_s) {
            let retry_after = estimate.retry_after_s.map(|seconds| Duration::from_secs(seconds.max(0) as u64));
            let chance = f64::from(estimate.page_id.0[0]) / 256.0;
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
        let page = ScheduledPage {
            url: url.clone(),
            weight,
            depth,
            discovered_at: context.now(),
            last_look_at: None,
            alpha: self.rules.prior.alpha(),
            beta_days: self.rules.prior.beta_days(),
            attempt: first_attempt,
            answered: first_attempt,
            lease_until: None,
            held_until: None,
            refetch: false,
            failures: 0,
            fetches: 0,
            changes: 0,
            last_change_at: None,
            outcome: None,
            verdict: None,
            status: None,
            etag: None,
            last_modified: None,
            content_digest: None,
            body_length: 0,
            own_alpha: 0.0,
            own_beta_days: 0.0,
            plain_alpha: 0.0,
            plain_beta_days: 0.0,
            hint_hazard: 0.0,
            hinted: 0,
            audit: false,
            audits: 0,
            audits_fresh: 0,
            probe: false,
            ties: None,
            listed: 0,
            list_kind: 0,
            refetch_in_flight: false,
            probe_in_flight: false,
        };
        let slot = self.store(url.page_id(), &page, context);
        self.plan_for(slot, &page, context.now());
    }
}

/// Whether a link is said to lead to a sitemap or feed; those of another site do not come this far.
fn names_list(link: &Link) -> bool {
    matches!(link.rel.as_str(), "sitemap" | "alternate")
}

/// The wire word of an outcome or verdict, as it is kept and shown.
fn word(value: &impl serde::Serialize) -> String {
    messages::word(value)
}

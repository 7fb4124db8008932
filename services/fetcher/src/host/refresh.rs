//! Gets the robots.txt of an origin as RFC 9309 requires, following at most five redirects, across hosts.

use super::HostWorker;
use super::door::{Errand, Unsent};
use crate::pool::FetchJob;
use crate::response::FetchFailure;
use crate::robots::redirect;
use page::CanonicalUrl;
use politeness::{MAX_ROBOTS_REDIRECTS, RobotsCacheEntry, RobotsFetch};

const ROBOTS_PATH: &str = "/robots.txt";

/// Whether the redirect of a robots.txt is followed.
enum Hop {
    Allowed,
    Forbidden,
    /// Nobody knows: the robots.txt of the target is unreachable.
    Unknown,
}

/// What comes of asking for a robots.txt.
enum RobotsAnswer {
    /// What is in force, and why there is no answer.
    Known(RobotsCacheEntry, Option<FetchFailure>),
    /// The file was not asked for to the end, so nothing is known of it. This becomes of the redirect that led to it.
    LeftOpen(Hop),
}

impl HostWorker {
    /// Asks for the robots.txt of a URL's origin if it is due.
    pub(super) async fn refresh_robots(&mut self, url: &CanonicalUrl, job: &mut FetchJob) -> Result<(), Unsent> {
        self.refresh(url, job, false).await.map(drop)
    }

    /// The same. `is_target` says that another robots.txt redirects to the URL. Returns what becomes of that redirect if
    /// the file was not asked for to the end.
    async fn refresh(
        &mut self,
        url: &CanonicalUrl,
        job: &mut FetchJob,
        is_target: bool,
    ) -> Result<Option<Hop>, Unsent> {
        if !self.network.robots.is_due(url, self.clock.now()) {
            return Ok(None);
        }
        // Boxed because it is rare: it would enlarge the future of every page.
        let (entry, failure) = match Box::pin(self.ask_for_robots(url, job, is_target)).await {
            Ok(RobotsAnswer::Known(entry, failure)) => (entry, failure),
            Ok(RobotsAnswer::LeftOpen(hop)) => return Ok(Some(hop)),
            Err(Unsent::RobotsKnown) => return Ok(None),
            Err(why) => return Err(why),
        };
        let rules = &self.network.rules;
        let due = self.clock.now() + rules.robots_refresh;
        self.network.robots.take(url, &entry, failure, due, &rules.product_token);
        Ok(None)
    }

    /// The whole file, or what is in force without it and why.
    pub(super) async fn fetch_robots(
        &mut self,
        url: &CanonicalUrl,
        job: &mut FetchJob,
    ) -> Result<(RobotsCacheEntry, Option<FetchFailure>), Unsent> {
        match self.ask_for_robots(url, job, false).await? {
            RobotsAnswer::Known(entry, failure) => Ok((entry, failure)),
            RobotsAnswer::LeftOpen(_) => {
                Ok((RobotsCacheEntry::after(None, RobotsFetch::Unreachable, self.clock.now()), None))
            }
        }
    }

    async fn ask_for_robots(
        &mut self,
        url: &CanonicalUrl,
        job: &mut FetchJob,
        is_target: bool,
    ) -> Result<RobotsAnswer, Unsent> {
        let previous = self.network.robots.entry(url);
        let known = |fetch, failure, worker: &Self| {
            let entry = RobotsCacheEntry::after(previous.as_ref(), fetch, worker.clock.now());
            Ok(RobotsAnswer::Known(entry, failure))
        };
        let Ok(mut at) = url.join(ROBOTS_PATH) else { return known(RobotsFetch::Unreachable, None, self) };
        for _ in 0..=MAX_ROBOTS_REDIRECTS {
            let asked = match self.ask(&at, Errand::Robots { of: url }, job).await {
                Ok(asked) => asked,
                // The host that it redirects to rests. That is no reason to hand the page's request back.
                Err(Unsent::LeftAlone(_)) if is_target => return Ok(RobotsAnswer::LeftOpen(Hop::Unknown)),
                Err(Unsent::LeftAlone(_)) if at.host_name() != self.name => {
                    return known(RobotsFetch::Unreachable, None, self);
                }
                Err(why) => return Err(why),
            };
            self.wait_again(job);
            let response = match asked.answer {
                Ok(response) => response,
                Err(failure) => {
                    job.robots_bytes += failure.wire_bytes;
                    tracing::debug!(host = %url.host(), detail = failure.detail, "robots.txt unreachable");
                    return known(RobotsFetch::Unreachable, Some(failure), self);
                }
            };
            job.robots_bytes += response.wire_bytes;
            let Some(next) = redirect(&at, &response) else {
                let (status, retry_after) = (response.status.as_u16(), self.retry_after(&response));
                let answered = RobotsFetch::Answered { status, body: &response.body, retry_after };
                return known(answered, None, self);
            };
            if is_target && leaves_site(url, &next) {
                // Otherwise a chain of such redirects could go on for ever.
                return Ok(RobotsAnswer::LeftOpen(Hop::Forbidden));
            }
            match self.may_follow(url, &next, job).await? {
                Hop::Allowed => at = next,
                Hop::Forbidden => break,
                Hop::Unknown => return known(RobotsFetch::Unreachable, None, self),
            }
        }
        known(RobotsFetch::RedirectLeadsNowhere, None, self)
    }

    /// A site says itself where its file is. Elsewhere, a target that is no robots.txt obeys the file of its own origin:
    /// otherwise a host could have crawlers ask another for what it forbids.
    async fn may_follow(&mut self, url: &CanonicalUrl, next: &CanonicalUrl, job: &mut FetchJob) -> Result<Hop, Unsent> {
        if !leaves_site(url, next) {
            return Ok(Hop::Allowed);
        }
        if let Some(hop) = self.refresh(next, job, true).await? {
            return Ok(hop);
        }
        let Some(entry) = self.network.robots.entry(next) else { return Ok(Hop::Unknown) };
        let verdict = entry.check(&self.network.rules.product_token, next.path_and_query());
        Ok(match (verdict.allowed, verdict.rule) {
            (true, _) => Hop::Allowed,
            (false, Some(_)) => Hop::Forbidden,
            (false, None) => Hop::Unknown,
        })
    }
}

/// Whether the redirect of a robots.txt leads to what another site may forbid.
fn leaves_site(url: &CanonicalUrl, next: &CanonicalUrl) -> bool {
    next.path_and_query() != ROBOTS_PATH && next.site_key() != url.site_key()
}

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

impl HostWorker {
    /// Asks for the robots.txt of a URL's origin if it is due. `is_target` says that the URL is one that another
    /// robots.txt redirects to.
    pub(super) async fn refresh_robots(
        &mut self,
        url: &CanonicalUrl,
        job: &mut FetchJob,
        is_target: bool,
    ) -> Result<(), Unsent> {
        if !self.network.robots.is_due(url, self.clock.now()) {
            return Ok(());
        }
        // Boxed because it is rare: it would enlarge the future of every page.
        let (entry, failure) = match Box::pin(self.fetch_robots(url, job, is_target)).await {
            Ok(answered) => answered,
            Err(Unsent::RobotsKnown) => return Ok(()),
            Err(why) => return Err(why),
        };
        let rules = &self.network.rules;
        let due = self.clock.now() + rules.robots_refresh;
        self.network.robots.take(url, &entry, failure, due, &rules.product_token);
        Ok(())
    }

    /// The whole file, or what is in force without it and why.
    pub(super) async fn fetch_robots(
        &mut self,
        url: &CanonicalUrl,
        job: &mut FetchJob,
        is_target: bool,
    ) -> Result<(RobotsCacheEntry, Option<FetchFailure>), Unsent> {
        let previous = self.network.robots.entry(url);
        let after = |fetch, worker: &Self| RobotsCacheEntry::after(previous.as_ref(), fetch, worker.clock.now());
        let Ok(mut at) = url.join(ROBOTS_PATH) else { return Ok((after(RobotsFetch::Unreachable, self), None)) };
        for _ in 0..=MAX_ROBOTS_REDIRECTS {
            let asked = match self.ask(&at, Errand::Robots { of: url }, job).await {
                Ok(asked) => asked,
                // The host that it redirects to rests. That is no reason to hand the page's request back.
                Err(Unsent::LeftAlone(_)) if at.host_name() != self.name => {
                    return Ok((after(RobotsFetch::Unreachable, self), None));
                }
                Err(why) => return Err(why),
            };
            self.wait_again(job);
            let response = match asked.answer {
                Ok(response) => response,
                Err(failure) => {
                    job.robots_bytes += failure.wire_bytes;
                    tracing::debug!(host = %url.host(), detail = failure.detail, "robots.txt unreachable");
                    return Ok((after(RobotsFetch::Unreachable, self), Some(failure)));
                }
            };
            job.robots_bytes += response.wire_bytes;
            let Some(next) = redirect(&at, &response) else {
                let (status, retry_after) = (response.status.as_u16(), self.retry_after(&response));
                let answered = RobotsFetch::Answered { status, body: &response.body, retry_after };
                return Ok((after(answered, self), None));
            };
            match self.may_follow(url, previous.as_ref(), &next, job, is_target).await? {
                Hop::Allowed => at = next,
                Hop::Forbidden => break,
                Hop::Unknown => return Ok((after(RobotsFetch::Unreachable, self), None)),
            }
        }
        Ok((after(RobotsFetch::RedirectLeadsNowhere, self), None))
    }

    /// A robots.txt may be asked for always. Any other target obeys the robots.txt of its own origin: otherwise a host
    /// could have crawlers ask another for what it forbids.
    async fn may_follow(
        &mut self,
        url: &CanonicalUrl,
        previous: Option<&RobotsCacheEntry>,
        next: &CanonicalUrl,
        job: &mut FetchJob,
        is_target: bool,
    ) -> Result<Hop, Unsent> {
        if next.path_and_query() == ROBOTS_PATH {
            return Ok(Hop::Allowed);
        }
        let known;
        let entry = if next.origin() == url.origin() {
            // Its file is what is being asked for.
            let Some(previous) = previous else { return Ok(Hop::Allowed) };
            previous
        } else if is_target {
            // Otherwise a chain of such redirects could go on for ever.
            return Ok(Hop::Forbidden);
        } else {
            self.refresh_robots(next, job, true).await?;
            let Some(entry) = self.network.robots.entry(next) else { return Ok(Hop::Unknown) };
            known = entry;
            &known
        };
        let verdict = entry.check(&self.network.rules.product_token, next.path_and_query());
        Ok(match (verdict.allowed, verdict.rule) {
            (true, _) => Hop::Allowed,
            (false, Some(_)) => Hop::Forbidden,
            (false, None) => Hop::Unknown,
        })
    }
}

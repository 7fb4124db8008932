//! Gets the robots.txt of an origin as RFC 9309 requires, following at most five redirects, across hosts. Where each site
//! has a fetcher that asks it, a redirect to another site is an errand of its fetcher: the request travels there, and
//! comes back with the answer.

use super::HostWorker;
use super::door::{Errand, Unsent};
use crate::challenge::kept_out;
use crate::job::FetchJob;
use crate::recorder::RecordedBody;
use crate::response::{FetchFailure, Response};
use crate::robots::redirect;
use messages::{FetchOutcome, RobotsAnswer, RobotsErrand};
use page::CanonicalUrl;
use politeness::{MAX_ROBOTS_BYTES, MAX_ROBOTS_REDIRECTS, RobotsCacheEntry, RobotsFetch, RobotsFile, whole_lines};
use std::time::Duration;

const ROBOTS_PATH: &str = "/robots.txt";
/// How long the requests to a host wait for the fetcher of another site to send its robots.txt back.
const ERRAND_PATIENCE: Duration = Duration::from_secs(60);
/// Statuses of a [`RobotsAnswer`] without an answer.
const UNANSWERED: i32 = 0;
const NOWHERE: i32 = 300;

/// Whether the redirect of a robots.txt is followed.
enum Hop {
    Allowed,
    Forbidden,
    /// The robots.txt of the target is unreachable, so its rule is unknown.
    Unknown,
}

/// A file that is asked for, and the file that redirects to its host, if that is why.
#[derive(Clone, Copy)]
struct Sought<'a> {
    /// A URL of the origin whose file it is.
    url: &'a CanonicalUrl,
    target_of: Option<&'a Sought<'a>>,
    /// Redirects that have led to where it is asked for.
    redirects: usize,
    /// Redirects to addresses that another host may forbid, including the redirects of the other file.
    to_others: usize,
}

impl<'a> Sought<'a> {
    fn for_itself(url: &'a CanonicalUrl, redirects: usize) -> Self {
        Self { url, target_of: None, redirects, to_others: 0 }
    }

    /// Whether this target of another file's redirect may ask for the file of a further host. That host must be one of
    /// its site, and must not wait for this file. All of them together pass no more hosts than one file may.
    fn may_ask_another(&self, next: &CanonicalUrl) -> bool {
        let within_site = next.site_key() == self.url.site_key();
        within_site && !self.is_behind(next) && self.to_others <= MAX_ROBOTS_REDIRECTS
    }

    /// Whether a URL is of an origin whose file waits for this one.
    fn is_behind(&self, url: &CanonicalUrl) -> bool {
        self.target_of.is_some_and(|other| other.url.origin() == url.origin() || other.is_behind(url))
    }
}

/// The result of refreshing a robots.txt.
enum Refreshed {
    /// The rules in force are known. The failure is the reason if the file was asked for in vain.
    Known(Option<FetchFailure>),
    /// The file was not asked for to the end. The hop says whether the redirect that led to it is followed.
    LeftOpen(Hop),
}

/// The result of one request for a robots.txt, with the redirects that it followed.
enum RobotsAttempt {
    /// The entry in force, and the failure if there was no answer.
    Known(RobotsCacheEntry, Option<FetchFailure>),
    /// The file was not asked for to the end, so nothing is known of it. The hop says whether the redirect that led to
    /// it is followed.
    LeftOpen(Hop),
    /// The fetcher of another site goes on.
    SendOn { next: CanonicalUrl, redirects: usize },
}

/// Where the redirects of a robots.txt lead.
enum Followed {
    Answered(Box<Response>),
    LeadsNowhere,
    Unreachable(Option<FetchFailure>),
    /// See [`RobotsAttempt::LeftOpen`].
    LeftOpen(Hop),
    /// See [`RobotsAttempt::SendOn`].
    SendOn {
        next: CanonicalUrl,
        redirects: usize,
    },
}

impl HostWorker {
    /// Asks for the robots.txt of a URL's origin if it is due. Returns why there was no answer.
    pub(super) async fn refresh_robots(
        &mut self,
        url: &CanonicalUrl,
        job: &mut FetchJob,
    ) -> Result<Option<FetchFailure>, Unsent> {
        Ok(match self.refresh(Sought::for_itself(url, 0), job).await? {
            Refreshed::Known(failure) => failure,
            Refreshed::LeftOpen(_) => None,
        })
    }

    async fn refresh(&mut self, sought: Sought<'_>, job: &mut FetchJob) -> Result<Refreshed, Unsent> {
        let url = sought.url;
        if !self.network.robots.is_due(url, self.clock.now()) {
            return Ok(Refreshed::Known(None));
        }
        if self.network.robots.asked_elsewhere_until(url, self.clock.now()).is_some() {
            // It redirects to another site, too: a chain of such redirects could go on for ever.
            let is_target = sought.target_of.is_some();
            return if is_target { Ok(Refreshed::LeftOpen(Hop::Forbidden)) } else { Err(Unsent::RobotsElsewhere) };
        }
        // Boxed because it is rare: it would enlarge the future of every page.
        let (entry, failure) = match Box::pin(self.ask_for_robots(sought, job)).await {
            Ok(RobotsAttempt::Known(entry, failure)) => (entry, failure),
            Ok(RobotsAttempt::LeftOpen(hop)) => return Ok(Refreshed::LeftOpen(hop)),
            Ok(RobotsAttempt::SendOn { next, redirects }) => {
                self.network.robots.is_asked_elsewhere(url, self.clock.now() + ERRAND_PATIENCE);
                job.errand = Some(RobotsErrand { of_url: url.clone(), redirects: redirects as i32, answer: None });
                job.at = next;
                return Err(Unsent::Errand);
            }
            Err(Unsent::RobotsKnown) => return Ok(Refreshed::Known(None)),
            Err(why) => return Err(why),
        };
        let rules = &self.network.rules;
        let due = self.clock.now() + rules.robots_refresh;
        self.network.robots.take(url, &entry, failure.as_ref(), due, &rules.product_token);
        job.learned_robots_of(url);
        Ok(Refreshed::Known(failure))
    }

    /// The whole file, or the rules in force without it and the reason.
    pub(super) async fn fetch_robots(
        &mut self,
        url: &CanonicalUrl,
        job: &mut FetchJob,
    ) -> Result<(RobotsCacheEntry, Option<FetchFailure>), Unsent> {
        match self.ask_for_robots(Sought::for_itself(url, 0), job).await? {
            RobotsAttempt::Known(entry, failure) => Ok((entry, failure)),
            RobotsAttempt::LeftOpen(_) | RobotsAttempt::SendOn { .. } => {
                Ok((RobotsCacheEntry::after(None, RobotsFetch::Unreachable, self.clock.now()), None))
            }
        }
    }

    async fn ask_for_robots(&mut self, sought: Sought<'_>, job: &mut FetchJob) -> Result<RobotsAttempt, Unsent> {
        let url = sought.url;
        let previous = self.network.robots.entry(url);
        let known = |fetch, failure, worker: &Self| {
            let entry = RobotsCacheEntry::after(previous.as_ref(), fetch, worker.clock.now());
            Ok(RobotsAttempt::Known(entry, failure))
        };
        let Ok(at) = url.join(ROBOTS_PATH) else { return known(RobotsFetch::Unreachable, None, self) };
        match self.follow_robots(sought, at, job).await? {
            Followed::Answered(response) => {
                let (status, retry_after) = (response.status.as_u16(), self.retry_after(&response));
                known(RobotsFetch::Answered { status, body: lines_of(&response), retry_after }, None, self)
            }
            Followed::LeadsNowhere => known(RobotsFetch::RedirectLeadsNowhere, None, self),
            Followed::Unreachable(failure) => known(RobotsFetch::Unreachable, failure, self),
            Followed::LeftOpen(hop) => Ok(RobotsAttempt::LeftOpen(hop)),
            Followed::SendOn { next, redirects } => Ok(RobotsAttempt::SendOn { next, redirects }),
        }
    }

    /// Asks for a robots.txt at the address `at`, which redirects may have led to. Follows further ones.
    async fn follow_robots(
        &mut self,
        mut sought: Sought<'_>,
        mut at: CanonicalUrl,
        job: &mut FetchJob,
    ) -> Result<Followed, Unsent> {
        let (url, is_target) = (sought.url, sought.target_of.is_some());
        loop {
            let asked = match self.ask(&at, Errand::Robots { of: url }, job).await {
                Ok(asked) => asked,
                // The host that it redirects to rests. That is no reason to hand the page's request back.
                Err(Unsent::LeftAlone(_)) if is_target => return Ok(Followed::LeftOpen(Hop::Unknown)),
                Err(Unsent::LeftAlone(_)) if at.host_name() != url.host_name() => {
                    return Ok(Followed::Unreachable(None));
                }
                Err(why) => return Err(why),
            };
            self.wait_again(job);
            let mut response = match asked.answer {
                Ok(response) => response,
                Err(failure) => {
                    job.robots_bytes += failure.wire_bytes;
                    tracing::debug!(host = %url.host(), detail = failure.detail, "robots.txt unreachable");
                    return Ok(Followed::Unreachable(Some(failure)));
                }
            };
            job.robots_bytes += response.wire_bytes;
            if self.network.rules.fetch.record_failures
                && let Some(mut record) = response.record.take()
            {
                let copy = || RecordedBody::copy_of(&response.body, response.truncated, &self.network.memory);
                record.body = record.body.or_else(copy);
                job.record(record, &at, asked.fetched_at, false);
            }
            let Some(next) = redirect(&at, &response) else {
                return Ok(if is_broken_off(&response) {
                    let detail = "the connection ended in the midst of robots.txt".to_owned();
                    Followed::Unreachable(Some(FetchFailure::new(FetchOutcome::ConnectionLost, detail)))
                } else if response.status.is_success()
                    && let Some((outcome, detail)) = kept_out(&response)
                {
                    // It is no robots.txt, so the rules that are known stay.
                    Followed::Unreachable(Some(FetchFailure::new(outcome, detail)))
                } else {
                    Followed::Answered(Box::new(response))
                });
            };
            sought.redirects += 1;
            let leaves_owner = self.network.rules.sites_have_owners && next.site_key() != at.site_key();
            if sought.redirects > MAX_ROBOTS_REDIRECTS {
                return Ok(Followed::LeadsNowhere);
            }
            let asks_another = leaves_host(url, &next);
            sought.to_others += usize::from(asks_another);
            if is_target && (leaves_owner || asks_another && !sought.may_ask_another(&next)) {
                // Otherwise a chain of such redirects could go on for ever.
                return Ok(Followed::LeftOpen(Hop::Forbidden));
            }
            if leaves_owner {
                return Ok(Followed::SendOn { next, redirects: sought.redirects });
            }
            match self.may_follow(sought, &next, job).await? {
                Hop::Allowed => at = next,
                Hop::Forbidden => return Ok(Followed::LeadsNowhere),
                // For its own sake it is asked for with fewer redirects behind it.
                Hop::Unknown if is_target => return Ok(Followed::LeftOpen(Hop::Unknown)),
                Hop::Unknown => return Ok(Followed::Unreachable(None)),
            }
        }
    }

    /// A host says itself where its file is. Elsewhere, a target that is no robots.txt obeys the file of its own
    /// origin: otherwise a host could send crawlers to addresses that another forbids.
    async fn may_follow(&mut self, sought: Sought<'_>, next: &CanonicalUrl, job: &mut FetchJob) -> Result<Hop, Unsent> {
        if !leaves_host(sought.url, next) {
            return Ok(Hop::Allowed);
        }
        let hop = self.permission(sought, next, job).await?;
        // A site means the file that it points to. One of its hosts forbids to read it, so its rules are unknown.
        let within_site = next.site_key() == sought.url.site_key();
        Ok(if matches!(hop, Hop::Forbidden) && within_site { Hop::Unknown } else { hop })
    }

    /// Whether the robots.txt of its own origin allows to read the target of a redirect. That file may be a redirect within
    /// its site, too, and is followed.
    async fn permission(&mut self, sought: Sought<'_>, next: &CanonicalUrl, job: &mut FetchJob) -> Result<Hop, Unsent> {
        let of_target = Sought { url: next, target_of: Some(&sought), redirects: 0, to_others: sought.to_others };
        if let Refreshed::LeftOpen(hop) = self.refresh(of_target, job).await? {
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

    /// How long the host still rests before a robots.txt of another site is asked for here. A short rest is waited for:
    /// otherwise the other site would count as unreachable for minutes.
    pub(super) fn rest_before_errand(&self, job: &FetchJob) -> Option<Duration> {
        job.errand.as_ref().filter(|errand| errand.answer.is_none())?;
        let rest = self.gate.left_alone_until().saturating_since(self.clock.now());
        (!rest.is_zero() && rest <= ERRAND_PATIENCE).then_some(rest)
    }

    /// Asks here for the robots.txt of another site, which redirects to this one. Then the job goes back there, or on to
    /// the site of the next redirect.
    pub(super) async fn run_errand(&mut self, mut errand: RobotsErrand, job: &mut FetchJob) -> Result<(), Unsent> {
        let url = errand.of_url.clone();
        let redirects = usize::try_from(errand.redirects).unwrap_or(MAX_ROBOTS_REDIRECTS);
        let at = std::mem::replace(&mut job.at, url.clone());
        let sought = Sought::for_itself(&url, redirects);
        let followed = match self.may_follow(sought, &at, job).await {
            Ok(Hop::Allowed) => self.follow_robots(sought, at, job).await,
            Ok(Hop::Forbidden) => Ok(Followed::LeadsNowhere),
            Ok(Hop::Unknown) | Err(Unsent::LeftAlone(_)) => Ok(Followed::Unreachable(None)),
            Err(why) => Err(why),
        };
        let answer = |status| RobotsAnswer { status, robots_txt: String::new(), retry_after_s: None };
        errand.answer = match followed? {
            Followed::SendOn { next, redirects } => {
                (job.at, errand.redirects) = (next, redirects as i32);
                None
            }
            Followed::Answered(response) => {
                let file = RobotsFile::parse(lines_of(&response)).reduced_to(&self.network.rules.product_token);
                let retry_after = self.retry_after(&response).map(|wait| wait.as_secs() as i64);
                Some(RobotsAnswer {
                    status: i32::from(response.status.as_u16()),
                    robots_txt: file.to_text(),
                    retry_after_s: retry_after,
                })
            }
            Followed::LeadsNowhere | Followed::LeftOpen(_) => Some(answer(NOWHERE)),
            Followed::Unreachable(_) => Some(answer(UNANSWERED)),
        };
        job.errand = Some(errand);
        Ok(())
    }

    /// Takes over another fetcher's result for a robots.txt.
    pub(super) fn take_errand(&self, url: &CanonicalUrl, answer: &RobotsAnswer, job: &mut FetchJob) {
        let now = self.clock.now();
        let fetch = RobotsFetch::Answered {
            status: u16::try_from(answer.status).unwrap_or_default(),
            body: answer.robots_txt.as_bytes(),
            retry_after: answer.retry_after_s.map(|seconds| Duration::from_secs(seconds.max(0) as u64)),
        };
        let entry = RobotsCacheEntry::after(self.network.robots.entry(url).as_ref(), fetch, now);
        let rules = &self.network.rules;
        self.network.robots.take(url, &entry, None, now + rules.robots_refresh, &rules.product_token);
        job.learned_robots_of(url);
    }
}

/// Whether the redirect of a robots.txt leads to an address that another host may forbid.
fn leaves_host(url: &CanonicalUrl, next: &CanonicalUrl) -> bool {
    next.path_and_query() != ROBOTS_PATH && next.host_name() != url.host_name()
}

/// Whether a file ended before its end, and not at our limit. The missing part may have been a rule, so the file counts
/// as not received (RFC 9309 §2.3.1.4): the rules from before hold and, without them, nothing is allowed.
fn is_broken_off(response: &Response) -> bool {
    response.status.is_success() && response.truncated && response.body.len() < MAX_ROBOTS_BYTES
}

/// The lines of a file, without the one in which our limit has cut it.
fn lines_of(response: &Response) -> &[u8] {
    if response.truncated { whole_lines(&response.body) } else { &response.body }
}

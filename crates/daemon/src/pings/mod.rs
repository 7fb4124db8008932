//! Pings from outside that a page has changed.
//!
//! Three senders can notify the crawler of a change, each enabled only if the settings hold a secret for it: an
//! operator's own systems with a token (`POST /hints`), site owners by IndexNow (`/indexnow`, indexnow.org), and WebSub
//! hubs (`/websub/NAME`, W3C Recommendation of 23 January 2018). [`Pings::answer`] takes a request as a value and
//! returns the answer and the hints. Hints count only once they are in the log, so the server sends the answer after
//! that.
//!
//! Nothing here listens or writes to a log, and no sender is trusted: a hint is evidence, to be verified by a look.

mod indexnow;
mod operator;
mod reply;
pub(crate) mod secret;
mod websub;

pub use self::reply::{PingReply, RejectionCounts};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use messages::{ChangeHint, HintKind};
use page::{CanonicalUrl, Timestamp, UrlRules};
use settings::Settings;
use std::num::NonZeroU32;
use std::time::Duration;

/// Maximum number of pages per request (IndexNow's limit).
pub const MAX_PAGES: usize = 10_000;
/// Maximum size of a body, in bytes: [`MAX_PAGES`] addresses of four hundred characters.
pub const MAX_BODY_BYTES: usize = 4 << 20;
/// Tolerance for differing clocks; a date further ahead is ignored.
const MAX_AHEAD: Duration = page::DAY;

/// The parts of an HTTP request that are needed here.
pub struct PingRequest<'a> {
    /// HTTP method. `GET` and `POST` are served, others refused.
    pub method: &'a str,
    /// Path, beginning with a slash.
    pub path: &'a str,
    /// Query string after the question mark, percent-encoded.
    pub query: &'a str,
    /// Looks up a header by its lower-case name.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// Body of at most [`MAX_BODY_BYTES`].
    pub body: &'a [u8],
}

/// The enabled endpoints, with the secrets of their senders.
pub struct Pings {
    settings: settings::Hints,
    urls: UrlRules,
    /// Limits pages per minute and sender. Only senders that have shown their secret are counted, so they are few.
    limiter: DefaultKeyedRateLimiter<String>,
}

impl Pings {
    /// The endpoints that the settings enable; `None` if they enable none.
    pub fn new(settings: &Settings) -> Option<Self> {
        let hints = &settings.hints;
        let is_open = hints.token.is_some() || !hints.indexnow.is_empty() || !hints.websub.is_empty();
        let per_minute = NonZeroU32::new(hints.pages_per_minute).unwrap_or(NonZeroU32::MIN);
        is_open.then(|| Self {
            settings: hints.clone(),
            urls: settings.urls.rules(),
            limiter: RateLimiter::keyed(Quota::per_minute(per_minute)),
        })
    }

    /// Whether a path belongs to an enabled endpoint.
    pub fn serves(&self, path: &str) -> bool {
        match path {
            "/hints" => self.settings.token.is_some(),
            "/indexnow" => !self.settings.indexnow.is_empty(),
            _ => path.starts_with("/websub/") && !self.settings.websub.is_empty(),
        }
    }

    /// Why a request is refused, whatever its body. `None` if the body decides.
    pub fn refusal<'a>(&self, path: &str, header: &dyn Fn(&str) -> Option<&'a str>) -> Option<PingReply> {
        if path == "/hints" { self.without_token(header) } else { None }
    }

    /// Answers a request to a path for which [`Pings::serves`] is true.
    pub fn answer(&self, request: &PingRequest<'_>, now: Timestamp) -> PingReply {
        match (request.method, request.path) {
            ("POST", "/hints") => self.operator(request, now),
            ("GET", "/indexnow") => self.indexnow_one(request, now),
            ("POST", "/indexnow") => self.indexnow_many(request, now),
            ("GET" | "POST", path) => match path.strip_prefix("/websub/") {
                Some(name) if request.method == "GET" => self.websub_intent(name, request),
                Some(name) => self.websub_content(name, request, now),
                None => PingReply::text(405, "only POST"),
            },
            _ => PingReply::text(405, "use GET or POST"),
        }
    }

    /// Admits all hints of one sender, or none.
    fn admit(&self, sender: &str, hints: Vec<ChangeHint>, reply: PingReply) -> PingReply {
        let Some(pages) = u32::try_from(hints.len()).ok().and_then(NonZeroU32::new) else { return reply };
        match self.limiter.check_key_n(&sender.to_owned(), pages) {
            Ok(Ok(())) => PingReply { hints, ..reply },
            over => {
                let limit = self.settings.pages_per_minute;
                let text = format!("{pages} pages exceed the limit of {limit} per minute (hints.pages_per_minute)");
                // More than a minute's pages at once will not be admitted later either.
                let status = if over.is_err() { 413 } else { 429 };
                PingReply {
                    counts: RejectionCounts { refused: u64::from(pages.get()), ..RejectionCounts::default() },
                    ..PingReply::text(status, &text)
                }
            }
        }
    }

    fn hint(
        &self,
        url: &CanonicalUrl,
        kind: HintKind,
        changed_at: Option<Timestamp>,
        source: &str,
        now: Timestamp,
    ) -> ChangeHint {
        let url = self.urls.apply(url.clone());
        ChangeHint { page_id: url.page_id(), url, kind, hinted_at: now, changed_at, source: source.to_owned() }
    }
}

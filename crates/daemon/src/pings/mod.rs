//! Who outside may say that a page changed, and what do they say?
//!
//! Three ways to tell a crawler of a change, each open only when the settings hold a secret for it: an operator's own
//! systems with a token (`POST /hints`), site owners by IndexNow (`/indexnow`, indexnow.org), and WebSub hubs
//! (`/websub/NAME`, W3C Recommendation of 23 January 2018). [`Pings::answer`] takes a request as a value and gives the
//! answer and the hints, which count only once they are in the log: whoever serves this sends the answer after that.
//!
//! Nothing here listens or writes to a log, and nobody is believed: a hint is evidence that a look will judge.

mod indexnow;
mod operator;
mod reply;
mod secret;
mod websub;

pub use self::reply::{Counts, Reply};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use messages::{ChangeHint, HintKind};
use page::{CanonicalUrl, Timestamp, UrlRules};
use settings::Settings;
use std::num::NonZeroU32;
use std::time::Duration;

/// The longest body taken, in bytes: 10,000 addresses of a hundred letters.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// The most pages one request may speak of (IndexNow's limit).
pub const MAX_PAGES: usize = 10_000;
/// Clocks differ; what is dated further ahead is no date.
const MAX_AHEAD: Duration = page::DAY;

/// A request, as far as it matters here.
pub struct Request<'a> {
    /// `GET` or `POST`; others are refused.
    pub method: &'a str,
    /// The path, beginning with a slash.
    pub path: &'a str,
    /// What stands behind the question mark, percent-encoded.
    pub query: &'a str,
    /// A header by its name in lower case.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The body, at most [`MAX_BODY_BYTES`].
    pub body: &'a [u8],
}

/// The doors that are open, and who may come in by which.
pub struct Pings {
    settings: settings::Hints,
    urls: UrlRules,
    /// Pages per minute and sender. Senders are those that have shown their secret, so they are few.
    limiter: DefaultKeyedRateLimiter<String>,
}

impl Pings {
    /// The doors that the settings open; `None` when all are shut.
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

    /// Whether a path is one of ours, whatever comes of it.
    pub fn serves(&self, path: &str) -> bool {
        match path {
            "/hints" => self.settings.token.is_some(),
            "/indexnow" => !self.settings.indexnow.is_empty(),
            _ => path.starts_with("/websub/") && !self.settings.websub.is_empty(),
        }
    }

    /// Answers a request to a path that [`Pings::serves`].
    pub fn answer(&self, request: &Request<'_>, now: Timestamp) -> Reply {
        match (request.method, request.path) {
            ("POST", "/hints") => self.operator(request, now),
            ("GET", "/indexnow") => self.indexnow_one(request, now),
            ("POST", "/indexnow") => self.indexnow_many(request, now),
            ("GET" | "POST", path) => match path.strip_prefix("/websub/") {
                Some(name) if request.method == "GET" => self.websub_intent(name, request),
                Some(name) => self.websub_content(name, request, now),
                None => Reply::text(405, "only POST"),
            },
            _ => Reply::text(405, "only GET and POST"),
        }
    }

    /// Lets the hints of one sender through, or none of them.
    fn admit(&self, sender: &str, hints: Vec<ChangeHint>, reply: Reply) -> Reply {
        let Some(pages) = u32::try_from(hints.len()).ok().and_then(NonZeroU32::new) else { return reply };
        match self.limiter.check_key_n(&sender.to_owned(), pages) {
            Ok(Ok(())) => Reply { hints, ..reply },
            Ok(Err(_)) | Err(_) => {
                let limit = self.settings.pages_per_minute;
                let text = format!("{pages} pages are too many now; {limit} a minute are taken");
                Reply {
                    counts: Counts { refused: u64::from(pages.get()), ..Counts::default() },
                    ..Reply::text(429, &text)
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

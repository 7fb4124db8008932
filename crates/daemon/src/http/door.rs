//! Who may give commands to a port and read texts of pages there, and which crawl it is of.

use super::TextResponse;
use crate::pings::secret::{credentials, knows};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use hyper::header::{self, HeaderMap};
use settings::Secret;

/// Names the log whose crawl a request is for. Two crawls may have had the same port one after the other.
pub const LOG_HEADER: &str = "x-recrawl-log";

/// The rights at a port. By default there are none.
#[derive(Clone, Debug, Default)]
pub struct Door {
    /// Id of the crawl's log, if the port is of one crawl.
    pub log: Option<String>,
    /// Each gives all rights.
    pub tokens: Vec<Secret>,
}

impl Door {
    /// Refuses a request that names another crawl.
    pub(super) fn other_crawl(&self, headers: &HeaderMap) -> Option<TextResponse> {
        let named = headers.get(LOG_HEADER)?.to_str().unwrap_or_default();
        let own = self.log.as_deref().unwrap_or("none");
        (named != own).then(|| {
            TextResponse::text(409, format!("another crawl runs here: its log is {own}, the request is for {named}\n"))
        })
    }

    /// Refuses a command without a token.
    pub(super) fn refuses_command(&self, headers: &HeaderMap) -> Option<TextResponse> {
        let shown = authorization(headers).and_then(|header| credentials(header, "bearer"));
        (!self.opens(shown)).then(unknown)
    }

    /// Refuses to show texts of pages without a token. It may also be the password of Basic authentication, with any name,
    /// because readers of feeds know nothing else. Commands do not take that: a browser would add it to requests that a
    /// web site makes.
    pub(super) fn refuses_reader(&self, headers: &HeaderMap) -> Option<TextResponse> {
        let shown = authorization(headers);
        let pair = shown.and_then(|shown| credentials(shown, "basic"));
        let pair = pair.and_then(|pair| BASE64_STANDARD.decode(pair).ok());
        let pair = pair.and_then(|pair| String::from_utf8(pair).ok());
        let password = pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, password)| password);
        let shown = shown.and_then(|shown| credentials(shown, "bearer")).or(password);
        (!self.opens(shown)).then(unknown)
    }

    fn opens(&self, shown: Option<&str>) -> bool {
        shown.is_some_and(|shown| self.tokens.iter().any(|token| knows(token, shown)))
    }
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

fn unknown() -> TextResponse {
    let text = "a token is needed: use --data with the crawl's directory, which has one, or set http.token or \
                http.token_file\n";
    TextResponse::text(401, text)
}

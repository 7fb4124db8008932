//! Who may give commands to a port and read texts of pages there, and which crawl it is of.

use super::TextResponse;
use super::keys::{Caller, KeyRing};
use crate::pings::secret::{credentials, knows};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use hyper::header::{self, HeaderMap};
use settings::Secret;
use std::sync::Arc;

/// Names the log whose crawl a request is for. Two crawls may have had the same port one after the other.
pub const LOG_HEADER: &str = "x-recrawl-log";

/// The rights at a port. By default there are none.
#[derive(Clone, Debug, Default)]
pub struct Door {
    /// Id of the crawl's log, if the port is of one crawl.
    pub log: Option<String>,
    /// Each gives all rights, to a caller of this name.
    pub tokens: Vec<(&'static str, Secret)>,
    /// Those of single people and programs.
    pub keys: Option<Arc<KeyRing>>,
    /// The secret behind the tokens of forms, which other processes may have, too. Without one the port makes its own.
    pub forms_key: Option<Secret>,
}

impl Door {
    /// Whether some requests take a token.
    pub(super) fn is_locked(&self) -> bool {
        !self.tokens.is_empty() || self.keys.is_some()
    }

    /// Refuses a request that names another crawl.
    pub(super) fn other_crawl(&self, headers: &HeaderMap) -> Option<TextResponse> {
        let named = headers.get(LOG_HEADER)?.to_str().unwrap_or_default();
        let own = self.log.as_deref().unwrap_or("none");
        (named != own).then(|| {
            TextResponse::problem(409, format!("another crawl runs here: its log is {own}, the request is for {named}"))
        })
    }

    /// The sender of a command, by its token.
    ///
    /// # Errors
    /// The answer to a request without one.
    pub(super) fn commander(&self, headers: &HeaderMap) -> Result<Arc<Caller>, TextResponse> {
        self.caller(authorization(headers).and_then(|header| credentials(header, "bearer")))
    }

    /// The reader of texts of pages. The token may also be the password of Basic authentication, with any name,
    /// because readers of feeds know nothing else. Commands do not take that: a browser would add it to requests that a
    /// web site makes.
    ///
    /// # Errors
    /// The answer to a request without a token.
    pub(super) fn reader(&self, headers: &HeaderMap) -> Result<Arc<Caller>, TextResponse> {
        let shown = authorization(headers);
        let pair = shown.and_then(|shown| credentials(shown, "basic"));
        let pair = pair.and_then(|pair| BASE64_STANDARD.decode(pair).ok());
        let pair = pair.and_then(|pair| String::from_utf8(pair).ok());
        let password = pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, password)| password);
        self.caller(shown.and_then(|shown| credentials(shown, "bearer")).or(password))
    }

    fn caller(&self, shown: Option<&str>) -> Result<Arc<Caller>, TextResponse> {
        let by_token = |shown: &str| {
            let found = self.tokens.iter().find(|(_, token)| knows(token, shown));
            found.map(|(name, _)| Arc::new(Caller::admin(name)))
        };
        let by_key = |shown: &str| self.keys.as_ref()?.find(shown);
        shown.and_then(|shown| by_token(shown).or_else(|| by_key(shown))).ok_or_else(unknown)
    }
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

/// Refuses a request for want of a right, and logs that.
pub fn refused(caller: &Caller, path: &str, refusal: &str) -> TextResponse {
    tracing::warn!(target: "audit", key = caller.name, command = path, refusal, "command refused");
    TextResponse::problem(403, refusal)
}

fn unknown() -> TextResponse {
    let text = "a token is needed: use --data with the crawl's directory, which has one, or set http.token or \
                http.token_file to it or to that of your key; a browser takes it as the password, with any name";
    TextResponse::problem(401, text)
}

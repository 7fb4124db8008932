//! Forms that a browser sends from our own screens.
//!
//! A browser adds the password of its user to requests that any web site makes. So a form must come from a screen of this port:
//! by what the browser says of its origin, and by a token that only our screens show.

use super::{Caller, TextResponse};
use crate::pings::secret::from_hex;
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use hyper::header::{self, HeaderMap, HeaderName};
use settings::Secret;
use std::io;

/// Field of a form with the token of its sender.
pub const FORM_TOKEN: &str = "form_token";
/// Says how the sender's origin is related to ours (Fetch Metadata). Browsers send it to addresses that they trust: by TLS, or on
/// their own machine.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Makes the tokens of forms. They are valid wherever the key is known: where an operator gives one, at all processes that have
/// it, also after a restart; otherwise as long as the process runs.
pub(super) struct FormTokens(hmac::Key);

impl FormTokens {
    /// # Errors
    /// No key is given, and the system has no random numbers.
    pub(super) fn new(key: Option<&Secret>) -> io::Result<Self> {
        if let Some(key) = key {
            return Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, key.reveal().as_bytes())));
        }
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        key.map(Self).map_err(|_| io::Error::other("the system has no random numbers"))
    }

    /// The token of the forms that a caller is shown.
    pub(super) fn of(&self, caller: &Caller) -> String {
        let tag = hmac::sign(&self.0, caller.name.as_bytes());
        tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Refuses a form without the token of its sender.
    pub(super) fn refusal(&self, caller: &Caller, body: &[u8]) -> Option<TextResponse> {
        let shown = form_urlencoded::parse(body).find(|(name, _)| name == FORM_TOKEN);
        let is_valid = shown.and_then(|(_, token)| from_hex(&token)).is_some_and(|token| {
            // In constant time.
            hmac::verify(&self.0, caller.name.as_bytes(), &token).is_ok()
        });
        let why = "the form was shown to another key, or by a process that has ended or has another key of forms \
                   (http.forms_key_file); load its screen again";
        (!is_valid).then(|| TextResponse::problem(403, why))
    }
}

/// Refuses a form that another site has sent.
pub(super) fn refuse_foreign(headers: &HeaderMap) -> Option<TextResponse> {
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_own = match text(&FETCH_SITE) {
        Some(site) => site == "same-origin",
        None => match (text(&header::ORIGIN), text(&header::HOST)) {
            (Some(origin), Some(host)) => {
                origin.split_once("://").is_some_and(|(_, place)| place.eq_ignore_ascii_case(host))
            }
            _ => false,
        },
    };
    let why = "forms are taken from the screens of the console alone; programs use the commands under /api/v1";
    (!is_own).then(|| TextResponse::problem(403, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn a_form_is_taken_from_our_own_screens_alone() {
        let is_taken = |pairs: &[(&'static str, &'static str)]| {
            let pairs =
                pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            refuse_foreign(&pairs.collect()).is_none()
        };
        assert!(is_taken(&[("sec-fetch-site", "same-origin")]));
        assert!(is_taken(&[("origin", "http://Crawl.example:9464"), ("host", "crawl.example:9464")]));
        for foreign in [
            &[("sec-fetch-site", "same-site"), ("origin", "http://crawl.example"), ("host", "crawl.example")][..],
            &[("sec-fetch-site", "cross-site")],
            // Typed into the address bar: no form is sent that way.
            &[("sec-fetch-site", "none")],
            &[("origin", "http://evil.example"), ("host", "crawl.example")],
            &[("origin", "http://crawl.example:81"), ("host", "crawl.example")],
            &[("origin", "null"), ("host", "null")],
            &[("host", "crawl.example")],
            &[],
        ] {
            assert!(!is_taken(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn a_token_is_of_one_caller_and_of_one_process_or_of_those_with_its_key() {
        let (tokens, others) = (FormTokens::new(None).unwrap(), FormTokens::new(None).unwrap());
        let [shared, same, changed] =
            ["a key", "a key", "another key"].map(|key| FormTokens::new(Some(&Secret::new(key))).unwrap());
        let (alice, bob) = (Caller::admin("alice"), Caller::admin("bob"));
        let is_taken =
            |tokens: &FormTokens, caller: &Caller, body: &str| tokens.refusal(caller, body.as_bytes()).is_none();
        let body = format!("names=a.test&form_token={}", tokens.of(&alice));
        assert!(is_taken(&tokens, &alice, &body));
        assert!(!is_taken(&tokens, &bob, &body) && !is_taken(&others, &alice, &body));
        for wrong in ["", "form_token=", "form_token=zz", &body[..body.len() - 2], "names=a.test"] {
            assert!(!is_taken(&tokens, &alice, wrong), "{wrong}");
        }
        assert_ne!(tokens.of(&alice), tokens.of(&bob));
        let body = format!("form_token={}", shared.of(&alice));
        assert!(is_taken(&same, &alice, &body));
        assert!(
            !is_taken(&same, &bob, &body) && !is_taken(&changed, &alice, &body) && !is_taken(&tokens, &alice, &body)
        );
    }
}

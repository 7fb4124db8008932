//! Answers of the port, with the headers that keep a browser from making more of them than they are.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;

/// Media type of most answers.
pub(super) const JSON: &str = "application/json";
/// Media type of words for people.
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
/// Media type of a refusal (RFC 9457).
pub const PROBLEM: &str = "application/problem+json";
/// Media type of the console's screens.
pub const HTML: &str = "text/html; charset=utf-8";
/// Media type of their style.
pub const CSS: &str = "text/css; charset=utf-8";
/// Media type of their script.
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
/// Headers of every answer. No text of a page or of a request runs as markup in a browser, and no cache keeps an answer for
/// somebody without the token.
const PROTECTION: [(&str, &str); 2] = [("x-content-type-options", "nosniff"), ("cache-control", "no-store")];
/// The policy for an answer that is no screen: a browser may do nothing with it.
const NO_CONTENT: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";
/// The policy for a screen: it may load our style and our script and ask us. It runs no other script, also none that stands in it, and
/// no other site shows it in a frame.
const SCREEN: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src data:; \
                      form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; \
                      frame-ancestors 'none'";

/// An HTTP response with a text body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResponse {
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
}

impl TextResponse {
    /// A plain-text response for people.
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self { status, content_type: TEXT, body: body.into() }
    }

    /// A JSON response for machines.
    pub fn json(status: u16, body: &impl serde::Serialize) -> Self {
        let body = serde_json::to_string(body).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
        Self { status, content_type: JSON, body }
    }

    /// A refusal as a problem document (RFC 9457). `detail` says why, and what to do.
    pub fn problem(status: u16, detail: impl Into<String>) -> Self {
        let title = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let body = json!({ "title": title.unwrap_or("Refused"), "status": status, "detail": detail.into() });
        Self { status, content_type: PROBLEM, body: body.to_string() }
    }

    /// A screen for people with a browser. The body is whole and escaped.
    pub fn screen(status: u16, body: String) -> Self {
        Self { status, content_type: HTML, body }
    }

    /// A refusal as a screen.
    pub(super) fn into_screen(self) -> Self {
        let problem: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        let word = |name: &str| htmlize::escape_all_quotes(problem[name].as_str().unwrap_or_default()).into_owned();
        let (title, detail) = (word("title"), word("detail"));
        let body = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} · recrawl</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/console.css\">\n\
             <main>\n<h1>{title}</h1>\n<p>{detail}</p>\n<p><a href=\"/\">To the first screen</a></p>\n</main>\n</html>\n"
        );
        Self::screen(self.status, body)
    }

    /// The response as it is sent.
    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::new(Full::new(Bytes::from(self.body)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        for (name, value) in PROTECTION {
            headers.insert(name, HeaderValue::from_static(value));
        }
        // No other site learns where a link to it was followed. Without a referrer to ourselves, browsers would not name the
        // origin of our forms.
        let (policy, referrer) =
            if self.content_type == HTML { (SCREEN, "same-origin") } else { (NO_CONTENT, "no-referrer") };
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static(referrer));
        if status == StatusCode::TOO_MANY_REQUESTS {
            // The limit is one of a minute.
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        }
        if status != StatusCode::NO_CONTENT {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        response
    }
}

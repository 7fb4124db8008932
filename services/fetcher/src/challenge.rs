//! Recognises answers by which a host keeps crawlers out: a demand to be paid, a puzzle, or a demand for proof of who asks.
//!
//! Such an answer says nothing of the page. It is not content, whatever its status; it is neither paid nor solved. Only
//! marks count that their makers document, or that stand on their pages alone: a wrong guess would hide a page for a week.

use crate::identity::ACCEPT_SIGNATURE;
use crate::response::Response;
use hyper::StatusCode;
use hyper::header::{HeaderName, WWW_AUTHENTICATE};
use memchr::memmem;
use messages::FetchOutcome;
use signatures::asked_signature;

/// Set by Cloudflare on its challenges.
pub(crate) const CF_MITIGATED: HeaderName = HeaderName::from_static("cf-mitigated");
/// Set by Vercel's firewall.
pub(crate) const X_VERCEL_MITIGATED: HeaderName = HeaderName::from_static("x-vercel-mitigated");
/// Set by AWS WAF: a challenge comes with 202, a CAPTCHA with 405.
pub(crate) const X_AMZN_WAF_ACTION: HeaderName = HeaderName::from_static("x-amzn-waf-action");
/// The price in a 402 of Cloudflare.
pub(crate) const CRAWLER_PRICE: HeaderName = HeaderName::from_static("crawler-price");

/// Headers whose value is a challenge, with its values.
const MARKS: [(HeaderName, &[&str]); 3] = [
    (CF_MITIGATED, &["challenge"]),
    (X_VERCEL_MITIGATED, &["challenge"]),
    (X_AMZN_WAF_ACTION, &["challenge", "captcha"]),
];
/// Begins the data of a challenge of Anubis, whose pages come with 200. A page that writes about it has `&lt;` there.
const ANUBIS: &[u8] = b"<script id=\"anubis_challenge\"";
/// How far into a body the mark is looked for. It stands in the head of a small page.
const MARKED_WITHIN: usize = 32 << 10;
/// Scheme of privacy tokens, which are given for a proof of work or a person (RFC 9577).
const TOKEN_SCHEME: &str = "privatetoken";

/// The outcome of an answer that keeps crawlers out, with its mark. `None` for any other.
pub(crate) fn kept_out(response: &Response) -> Option<(FetchOutcome, String)> {
    if response.status == StatusCode::PAYMENT_REQUIRED {
        let price = response.header(CRAWLER_PRICE).map(|price| format!("; its price is {price}"));
        let detail = format!("the host wants to be paid{}", price.unwrap_or_default());
        return Some((FetchOutcome::PaymentRequired, detail));
    }
    mark(response).map(|mark| (FetchOutcome::Challenged, format!("a challenge came in place of the page: {mark}")))
}

fn mark(response: &Response) -> Option<String> {
    let of_header = MARKS.into_iter().find_map(|(name, values)| {
        let value = response.header(name.clone())?;
        let is_mark = values.iter().any(|mark| value.trim().eq_ignore_ascii_case(mark));
        is_mark.then(|| format!("{name}: {}", value.trim()))
    });
    if of_header.is_some() {
        return of_header;
    }
    match response.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            if response.headers_named(ACCEPT_SIGNATURE).any(|field| asked_signature(field).is_some()) {
                return Some("the host wants signed requests of an identity that it accepts".to_owned());
            }
            let wants_token = response.headers_named(WWW_AUTHENTICATE).any(wants_token);
            wants_token.then(|| "www-authenticate: PrivateToken".to_owned())
        }
        // A site may serve texts of others, in which the mark stands as it is.
        status if status.is_success() && is_html(response) => {
            let start = &response.body[..response.body.len().min(MARKED_WITHIN)];
            memmem::find(start, ANUBIS).map(|_| "a page of Anubis".to_owned())
        }
        _ => None,
    }
}

fn is_html(response: &Response) -> bool {
    response
        .content_type()
        .is_some_and(|media_type| media_type.trim_start().to_ascii_lowercase().starts_with("text/html"))
}

/// Whether one of the challenges of `www-authenticate` asks for a privacy token.
fn wants_token(wanted: &str) -> bool {
    wanted.split(',').any(|part| {
        let scheme = part.trim_start().split([' ', '=']).next().unwrap_or_default();
        scheme.eq_ignore_ascii_case(TOKEN_SCHEME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use hyper::header::{HeaderMap, HeaderValue};

    fn outcome(status: u16, headers: &[(&'static str, &'static str)], body: &'static str) -> Option<FetchOutcome> {
        let html = [("content-type", "text/html; charset=utf-8")];
        let is_typed = headers.iter().any(|(name, _)| *name == "content-type");
        let headers = [headers, &html[usize::from(is_typed)..]].concat();
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        let response = Response {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::from_iter(headers.iter().map(header)),
            body: Bytes::from_static(body.as_bytes()),
            ..Response::default()
        };
        kept_out(&response).map(|(outcome, _)| outcome)
    }

    const ANUBIS_PAGE: &str = "<!doctype html><html lang=\"en\"><head><title>Making sure you&#39;re not a bot!</title>\
        <script id=\"anubis_version\" type=\"application/json\">\"v1.21.3\"\n</script>\
        <script id=\"anubis_challenge\" type=\"application/json\">{\"rules\":{\"difficulty\":4}}</script></head></html>";
    const ABOUT_ANUBIS: &str = "<h1>How Anubis works</h1><p>Making sure you're not a bot!<pre>&lt;script \
        id=\"anubis_challenge\" type=\"application/json\"></pre>";
    /// Cloudflare puts such a script into ordinary pages of sites that it protects.
    const WITH_DETECTION: &str = "<p>News</p><script src=\"/cdn-cgi/challenge-platform/scripts/jsd/main.js\"></script>";

    #[test]
    fn an_answer_that_keeps_crawlers_out_is_known_by_its_mark() {
        let challenged = Some(FetchOutcome::Challenged);
        let check = |status, headers: &[(&'static str, &'static str)], body, expected| {
            assert_eq!(outcome(status, headers, body), expected, "{status} {headers:?} {body}");
        };
        let asks = ("accept-signature", "sig1=(\"@authority\");tag=\"web-bot-auth\"");
        // Those that are.
        check(402, &[], "", Some(FetchOutcome::PaymentRequired));
        check(402, &[("crawler-price", "USD 0.01")], "", Some(FetchOutcome::PaymentRequired));
        check(402, &[("cf-mitigated", "challenge")], "", Some(FetchOutcome::PaymentRequired));
        check(403, &[("cf-mitigated", "challenge")], "", challenged);
        check(503, &[("cf-mitigated", "challenge")], "", challenged);
        check(200, &[("cf-mitigated", " Challenge ")], "<p>Just a moment...", challenged);
        check(429, &[("x-vercel-mitigated", "challenge")], "", challenged);
        check(202, &[("x-amzn-waf-action", "challenge")], "", challenged);
        check(405, &[("x-amzn-waf-action", "captcha")], "", challenged);
        check(200, &[], ANUBIS_PAGE, challenged);
        check(401, &[asks], "", challenged);
        check(403, &[asks], "", challenged);
        check(401, &[("www-authenticate", "PrivateToken challenge=\"abc=\", token-key=\"x\"")], "", challenged);
        check(401, &[("www-authenticate", "Basic realm=\"a\", privatetoken challenge=\"abc\"")], "", challenged);
        // Those that are not.
        check(200, &[], "<p>News", None);
        check(200, &[], ABOUT_ANUBIS, None);
        check(200, &[("content-type", "text/plain")], ANUBIS_PAGE, None);
        check(200, &[], WITH_DETECTION, None);
        check(200, &[asks], "<p>News", None);
        check(200, &[("server", "cloudflare")], "<p>News", None);
        check(403, &[("server", "cloudflare")], "", None);
        check(403, &[("cf-mitigated", "block")], "", None);
        check(403, &[], "", None);
        check(403, &[("accept-signature", "sig1=(\"@authority\");tag=\"other\"")], "", None);
        check(401, &[("www-authenticate", "Basic realm=\"staff\"")], "", None);
        check(401, &[("www-authenticate", "Bearer realm=\"PrivateToken\"")], "", None);
        check(429, &[("retry-after", "30")], "", None);
        check(503, &[("retry-after", "30")], "", None);
        check(404, &[], "", None);
        check(200, &[("x-amzn-waf-action", "allow")], "<p>News", None);
        check(202, &[], "<p>Accepted", None);
    }
}

//! Validators and the addresses that sent them.

use messages::{Digest, FetchOutcome, FetchRequest, Look, Validators, Verdict};
use page::{CanonicalUrl, Timestamp};

fn url(url: &str) -> CanonicalUrl {
    CanonicalUrl::parse(url).unwrap()
}

fn validators(from: &str, etag: Option<&str>) -> Validators {
    let content_digest = Some(Digest([7; 32]));
    Validators { url: Some(url(from)), etag: etag.map(str::to_owned), content_digest, ..Validators::default() }
}

#[test]
fn validators_of_two_addresses_are_never_mixed() {
    let now = Timestamp::from_secs(1_763_640_000);
    let known = validators("https://a.test/1", Some("\"1\""));
    let look = |outcome, from| {
        let look = Look::new(FetchRequest::first(url("https://a.test/"), now), outcome, now);
        Look { validators: Validators { content_digest: None, ..validators(from, None) }, ..look }
    };
    let confirmed = look(FetchOutcome::NotModified, "https://a.test/1");
    assert_eq!(known.clone().after(&confirmed, Verdict::Unchanged), known);
    let moved = look(FetchOutcome::SameContent, "https://a.test/2");
    assert_eq!(known.after(&moved, Verdict::Unchanged), validators("https://a.test/2", None));
}

/// The validators after looks in turn, each with its outcome and status; a look that brings a copy brings an ETag.
fn after(looks: &[(FetchOutcome, u16)]) -> Validators {
    let now = Timestamp::from_secs(1_763_640_000);
    looks.iter().fold(validators("https://a.test/", Some("\"0\"")), |known, &(outcome, status)| {
        let mut look = Look::new(FetchRequest::first(url("https://a.test/"), now), outcome, now);
        look.status = Some(status);
        if matches!(outcome, FetchOutcome::Fetched | FetchOutcome::SameContent) {
            look.validators = validators("https://a.test/", Some("\"1\""));
        }
        known.after(&look, Verdict::Unchanged)
    })
}

#[test]
fn a_request_that_failed_with_conditions_is_not_repeated_with_them() {
    use FetchOutcome::{ClientError, ConnectionLost, Fetched, NotModified, RateLimited, ServerError};
    let fails = [(ClientError, 400), (ServerError, 500), (ServerError, 503), (ConnectionLost, 0)];
    for fail in fails {
        let known = after(&[fail]);
        assert_eq!((known.etag, known.content_digest), (None, Some(Digest([7; 32]))), "{fail:?}");
        // The trouble may be over: the next copy is asked for with conditions.
        assert!(after(&[fail, (Fetched, 200)]).etag.is_some(), "{fail:?}");
        assert!(after(&[fail, fail, (Fetched, 200)]).etag.is_some(), "{fail:?}");
        assert_eq!(after(&[fail, (Fetched, 200), (NotModified, 304)]).failed_conditions, 0, "{fail:?}");
    }
    assert!(after(&[(RateLimited, 429)]).etag.is_some(), "a host that is asked too often says nothing of conditions");
}

#[test]
fn a_server_that_fails_at_conditions_alone_gets_none_any_more() {
    use FetchOutcome::{ClientError, Fetched, NotModified, ServerError};
    let in_turn = [(ServerError, 500), (Fetched, 200)].repeat(3);
    assert_eq!(after(&in_turn).etag, None);
    assert_eq!(after(&[&in_turn[..], &[(Fetched, 200)]].concat()).etag, None);
    assert_eq!(after(&[(ClientError, 412), (Fetched, 200)]).etag, None, "412 says that it is the conditions");
    let with_success = [&in_turn[..4], &[(NotModified, 304)], &in_turn[..4]].concat();
    assert!(after(&with_success).etag.is_some(), "it has answered some");
}

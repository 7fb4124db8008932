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

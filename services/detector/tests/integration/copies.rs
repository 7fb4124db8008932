//! The limit of the stored copies together.

use crate::bench::Bench;
use messages::{Encoded, FetchOutcome, FetchRequest, FetchResult, Look, PageRemoval, topics};
use page::{CanonicalUrl, PageId};
use std::collections::{BTreeMap, BTreeSet};
use stream::Clock;

/// A body of this many bytes that does not compress.
fn incompressible(count: usize, seed: u32) -> String {
    let numbers =
        std::iter::successors(Some(seed), |last| Some(last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)));
    let text: String = numbers.take(count).map(|number| char::from(b'a' + (number >> 24) as u8 % 26)).collect();
    format!("<p>{text}")
}

#[test]
fn copies_have_a_limit_in_which_a_large_site_leaves_room_for_others() {
    let settings = [("detector.contents", "body"), ("detector.max_contents", "1MiB")];
    let mut bench = Bench::new(&settings);
    let look_at = |bench: &mut Bench, url: &str, seed: u32| {
        let body = incompressible(300_000, seed);
        let like = bench.answer(FetchOutcome::Fetched, Some(&body));
        let url = CanonicalUrl::parse(url).unwrap();
        let request =
            FetchRequest { attempt: like.look.attempt, ..FetchRequest::first(url.clone(), like.look.fetched_at) };
        let look = Look {
            status: Some(200),
            validators: like.look.validators.clone(),
            body_length: like.look.body_length,
            ..Look::new(request, FetchOutcome::Fetched, like.look.fetched_at)
        };
        bench.send(&FetchResult { look, ..like });
        url.page_id()
    };
    let stored = |bench: &Bench| {
        let records = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
        let last: BTreeMap<_, _> = records.iter().map(|record| (record.key.clone(), record.value.is_some())).collect();
        last.into_iter().filter(|(_, is_stored)| *is_stored).map(|(id, _)| id).collect::<BTreeSet<_>>()
    };
    let ids = |pages: &[PageId]| pages.iter().map(|page| page.0.to_vec()).collect::<BTreeSet<_>>();
    let large: Vec<_> = (0..4).map(|page| look_at(&mut bench, &format!("http://large.test/{page}"), page)).collect();
    assert_eq!(stored(&bench), ids(&large[..2]), "four fifths of the limit");
    let other = look_at(&mut bench, "http://other.test/", 9);
    assert_eq!(stored(&bench), ids(&[large[0], large[1], other]));
    // The large site has more than its share now: a changed page loses its copy. The sums outlive the process.
    bench.driver.kill(0);
    bench.restart();
    look_at(&mut bench, "http://large.test/0", 10);
    assert_eq!(stored(&bench), ids(&[large[1], other]));
    let url = CanonicalUrl::parse("http://large.test/1").unwrap();
    let removal = PageRemoval { url, removed_at: Clock::now(&*bench.driver.clock), last_attempt: None };
    bench.driver.send(&bench.names.topic(topics::FETCH_RESULTS), b"large.test", removal.encode()).unwrap();
    look_at(&mut bench, "http://large.test/2", 11);
    assert_eq!(stored(&bench), ids(&[large[2], other]));
}

//! Pages that are missing, gone, back, or replaced by an error.

use crate::bench::{Bench, FIRST, Seen, URL, html};
use messages::{FetchOutcome, FetchResult, Validators, Verdict, topics};
use page::{CanonicalUrl, HOUR, Timestamp};

#[test]
fn a_page_is_gone_when_it_was_not_found_three_times_over_three_days_and_returns_once() {
    let mut bench = Bench::new(&[]);
    let first = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    for (look, again_s) in [129_600, 129_600, 86_400].into_iter().enumerate() {
        let missing = bench.see(FetchOutcome::NotFound, None);
        assert_eq!(missing.observation.judgement.verdict, Verdict::Unknown, "a server that fails says 404 too");
        assert_eq!(missing.observation.judgement.look_again_after_s, Some(again_s), "what is left of three days");
        assert_eq!(missing.validators, first.validators, "the copy is not given up");
        let reported = missing.change.map(|change| (change.verdict, change.magnitude));
        assert_eq!(reported, (look == 0).then_some((Verdict::Missing, 0.0)), "at once, and once");
    }
    let gone = bench.see(FetchOutcome::NotFound, None);
    assert_eq!((gone.observation.judgement.verdict, gone.change.unwrap().verdict), (Verdict::Gone, Verdict::Gone));
    assert_eq!(gone.observation.judgement.previous_fetched_at, Some(first.observation.look.fetched_at));
    assert_eq!(gone.validators.content_digest, None, "its return is to come with a body");
    let still = bench.see(FetchOutcome::Gone, None);
    assert_eq!(
        (still.observation.judgement.verdict, still.observation.judgement.look_again_after_s),
        (Verdict::Unchanged, None)
    );
    assert!(still.change.is_none());
    let back = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(
        (back.observation.judgement.verdict, back.change.unwrap().verdict),
        (Verdict::Returned, Verdict::Returned)
    );
    let same = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(same.observation.judgement.verdict, Verdict::Unchanged);
    let said_so = bench.see(FetchOutcome::Gone, None);
    assert_eq!(said_so.observation.judgement.verdict, Verdict::Gone, "410 is the server's own word");
}

#[test]
fn a_page_that_was_only_missing_is_compared_with_what_it_was() {
    let mut bench = Bench::new(&[]);
    let first = bench.see(FetchOutcome::Fetched, Some(&html(FIRST))).observation;
    bench.see(FetchOutcome::NotFound, None);
    let back = bench.see(FetchOutcome::NotModified, None).observation;
    assert_eq!(
        (back.judgement.verdict, back.judgement.previous_fetched_at),
        (Verdict::Unchanged, Some(first.look.fetched_at))
    );
    // Counting begins anew.
    (0..3).for_each(|_| {
        assert_eq!(bench.see(FetchOutcome::NotFound, None).observation.judgement.verdict, Verdict::Unknown)
    });
}

#[test]
fn an_outage_of_a_host_does_not_delete_its_pages() {
    let mut bench = Bench::new(&[]);
    let look = |bench: &mut Bench, page: usize, outcome, body: Option<&str>| {
        let url = CanonicalUrl::parse(&format!("{URL}/{page}")).unwrap();
        let mut result = bench.answer(outcome, body);
        // All within an hour.
        result.look.fetched_at = Timestamp::from_secs(1_700_000_000 + 60 * result.look.attempt);
        (result.look.page_id, result.look.url) = (url.page_id(), url);
        bench.see_result(&result)
    };
    (0..8).for_each(|page| drop(look(&mut bench, page, FetchOutcome::Fetched, Some(&html(FIRST)))));
    let verdicts: Vec<_> = (0..8).map(|page| look(&mut bench, page, FetchOutcome::Gone, None)).collect();
    assert!(
        verdicts[..4].iter().all(|seen| seen.observation.judgement.verdict == Verdict::Gone),
        "so far pages, as they say"
    );
    assert!(
        verdicts[4..]
            .iter()
            .all(|seen| seen.observation.judgement.verdict == Verdict::Unknown && seen.change.is_none())
    );
    for page in 4..8 {
        let back = look(&mut bench, page, FetchOutcome::NotModified, None);
        assert_eq!(back.observation.judgement.verdict, Verdict::Unchanged, "as if it had never happened");
    }
}

#[test]
fn an_error_in_a_pages_place_is_no_change_until_it_lasts_and_comes_again_with_its_body() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let error = html(&["Access denied. Your request looked automated."]);
    for look in 0..3 {
        let held = bench.see(FetchOutcome::Fetched, Some(&error));
        assert_eq!(
            (held.observation.judgement.verdict, held.observation.judgement.look_again_after_s),
            (Verdict::Unknown, Some(21_600))
        );
        assert_eq!(held.validators, Validators::default());
        let reported = held.change.map(|change| (change.verdict, change.looks_like));
        assert_eq!(reported, (look == 1).then(|| (Verdict::Obscured, Some("error".to_owned()))), "at its second look");
    }
    let believed = bench.see(FetchOutcome::Fetched, Some(&error));
    assert_eq!(believed.change.unwrap().verdict, Verdict::Major);
}

#[test]
fn a_page_that_comes_back_behind_an_error_is_reported_as_returned_and_kept_again() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(bench.see(FetchOutcome::Gone, None).change.unwrap().verdict, Verdict::Gone);
    let is_kept = |bench: &Bench| {
        let copies = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
        copies.last().is_some_and(|copy| copy.value.is_some())
    };
    assert!(!is_kept(&bench));
    let wall = html(&["Just a moment. We check that your browser is safe."]);
    for _ in 0..2 {
        let held = bench.see(FetchOutcome::Fetched, Some(&wall));
        assert_eq!((held.observation.judgement.verdict, held.change.is_none()), (Verdict::Unknown, true));
    }
    let back = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(back.change.map(|change| change.verdict), Some(Verdict::Returned));
    assert!(is_kept(&bench));
}

#[test]
fn a_page_that_was_reported_as_missing_is_reported_as_back_with_its_copy_kept() {
    let copies = |bench: &Bench| bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap().len();
    let reported = |seen: Seen| (seen.observation.judgement.verdict, seen.change.map(|change| change.verdict));
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    for round in 0..2 {
        assert_eq!(
            reported(bench.see(FetchOutcome::NotFound, None)),
            (Verdict::Unknown, Some(Verdict::Missing)),
            "{round}"
        );
        let wall = html(&["Just a moment. We check that your browser is safe."]);
        assert_eq!(reported(bench.see(FetchOutcome::Fetched, Some(&wall))), (Verdict::Unknown, None));
        let back = reported(bench.see(FetchOutcome::Fetched, Some(&html(FIRST))));
        assert_eq!(back, (Verdict::Cosmetic, Some(Verdict::Returned)));
        assert_eq!(reported(bench.see(FetchOutcome::NotModified, None)), (Verdict::Unchanged, None));
    }
    bench.see(FetchOutcome::NotFound, None);
    let back = reported(bench.see(FetchOutcome::NotModified, None));
    assert_eq!((back, copies(&bench)), ((Verdict::Unchanged, Some(Verdict::Returned)), 1), "without a body");
    bench.see(FetchOutcome::NotFound, None);
    let changed = bench.see(FetchOutcome::Fetched, Some(&html(&[FIRST, &["And this is new."]].concat())));
    assert_eq!(reported(changed), (Verdict::Minor, Some(Verdict::Returned)), "with what is new");
    assert_eq!(copies(&bench), 2);
    let mut quiet = Bench::new(&[("detector.missing", "false")]);
    quiet.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(reported(quiet.see(FetchOutcome::NotFound, None)), (Verdict::Unknown, None));
    assert_eq!(reported(quiet.see(FetchOutcome::NotModified, None)), (Verdict::Unchanged, None));
}

/// An answer of one of several pages, the whole in minutes.
fn see_page(bench: &mut Bench, page: usize, body: &str) -> Seen {
    let result = answer_of_page(bench, page, body);
    bench.see_result(&result)
}

fn answer_of_page(bench: &mut Bench, page: usize, body: &str) -> FetchResult {
    let url = CanonicalUrl::parse(&format!("{URL}/{page}")).unwrap();
    let mut result = bench.answer(FetchOutcome::Fetched, Some(body));
    result.look.fetched_at = Timestamp::from_secs(1_700_000_000 + 60 * result.look.attempt);
    (result.look.page_id, result.look.url) = (url.page_id(), url);
    result
}

#[test]
fn a_wall_in_the_place_of_many_pages_is_held_in_any_language_also_at_the_first_look() {
    let mut bench = Bench::new(&[]);
    let own = |page: usize| html(&[FIRST, &[&format!("Dies ist Seite {page}.")]].concat());
    let wall = |page: usize| {
        let words = ["Bevor Sie fortfahren", "Wir verwenden Cookies. Bitte stimmen Sie zu.", "Zustimmen"];
        format!("{}<!-- {page} --><p>Mehr dazu <a href=/ok?next={page}>hier</a>.", html(&words))
    };
    (0..6).for_each(|page| drop(see_page(&mut bench, page, &own(page))));
    for page in 0..8 {
        let seen = see_page(&mut bench, page, &wall(page));
        assert!(seen.change.is_none(), "{page}");
        assert_eq!(seen.observation.judgement.verdict, Verdict::Unknown, "{page}");
    }
    let back = see_page(&mut bench, 5, &own(5));
    assert_eq!((back.observation.judgement.verdict, back.change.is_none()), (Verdict::Cosmetic, true));
    let first = see_page(&mut bench, 7, &own(7));
    assert_eq!(first.change.unwrap().verdict, Verdict::First, "what it shows behind the wall");
    for look in 0..5 {
        let seen = see_page(&mut bench, 6, &wall(6));
        assert!(seen.change.is_none(), "look {look} within minutes");
    }
    let mut later = answer_of_page(&mut bench, 6, &wall(6));
    later.look.fetched_at = later.look.fetched_at + 18 * HOUR;
    assert!(bench.see_result(&later).change.is_some(), "what lasts is the page");
}

#[test]
fn copies_of_one_page_that_are_edited_together_are_no_wall() {
    let mut bench = Bench::new(&[]);
    (0..5).for_each(|page| drop(see_page(&mut bench, page, &html(FIRST))));
    for page in 0..5 {
        let seen = see_page(&mut bench, page, &html(&["Closed for the holidays.", "We are back in January."]));
        assert_eq!(seen.change.map(|change| change.verdict), Some(Verdict::Major), "{page}");
    }
}

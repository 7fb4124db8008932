//! The detector as a stage over a log in memory: each answer becomes one observation, each change is published once.

use crate::bench::{Bench, CHANGED_SENTENCE, FIRST, URL, html, one_sentence_changed};
use messages::{
    Answer, ContentEvidence, CopyKind, DateSource, Digest, Encoded, FetchOutcome, PageContent, PageDate,
    PageObservation, PageRemoval, QuestionKind, RankerEvent, SeedFailure, Validators, Verdict, body, topics,
};
use page::{CanonicalUrl, Timestamp};

#[test]
fn the_first_look_is_reported_as_new_and_compared_with_nothing() {
    let mut bench = Bench::new(&[]);
    let seen = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(
        (seen.observation.judgement.verdict, seen.observation.judgement.previous_fetched_at),
        (Verdict::First, None)
    );
    let change = seen.change.unwrap();
    assert_eq!((change.verdict, change.previous_seen_at), (Verdict::First, None));
    assert!(change.added.is_empty() && change.removed.is_empty());
}

#[test]
fn the_same_content_is_unchanged_however_the_answer_says_so() {
    let mut bench = Bench::new(&[]);
    let first = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let mut previous = first.observation.look.fetched_at;
    for (outcome, body) in [
        (FetchOutcome::NotModified, None),
        (FetchOutcome::SameContent, None),
        (FetchOutcome::Fetched, Some(html(FIRST))),
    ] {
        let seen = bench.see(outcome, body.as_deref());
        assert_eq!(seen.observation.judgement.verdict, Verdict::Unchanged, "{outcome:?}");
        assert_eq!(seen.observation.judgement.previous_fetched_at, Some(previous), "{outcome:?}");
        assert_eq!(seen.validators, first.validators, "{outcome:?}");
        assert!(seen.change.is_none(), "{outcome:?}");
        previous = seen.observation.look.fetched_at;
    }
}

#[test]
fn new_markup_around_the_same_text_is_cosmetic_and_not_reported() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let restyled = html(FIRST).replace("<p>", "<p class=\"wide\" data-build=\"7f3a\">");
    let seen = bench.see(FetchOutcome::Fetched, Some(&restyled));
    assert_eq!(seen.observation.judgement.verdict, Verdict::Cosmetic);
    assert_eq!(
        seen.observation.look.validators.content_digest,
        Some(Digest::of(restyled.as_bytes())),
        "to be sent next time"
    );
    assert!(seen.change.is_none());
}

#[test]
fn after_cosmetic_versions_a_change_is_still_reported_against_the_text_last_accepted() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    for build in 0..3 {
        let restyled = html(FIRST).replace("<p>", &format!("<p data-build=\"{build}\">"));
        assert_eq!(bench.see(FetchOutcome::Fetched, Some(&restyled)).observation.judgement.verdict, Verdict::Cosmetic);
    }
    let change = bench.see(FetchOutcome::Fetched, Some(&one_sentence_changed())).change.unwrap();
    assert!(change.removed.iter().any(|passage| passage.contains("stays closed until the pumps")), "{change:?}");
    // What was noise is not a change back either.
    let seen = bench.see(FetchOutcome::Fetched, Some(&one_sentence_changed().replace("<p>", "<p id=\"x\">")));
    assert_eq!(seen.observation.judgement.verdict, Verdict::Cosmetic);
}

#[test]
fn a_changed_word_is_minor_a_new_text_major_and_both_are_reported_with_what_came_and_went() {
    let mut bench = Bench::new(&[]);
    let first = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let minor = bench.see(FetchOutcome::Fetched, Some(&html(FIRST).replace("Monday", "Tuesday")));
    assert_eq!(
        minor.observation.judgement.verdict,
        Verdict::Minor,
        "magnitude {}",
        minor.observation.judgement.magnitude
    );
    let change = minor.change.unwrap();
    assert_eq!(change.verdict, Verdict::Minor);
    assert_eq!(change.previous_seen_at, Some(first.observation.look.fetched_at));
    assert!(change.added.iter().any(|passage| passage.contains("on Tuesday evening")), "{change:?}");
    assert!(change.removed.iter().any(|passage| passage.contains("on Monday evening")), "{change:?}");

    let words = |from: usize| (from..from + 200).map(|word| format!("word{word} ")).collect::<String>();
    let major = bench.see(FetchOutcome::Fetched, Some(&html(&[&words(0), &words(1_000)])));
    assert_eq!(
        major.observation.judgement.verdict,
        Verdict::Major,
        "magnitude {}",
        major.observation.judgement.magnitude
    );
    assert!(major.observation.judgement.magnitude > minor.observation.judgement.magnitude);
    assert!(major.observation.judgement.resemblance < minor.observation.judgement.resemblance);

    let ids: std::collections::BTreeSet<_> = bench.changes().into_iter().map(|change| change.change_id).collect();
    assert_eq!(ids.len(), 3, "every change has a name of its own");
}

#[test]
fn no_more_changes_are_listed_than_the_settings_allow() {
    let mut bench = Bench::new(&[("detector.listed_changes", "1")]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let other = html(&["Everything on this page is new today.", "Nothing of what was here before has stayed."]);
    let change = bench.see(FetchOutcome::Fetched, Some(&other)).change.unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (1, 1));
}

#[test]
fn a_counter_is_distinguished_from_a_price_by_a_second_look() {
    let check = |differs_at_once: bool| {
        let mut bench = Bench::new(&[]);
        let (mut asked, mut last) = (0, None);
        for day in 0..15 {
            let body = |look: i32| {
                let value = 1_000 + 10 * day + if differs_at_once { look } else { 0 };
                let page = html(&[FIRST, &[&format!("Today it stands at {value} euro in all.")]].concat());
                format!("{page}<!-- made anew {look} -->")
            };
            let mut seen = bench.see(FetchOutcome::Fetched, Some(&body(0)));
            last = Some(seen.change.is_some());
            for look in 1.. {
                if seen.observation.judgement.look_again_after_s != Some(0) {
                    break;
                }
                asked += 1;
                let mut again = bench.answer(FetchOutcome::Fetched, Some(&body(look)));
                again.look.fetched_at =
                    Timestamp::from_micros(seen.observation.look.fetched_at.as_micros() + 30_000_000);
                seen = bench.see_result(&again);
            }
        }
        (asked, last.unwrap())
    };
    assert_eq!(check(true), (2, false), "noise is learnt from a second and a third look");
    assert_eq!(check(false), (2, true), "the price is told every day; two second looks clear it");
}

#[test]
fn an_edit_of_many_pages_is_reported_with_the_word_that_it_is() {
    let mut bench = Bench::new(&[]);
    let mut see = |page: usize, body: &str| {
        let url = CanonicalUrl::parse(&format!("{URL}/{page}")).unwrap();
        let mut result = bench.answer(FetchOutcome::Fetched, Some(body));
        result.look.fetched_at = Timestamp::from_secs(1_700_000_000 + 60 * result.look.attempt);
        (result.look.page_id, result.look.url) = (url.page_id(), url);
        bench.see_result(&result).change.unwrap()
    };
    (0..3).for_each(|page| drop(see(page, &html(&[FIRST, &[&format!("This is page {page}.")]].concat()))));
    let edited = |page: usize| html(&[FIRST, &[CHANGED_SENTENCE, &format!("This is page {page}.")]].concat());
    let changes: Vec<_> = (0..3).map(|page| see(page, &edited(page))).collect();
    assert_eq!(changes.iter().map(|change| change.host_event).collect::<Vec<_>>(), [false, true, true]);
    assert!(changes.iter().all(|change| change.content_changed && !change.links_changed && change.changes_last));
}

#[test]
fn the_copy_wanted_is_kept_and_goes_with_the_page() {
    let read = |bench: &Bench| {
        let records = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
        let last = records.last().map(|record| (record.key.clone(), record.value.clone()));
        let (key, value) = last.unwrap_or_default();
        (key, value.map(|value| PageContent::decode(&value).unwrap()))
    };
    let check = |overrides: &[(&str, &str)], expected: Option<(CopyKind, &str, bool)>| {
        let mut bench = Bench::new(overrides);
        let page = "<p>It rains.<p>All day.";
        bench.see(FetchOutcome::Fetched, Some(page));
        let (key, kept) = read(&bench);
        let reported = kept.as_ref().map(|kept| {
            let content = body::unpack(&kept.content, 1 << 20).unwrap();
            (kept.kind, String::from_utf8(content.into_owned()).unwrap(), kept.truncated)
        });
        let expected = expected.map(|(kind, content, truncated)| (kind, content.to_owned(), truncated));
        assert_eq!(reported, expected, "{overrides:?}");
        if let Some(kept) = kept {
            assert_eq!(key, CanonicalUrl::parse(URL).unwrap().page_id().0);
            assert_eq!(kept.content_digest, Some(Digest::of(page.as_bytes())));
            bench.see(FetchOutcome::Gone, None);
            assert_eq!(read(&bench).1, None, "a tombstone");
        }
    };
    check(&[], Some((CopyKind::Text, "It rains.\nAll day.", false)));
    check(&[("detector.contents", "body")], Some((CopyKind::Body, "<p>It rains.<p>All day.", false)));
    check(&[("detector.contents", "none")], None);
}

#[test]
fn of_a_long_page_the_beginning_is_kept() {
    let mut bench = Bench::new(&[("detector.contents", "body"), ("detector.max_content", "1KiB")]);
    bench.see(FetchOutcome::Fetched, Some(&html(&[&"long ".repeat(1_000)])));
    let records = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
    let kept = PageContent::decode(records[0].value.as_deref().unwrap()).unwrap();
    assert!(kept.truncated && kept.length > 5_000);
    assert_eq!(body::unpack(&kept.content, 1 << 20).unwrap().len(), 1_024);
}

#[test]
fn validators_are_forgotten_with_the_page_and_kept_through_an_answer_that_does_not_repeat_them() {
    let mut bench = Bench::new(&[]);
    let mut first = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    first.look.validators.etag = Some("\"1\"".to_owned());
    first.look.validators.last_modified = Some("Sun, 12 Nov 2023 08:49:37 GMT".to_owned());
    let seen = bench.see_result(&first);
    let at = Timestamp::from_secs(1_699_778_977);
    assert_eq!(seen.observation.judgement.dates, [PageDate { source: DateSource::LastModified, at }]);
    let known = first.look.validators;
    assert_eq!(bench.see(FetchOutcome::NotModified, None).validators, known);
    assert_eq!(bench.see(FetchOutcome::DnsFailed, None).validators, known);
    let mut renamed = bench.answer(FetchOutcome::NotModified, None);
    renamed.look.validators.etag = Some("\"2\"".to_owned());
    let etag = renamed.look.validators.etag.clone();
    assert_eq!(bench.see_result(&renamed).validators, Validators { etag, ..known });
    assert_eq!(bench.see(FetchOutcome::Gone, None).validators, Validators::default());
}

#[test]
fn a_page_says_when_it_was_modified() {
    let mut bench = Bench::new(&[]);
    let stated = format!("<meta property=article:modified_time content=2023-11-12T08:49:37Z>{}", html(FIRST));
    let first = bench.answer(FetchOutcome::Fetched, Some(&stated));
    let at = Timestamp::from_secs(1_699_778_977);
    let seen = bench.see_result(&first);
    assert_eq!(seen.observation.judgement.dates, [PageDate { source: DateSource::Page, at }]);
}

#[test]
fn a_last_modified_date_in_the_future_names_no_moment() {
    let mut bench = Bench::new(&[]);
    let mut first = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    first.look.validators.last_modified = Some("Fri, 12 Nov 2055 08:49:37 GMT".to_owned());
    assert_eq!(bench.see_result(&first).observation.judgement.dates, []);
}

#[test]
fn every_outcome_gives_exactly_one_observation_and_failures_say_nothing_about_the_content() {
    use FetchOutcome as O;
    let mut bench = Bench::new(&[]);
    let is_failure = |outcome: &FetchOutcome| outcome.meaning().content == ContentEvidence::Nothing;
    let failures: Vec<_> = FetchOutcome::ALL.into_iter().filter(is_failure).chain([O::RedirectedAway]).collect();
    // Of a page never seen, neither a failure nor its absence is news.
    for &outcome in failures.iter().chain(&[O::NotFound]) {
        let seen = bench.see(outcome, None);
        assert_eq!(seen.observation.judgement.verdict, Verdict::Unknown, "{outcome:?}");
        assert!(seen.change.is_none(), "{outcome:?}");
    }
    let mut bench = Bench::new(&[]);
    let first = bench.see(O::Fetched, Some(&html(FIRST))).observation;
    for &outcome in &failures {
        let seen = bench.see(outcome, None);
        assert_eq!(seen.observation.judgement.verdict, Verdict::Unknown, "{outcome:?}");
        assert!(seen.change.is_none(), "{outcome:?}");
    }
    // The next real look is compared with the last real one, across all the failures.
    let next = bench.see(O::NotModified, None).observation;
    assert_eq!(
        (next.judgement.verdict, next.judgement.previous_fetched_at),
        (Verdict::Unchanged, Some(first.look.fetched_at))
    );
}

#[test]
fn a_repeated_answer_is_dropped_without_a_trace_also_after_the_state_was_lost() {
    let mut bench = Bench::new(&[]);
    let first = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    bench.see_result(&first);
    let second = bench.answer(FetchOutcome::Fetched, Some(&one_sentence_changed()));
    bench.see_result(&second);
    let reported = (bench.observations(), bench.changes());
    bench.send(&second);
    bench.send(&first);
    bench.lose_everything_but_the_log();
    bench.send(&second);
    assert_eq!((bench.observations(), bench.changes()), reported);
    // What was restored is what the next answer is compared with.
    let change = bench.see(FetchOutcome::Fetched, Some(&html(FIRST))).change.unwrap();
    assert!(change.removed.iter().any(|passage| passage.contains("sooner than expected")), "{change:?}");
}

#[test]
fn a_question_is_answered_with_what_is_kept_of_a_page_and_with_its_copy() {
    let mut bench = Bench::new(&[("detector.contents", "text")]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let kept: Answer = bench.ask(QuestionKind::Page, None);
    assert_eq!(kept.entry::<detector::PageSketch>(detector::PAGES.name()).unwrap().unwrap().fetches, 1);
    assert_eq!(kept.entries.len(), 1, "no copy, which may be large");
    let copy: PageContent = bench.ask(QuestionKind::Copy, None).entry(detector::CONTENTS.name()).unwrap().unwrap();
    let text = body::unpack(&copy.content, usize::MAX).unwrap();
    assert!(String::from_utf8_lossy(&text).contains(FIRST[0]), "{copy:?}");
    // The next look is compared with the first, as if no question had been asked.
    assert_eq!(bench.see(FetchOutcome::Fetched, Some(&html(FIRST))).observation.judgement.verdict, Verdict::Unchanged);
}

#[test]
fn a_failed_seed_is_published_with_its_reason_and_is_new_when_it_is_seen() {
    let mut bench = Bench::new(&[]);
    let (url, failed_at) = (CanonicalUrl::parse(URL).unwrap(), Timestamp::from_secs(1_600_000_000));
    let (outcome, status) = (FetchOutcome::ClientError, Some(403));
    let failure = SeedFailure { url: url.clone(), failed_at, outcome, status, is_redirected: false };
    let topic = bench.names.topic(topics::FETCH_RESULTS);
    bench.driver.send(&topic, url.site_key().as_str().as_bytes(), failure.encode()).unwrap();
    bench.driver.run_until_idle().unwrap();
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let [failed, first] = bench.changes().try_into().unwrap();
    assert_eq!((failed.verdict, failed.seen_at, failed.status), (Verdict::Failed, failed_at, Some(403)));
    assert_eq!((failed.failure.as_deref(), failed.page_id), (Some("client_error"), url.page_id()));
    assert_eq!((first.verdict, first.failure), (Verdict::First, None));
}

#[test]
fn the_late_answer_about_a_forgotten_page_is_only_counted_however_often_it_comes() {
    let mut bench = Bench::new(&[("detector.contents", "text")]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let late = bench.answer(FetchOutcome::Fetched, Some(&one_sentence_changed()));
    let url = CanonicalUrl::parse(URL).unwrap();
    let site = url.site_key();
    let removal = PageRemoval { url, removed_at: late.look.fetched_at, last_attempt: Some(late.look.attempt) };
    let topic = bench.names.topic(topics::FETCH_RESULTS);
    bench.driver.send(&topic, site.as_str().as_bytes(), removal.encode()).unwrap();
    bench.driver.run_until_idle().unwrap();
    assert_eq!(bench.read(topics::RANKER_EVENTS), [RankerEvent::Removal(removal.clone())]);
    let mut older = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    older.look.attempt = late.look.attempt - 1;
    for result in [&late, &older, &late] {
        bench.send(result);
    }
    let reported = bench.observations();
    let judged = |look: &PageObservation| (look.look.attempt, look.judgement.verdict);
    let of_late = (late.look.attempt, Verdict::Unknown);
    assert_eq!(reported.iter().map(judged).collect::<Vec<_>>(), [(1, Verdict::First), of_late, of_late]);
    // Also if the removal comes again behind the late answer, and not if the page is forgotten again.
    let again = PageRemoval { removed_at: Timestamp::from_secs(2_000_000_000), ..removal.clone() };
    for removal in [&removal, &again] {
        bench.driver.send(&topic, site.as_str().as_bytes(), removal.encode()).unwrap();
    }
    bench.driver.run_until_idle().unwrap();
    let published = bench.changes();
    let published: Vec<_> = published.iter().map(|change| (change.verdict, change.seen_at)).collect();
    let (first, seen_at) = (published[0], removal.removed_at);
    assert_eq!(published, [first, (Verdict::Forgotten, seen_at), (Verdict::Forgotten, again.removed_at)]);
    let copies = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
    let copies: Vec<_> = copies.iter().filter(|record| !record.key.is_empty()).map(|it| it.value.is_some()).collect();
    assert_eq!(copies, [true, false, false], "a copy, and that it is deleted, once in each batch with removals");

    // Seeded again, it is new.
    bench.lose_everything_but_the_log();
    bench.attempt = late.look.attempt;
    let seen = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(seen.observation.judgement.verdict, Verdict::First);
    let seen = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(seen.observation.judgement.verdict, Verdict::Unchanged);
}

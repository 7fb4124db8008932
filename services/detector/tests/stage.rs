//! The detector as a stage over a log in memory: each answer becomes one observation, each change is told once.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use messages::topics::Topic;
use messages::{
    ContentKind, DeadLetter, Digest, Encoded, FetchOutcome, FetchRequest, FetchResult, Look, PageChange, PageContent,
    PageObservation, SchedulerEvent, Validators, Verdict, body, topics,
};
use page::{CanonicalUrl, DAY, PageId, Timestamp};
use settings::{Layers, Settings};
use std::collections::HashMap;
use stream::memory::MemoryStores;
use stream::testing::TestDriver;
use topology::Names;

const URL: &str = "http://www.site.test/news";
const FIRST: &[&str] = &[
    "The council met on Monday evening and talked about the new bridge over the river for three hours.",
    "Nobody could say what the bridge would cost, and the mayor promised an answer before the summer.",
    "The library is open from nine to six on weekdays and from ten to two on the first Saturday of a month.",
    "A concert of the town's orchestra takes place in the old market hall, with works of three centuries.",
    "The swimming pool stays closed until the pumps are repaired, which may take until the end of the month.",
    "Whoever has found a grey cat with white paws near the railway station is asked to call the animal shelter.",
];
const CHANGED_SENTENCE: &str = "The swimming pool is open again, for the pumps were repaired sooner than expected.";

struct Bench {
    driver: TestDriver,
    names: Names,
    settings: Settings,
    attempt: i64,
    validators: HashMap<PageId, Validators>,
}

/// What came of one answer.
struct Seen {
    observation: PageObservation,
    change: Option<PageChange>,
    /// What the next request for the page sends along.
    validators: Validators,
}

impl Bench {
    fn new(overrides: &[(&str, &str)]) -> Self {
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        let names = Names::new(&settings);
        let topics = topology::topic_configs(&settings, &[detector::topology()], 2);
        let mut driver = TestDriver::new(&topics, Timestamp::from_secs(1_700_000_000));
        driver.add(detector::stage(&settings, &names), "one");
        Self { driver, names, settings, attempt: 0, validators: HashMap::new() }
    }

    /// A day later an answer comes.
    fn answer(&mut self, outcome: FetchOutcome, body: Option<&str>) -> FetchResult {
        self.driver.clock.advance(DAY);
        self.attempt += 1;
        let url = CanonicalUrl::parse(URL).unwrap();
        let now = stream::Clock::now(&*self.driver.clock);
        let request = FetchRequest { attempt: self.attempt, ..FetchRequest::first(url, now) };
        let content_digest = body.map(|body| Digest::of(body.as_bytes()));
        let look = Look {
            status: Some(200),
            validators: Validators { content_digest, ..Validators::default() },
            body_length: body.map_or(0, |body| body.len() as i64),
            wire_bytes: 321,
            ..Look::new(request, outcome, now)
        };
        FetchResult {
            content_type: Some("text/html; charset=utf-8".to_owned()),
            body: body.map(|body| body::compress(body.as_bytes())),
            ..FetchResult::new(look)
        }
    }

    fn send(&mut self, result: &FetchResult) {
        let topic = self.names.topic(topics::FETCH_RESULTS);
        self.driver.send(&topic, result.look.site_key.as_str().as_bytes(), result.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
    }

    /// Sends one answer and gives the one observation, and the one change if any, that came of it.
    fn see(&mut self, outcome: FetchOutcome, body: Option<&str>) -> Seen {
        let result = self.answer(outcome, body);
        self.see_result(&result)
    }

    fn see_result(&mut self, result: &FetchResult) -> Seen {
        let (observations, changes) = (self.observations().len(), self.changes().len());
        self.send(result);
        let mut new_observations = self.observations().split_off(observations);
        assert_eq!(new_observations.len(), 1, "each answer gives exactly one observation");
        // Changes of several pages lie in several partitions, each in the order of time.
        let all = self.changes();
        assert!(all.len() - changes <= 1);
        let is_this =
            |change: &PageChange| (change.page_id, change.seen_at) == (result.look.page_id, result.look.fetched_at);
        let change = all.into_iter().rfind(is_this);
        let observation = new_observations.remove(0);
        assert_eq!(observation.look, result.look, "a look is passed on as it is");
        let known = self.validators.remove(&result.look.page_id).unwrap_or_default();
        let validators = known.after(&observation.look, observation.judgement.verdict);
        self.validators.insert(result.look.page_id, validators.clone());
        Seen { observation, change, validators }
    }

    fn read<M: Encoded>(&self, topic: Topic<M>) -> Vec<M> {
        let records = self.driver.contents(&self.names.topic(topic)).unwrap();
        records.iter().map(|record| M::decode(record.value.as_deref().unwrap()).unwrap()).collect()
    }

    fn observations(&self) -> Vec<PageObservation> {
        self.read(topics::PAGE_OBSERVATIONS)
    }

    fn changes(&self) -> Vec<PageChange> {
        self.read(topics::PAGE_CHANGES)
    }

    /// A crash that also takes the state directory.
    fn lose_everything_but_the_log(&mut self) {
        self.driver.kill(0);
        self.driver.stores = MemoryStores::default();
        self.driver.add(detector::stage(&self.settings, &self.names), "two");
    }
}

fn html(paragraphs: &[&str]) -> String {
    let paragraphs: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    format!("<html><head><title>News</title></head><body>{paragraphs}</body></html>")
}

fn one_sentence_changed() -> String {
    let mut paragraphs = FIRST.to_vec();
    paragraphs[4] = CHANGED_SENTENCE;
    html(&paragraphs)
}

#[test]
fn the_first_look_is_told_as_new_and_compared_with_nothing() {
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
fn new_markup_around_the_same_text_is_cosmetic_and_not_told() {
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
fn after_cosmetic_versions_a_change_is_still_told_against_the_text_last_accepted() {
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
fn a_changed_word_is_minor_a_new_text_major_and_both_are_told_with_what_came_and_went() {
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
fn no_more_passages_are_told_than_the_settings_allow() {
    let mut bench = Bench::new(&[("detector.passages", "1")]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let other = html(&["Everything on this page is new today.", "Nothing of what was here before has stayed."]);
    let change = bench.see(FetchOutcome::Fetched, Some(&other)).change.unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (1, 1));
}

#[test]
fn a_page_is_gone_when_it_was_not_found_three_times_over_three_days_and_returns_once() {
    let mut bench = Bench::new(&[]);
    let first = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    for _ in 0..3 {
        let missing = bench.see(FetchOutcome::NotFound, None);
        assert_eq!(missing.observation.judgement.verdict, Verdict::Unknown, "a server that fails says 404 too");
        assert_eq!(missing.observation.judgement.look_again_after_s, Some(129_600));
        assert_eq!(missing.validators, first.validators, "the copy is not given up");
        assert!(missing.change.is_none());
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
fn an_error_in_a_pages_place_says_nothing_until_it_lasts_and_comes_again_with_its_body() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let error = html(&["Access denied. Your request looked automated."]);
    for _ in 0..3 {
        let held = bench.see(FetchOutcome::Fetched, Some(&error));
        assert_eq!(
            (held.observation.judgement.verdict, held.observation.judgement.look_again_after_s),
            (Verdict::Unknown, Some(21_600))
        );
        assert_eq!(held.validators, Validators::default());
        assert!(held.change.is_none());
    }
    let believed = bench.see(FetchOutcome::Fetched, Some(&error));
    assert_eq!(believed.change.unwrap().verdict, Verdict::Major);
}

#[test]
fn a_counter_is_told_from_a_price_by_a_second_look() {
    let check = |differs_at_once: bool| {
        let mut bench = Bench::new(&[]);
        let (mut asked, mut last) = (0, None);
        for day in 0..15 {
            let body = |second: bool| {
                let value = 1_000 + 2 * day + i32::from(second && differs_at_once);
                html(&[FIRST, &[&format!("Today it stands at {value} points in all.")]].concat())
            };
            let seen = bench.see(FetchOutcome::Fetched, Some(&body(false)));
            last = Some(seen.change.is_some());
            if seen.observation.judgement.look_again_after_s == Some(0) {
                asked += 1;
                let mut again = bench.answer(FetchOutcome::Fetched, Some(&body(true)));
                again.look.fetched_at =
                    Timestamp::from_micros(seen.observation.look.fetched_at.as_micros() + 30_000_000);
                bench.see_result(&again);
            }
        }
        (asked, last.unwrap())
    };
    assert_eq!(check(true), (1, false), "noise is learnt");
    assert_eq!(check(false), (1, true), "news is told every day");
}

#[test]
fn an_edit_of_many_pages_is_told_with_the_word_that_it_is() {
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
    let check = |overrides: &[(&str, &str)], expected: Option<(ContentKind, &str, bool)>| {
        let mut bench = Bench::new(overrides);
        let page = "<p>It rains.<p>All day.";
        bench.see(FetchOutcome::Fetched, Some(page));
        let (key, kept) = read(&bench);
        let told = kept.as_ref().map(|kept| {
            let content = body::decompress(&kept.content, 1 << 20).unwrap();
            (kept.kind, String::from_utf8(content).unwrap(), kept.truncated)
        });
        let expected = expected.map(|(kind, content, truncated)| (kind, content.to_owned(), truncated));
        assert_eq!(told, expected, "{overrides:?}");
        if let Some(kept) = kept {
            assert_eq!(key, CanonicalUrl::parse(URL).unwrap().page_id().0);
            assert_eq!(kept.content_digest, Some(Digest::of(page.as_bytes())));
            bench.see(FetchOutcome::Gone, None);
            assert_eq!(read(&bench).1, None, "a tombstone");
        }
    };
    check(&[], Some((ContentKind::Text, "It rains.\nAll day.", false)));
    check(&[("detector.contents", "body")], Some((ContentKind::Body, "<p>It rains.<p>All day.", false)));
    check(&[("detector.contents", "none")], None);
}

#[test]
fn of_a_long_page_the_beginning_is_kept() {
    let mut bench = Bench::new(&[("detector.contents", "body"), ("detector.max_content", "1KiB")]);
    bench.see(FetchOutcome::Fetched, Some(&html(&[&"long ".repeat(1_000)])));
    let records = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
    let kept = PageContent::decode(records[0].value.as_deref().unwrap()).unwrap();
    assert!(kept.truncated && kept.length > 5_000);
    assert_eq!(body::decompress(&kept.content, 1 << 20).unwrap().len(), 1_024);
}

#[test]
fn validators_are_forgotten_with_the_page_and_kept_through_an_answer_that_does_not_repeat_them() {
    let mut bench = Bench::new(&[]);
    let mut first = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    first.look.validators.etag = Some("\"1\"".to_owned());
    first.look.validators.last_modified = Some("Sun, 12 Nov 2023 08:49:37 GMT".to_owned());
    let seen = bench.see_result(&first);
    assert_eq!(seen.observation.judgement.last_modified_at, Some(Timestamp::from_secs(1_699_778_977)));
    let known = first.look.validators;
    assert_eq!(bench.see(FetchOutcome::NotModified, None).validators, known);
    assert_eq!(bench.see(FetchOutcome::TimedOut, None).validators, known);
    let mut renamed = bench.answer(FetchOutcome::NotModified, None);
    renamed.look.validators.etag = Some("\"2\"".to_owned());
    let etag = renamed.look.validators.etag.clone();
    assert_eq!(bench.see_result(&renamed).validators, Validators { etag, ..known });
    assert_eq!(bench.see(FetchOutcome::Gone, None).validators, Validators::default());
}

#[test]
fn a_last_modified_date_in_the_future_names_no_moment() {
    let mut bench = Bench::new(&[]);
    let mut first = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    first.look.validators.last_modified = Some("Fri, 12 Nov 2055 08:49:37 GMT".to_owned());
    assert_eq!(bench.see_result(&first).observation.judgement.last_modified_at, None);
}

#[test]
fn every_outcome_gives_exactly_one_observation_and_failures_say_nothing_about_the_content() {
    use FetchOutcome as O;
    let mut bench = Bench::new(&[]);
    let failures = [
        O::RedirectedAway,
        O::ClientError,
        O::RateLimited,
        O::ServerError,
        O::TimedOut,
        O::ConnectFailed,
        O::DnsFailed,
        O::TlsFailed,
        O::ConnectionLost,
        O::MalformedResponse,
        O::TooLarge,
        O::TooManyRedirects,
        O::RobotsDisallowed,
        O::RobotsUnavailable,
        O::AddressRefused,
        O::ContentRefused,
    ];
    // Of a page never seen, neither a failure nor its absence is news.
    for outcome in failures.into_iter().chain([O::NotFound]) {
        let seen = bench.see(outcome, None);
        assert_eq!(seen.observation.judgement.verdict, Verdict::Unknown, "{outcome:?}");
        assert!(seen.change.is_none(), "{outcome:?}");
    }
    let mut bench = Bench::new(&[]);
    let first = bench.see(O::Fetched, Some(&html(FIRST))).observation;
    for outcome in failures {
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
    let told = (bench.observations(), bench.changes());
    bench.send(&second);
    bench.send(&first);
    bench.lose_everything_but_the_log();
    bench.send(&second);
    assert_eq!((bench.observations(), bench.changes()), told);
    // What was restored is what the next answer is compared with.
    let change = bench.see(FetchOutcome::Fetched, Some(&html(FIRST))).change.unwrap();
    assert!(change.removed.iter().any(|passage| passage.contains("sooner than expected")), "{change:?}");
}

#[test]
fn what_cannot_be_read_is_set_aside_and_the_rest_goes_on() {
    let mut bench = Bench::new(&[]);
    let mut corrupt = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    corrupt.body = Some(vec![255, 255, 0, 0, 16, 0]);
    bench.send(&corrupt);
    let mut empty = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    empty.body = None;
    bench.send(&empty);
    let topic = bench.names.topic(topics::FETCH_RESULTS);
    bench.driver.send(&topic, b"site.test", b"neither Avro nor anything else".to_vec()).unwrap();
    bench.driver.run_until_idle().unwrap();

    let letters: Vec<DeadLetter> = bench.read(topics::DEAD_LETTERS);
    assert_eq!(letters.len(), 3);
    assert!(letters.iter().all(|letter| letter.stage == "detector" && letter.topic == topic));
    assert!(letters[0].reason.contains("corrupt"), "{}", letters[0].reason);
    assert_eq!(letters[0].value, Some(corrupt.encode()));
    assert!(bench.observations().is_empty() && bench.changes().is_empty());

    let seen = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(seen.observation.judgement.verdict, Verdict::First);
}

#[test]
fn links_within_the_site_are_told_once_and_only_when_they_are_wanted() {
    let linking = format!(
        "{}<a href=\"/a\">A</a> <a href=\"http://blog.site.test/b#c\">B</a> <a href=\"/a#d\">again</a> \
         <a href=\"http://other.test/\">away</a> <a rel=\"nofollow\" href=\"/secret\">no</a>",
        html(FIRST)
    );
    let check = |discover: &str, expected: &[&str]| {
        let mut bench = Bench::new(&[("crawl.discover", discover)]);
        bench.see(FetchOutcome::Fetched, Some(&linking));
        bench.see(FetchOutcome::Fetched, Some(&linking));
        let records = bench.driver.contents(&bench.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let mut found = Vec::new();
        for record in &records {
            match SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap() {
                SchedulerEvent::Links(links) => {
                    assert_eq!(links.source_url.as_str(), URL);
                    found.extend(links.links.into_iter().map(|link| link.url.as_str().to_owned()));
                }
                other => panic!("{other:?}"),
            }
        }
        found.sort();
        assert_eq!(found, expected, "{discover}");
    };
    check("none", &[]);
    check("same-site", &["http://blog.site.test/b", "http://www.site.test/a"]);
}

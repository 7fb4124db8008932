//! Pages that an operator forgets, while requests for them are under way.

use crate::bench::{Bench, ELSEWHERE, SIBLING, URL, edited, looked, urls};
use crate::scope::show;
use messages::{
    Command, CommandKind, CommandShare, CommandSubject, DetectorEvent, Encoded, FetchOutcome, PageRemoval, RankedPage,
    RankedPages, SchedulerEvent, topics,
};
use page::{CanonicalUrl, Host, MINUTE, SECOND};
use scheduler::{FORGOTTEN, ForgottenPage};
use std::collections::BTreeSet;

fn bench() -> Bench {
    Bench::new(&[("policy.lease_timeout", "10m")])
}

/// Removals sent to the detector.
fn removals(bench: &Bench) -> Vec<PageRemoval> {
    let removal = |event| if let DetectorEvent::Removal(removal) = event { Some(removal) } else { None };
    bench.read(topics::FETCH_RESULTS).into_iter().filter_map(removal).collect()
}

fn forgotten(bench: &Bench) -> Option<ForgottenPage> {
    let key = CanonicalUrl::parse(URL).unwrap().page_id().0;
    let records = bench.driver.contents(&bench.names.topic(FORGOTTEN.spec().changelog("scheduler"))).unwrap();
    let last = records.iter().rfind(|record| record.key == key)?;
    last.value.as_deref().map(|value| ForgottenPage::decode(value).unwrap())
}

/// The detector and the estimator have deleted the page.
fn acknowledge(bench: &mut Bench, removal: &PageRemoval) {
    bench.send(removal.url.site_key().as_str(), &SchedulerEvent::Removed(removal.clone()));
}

#[test]
fn a_page_is_gone_when_the_answer_that_was_under_way_has_gone_round_and_no_sooner() {
    let mut bench = bench();
    bench.seed(URL);
    let request = bench.next(5 * SECOND);
    bench.command(CommandKind::Forget, URL, 1.0);
    let first = removals(&bench).pop().unwrap();
    assert_eq!(first.last_attempt, Some(request.attempt));
    acknowledge(&mut bench, &first);
    bench.crash();
    bench.wait(MINUTE);
    let waits = forgotten(&bench).unwrap();
    assert!(waits.deleted_at.is_some() && waits.gone_at.is_none(), "{waits:?}");
    assert_eq!(waits.lease_until, Some(request.lease_until));

    bench.answer(looked(&request, 1.0));
    let answered = forgotten(&bench).unwrap();
    assert_eq!((answered.lease_until, answered.gone_at), (None, None), "the estimator has heard of the answer");
    let second = removals(&bench).pop().unwrap();
    assert_eq!((removals(&bench).len(), &second), (2, &first));
    let now = bench.now();
    acknowledge(&mut bench, &second);
    assert_eq!(forgotten(&bench).unwrap().gone_at, Some(now));
    assert!(bench.wait(20 * MINUTE).is_empty());
    assert_eq!(forgotten(&bench).unwrap().gone_at, Some(now));
}

#[test]
fn a_request_that_is_lost_is_waited_for_until_its_lease_is_over_also_across_a_crash() {
    let mut bench = bench();
    bench.seed(URL);
    let request = bench.next(5 * SECOND);
    bench.command(CommandKind::Forget, URL, 1.0);
    let removal = removals(&bench).pop().unwrap();
    acknowledge(&mut bench, &removal);
    bench.crash();
    bench.wait(9 * MINUTE);
    assert_eq!(forgotten(&bench).unwrap().gone_at, None);
    // Forgetting it again does not end the wait.
    bench.command(CommandKind::Forget, URL, 1.0);
    let again = removals(&bench).pop().unwrap();
    assert_eq!(again.last_attempt, Some(request.attempt));
    acknowledge(&mut bench, &again);
    assert_eq!(forgotten(&bench).unwrap().gone_at, None);
    bench.wait(2 * MINUTE);
    let gone = forgotten(&bench).unwrap();
    assert!(gone.gone_at >= Some(request.lease_until) && gone.lease_until.is_none(), "{gone:?}");
    // An answer that comes later still is removed from the estimator.
    bench.answer(looked(&request, 1.0));
    assert_eq!(removals(&bench).len(), 3);
    assert_eq!(forgotten(&bench), Some(gone));
}

#[test]
fn without_a_request_under_way_the_first_acknowledgement_is_enough() {
    for is_known in [true, false] {
        let mut bench = bench();
        if is_known {
            bench.seed(URL);
            let request = bench.next(5 * SECOND);
            bench.answer(edited(looked(&request, 1.0), |it| it.look.outcome = FetchOutcome::Fetched));
        }
        bench.command(CommandKind::Forget, URL, 1.0);
        let removal = removals(&bench).pop().unwrap();
        acknowledge(&mut bench, &removal);
        let gone = forgotten(&bench).unwrap();
        assert!(gone.gone_at.is_some() && gone.lease_until.is_none(), "{gone:?}");
        bench.seed(URL);
        assert!(Some(bench.next(5 * SECOND).attempt) > removal.last_attempt, "the detector would pass it over");
    }
}

#[test]
fn a_removal_of_an_earlier_life_acknowledges_nothing() {
    let mut bench = bench();
    bench.command(CommandKind::Forget, URL, 1.0);
    let earlier = removals(&bench).pop().unwrap();
    bench.seed(URL);
    let request = bench.next(5 * SECOND);
    bench.answer(looked(&request, 1.0));
    bench.command(CommandKind::Forget, URL, 1.0);
    acknowledge(&mut bench, &earlier);
    assert_eq!(forgotten(&bench).unwrap().deleted_at, None);
}

#[test]
fn a_list_of_seeds_brings_no_forgotten_page_back_and_a_seed_of_its_own_does() {
    let mut bench = bench();
    bench.command(CommandKind::ListedSeed, URL, 1.0);
    bench.next(5 * SECOND);
    bench.command(CommandKind::Forget, URL, 1.0);
    bench.crash();
    bench.command(CommandKind::ListedSeed, URL, 1.0);
    bench.command(CommandKind::ListedSeed, SIBLING, 1.0);
    let requests = bench.wait(MINUTE);
    assert_eq!(urls(&requests), BTreeSet::from([SIBLING]));
    assert!(bench.page(URL).is_none() && forgotten(&bench).is_some());
    assert_eq!(bench.driver.status(0).figures[metrics::scheduler::FORGOTTEN_SEEDS], 1.0);
    bench.seed(URL);
    assert_eq!(forgotten(&bench), None);
    assert_eq!(bench.next(5 * SECOND).url.as_str(), URL);
}

#[test]
fn what_was_found_on_a_page_or_site_is_forgotten_across_a_crash_and_seeds_and_other_pages_stay() {
    for by_site in [false, true] {
        let mut bench = Bench::new(&[("policy.lease_timeout", "10m"), ("crawl.discover", "anywhere")]);
        bench.seed(URL);
        bench.seed(SIBLING);
        // More than are read for one record.
        let found: Vec<_> = (0..1_500).map(|number| format!("/found/{number}")).collect();
        show(&mut bench, URL, &found.iter().map(String::as_str).collect::<Vec<_>>());
        show(&mut bench, SIBLING, &["/by-sibling/1", "/by-sibling/2"]);
        show(&mut bench, "http://a.site.test/found/7", &["/deeper"]);
        // Of another site, by way of the ranker.
        let (source, now) = (CanonicalUrl::parse(URL).unwrap(), bench.now());
        let elsewhere = CanonicalUrl::parse(ELSEWHERE).unwrap();
        let ranked = |from: Option<&CanonicalUrl>, url: CanonicalUrl| RankedPages {
            site_key: url.site_key(),
            source_page_id: from.map(CanonicalUrl::page_id),
            source_site: from.map(CanonicalUrl::site_key),
            found_at: now,
            is_news: false,
            pages: vec![RankedPage { url, depth: 1, importance: 1.0 }],
        };
        bench.send("other.test", &SchedulerEvent::Ranked(ranked(Some(&source), elsewhere.clone())));
        let unnamed = elsewhere.join("/unnamed").unwrap();
        bench.send("other.test", &SchedulerEvent::Ranked(ranked(None, unnamed)));
        // One is a seed now.
        bench.seed("http://a.site.test/found/3");
        assert_eq!(bench.pages(), 2 + 1_500 + 2 + 1 + 2);

        let kind = CommandKind::ForgetDiscovered;
        let (url, host) = if by_site { (None, Some(source.host())) } else { (Some(source.clone()), None) };
        let host = host.map(|host| Host::from_authority(host.site_key().as_str()));
        let share = Some(CommandShare { routing_key: "partition-0".to_owned(), from: None });
        let command = Command { url, host, share, ..Command::new(kind, bench.now()) };
        let topic = bench.names.topic(topics::SCHEDULER_EVENTS);
        bench.driver.send(&topic, b"partition-0", SchedulerEvent::Command(command.clone()).encode()).unwrap();
        while removals(&bench).is_empty() {
            bench.driver.step(0).unwrap();
        }
        assert!(removals(&bench).len() < 1_500, "some at a time: {}", removals(&bench).len());
        bench.crash();
        let gone = if by_site { 1_499 + 2 + 1 + 1 } else { 1_499 + 1 };
        let urls: BTreeSet<_> = removals(&bench).iter().map(|removal| removal.url.to_string()).collect();
        assert_eq!((urls.len(), removals(&bench).len()), (gone, gone), "each once");
        assert!(urls.contains(ELSEWHERE) && !urls.contains("http://a.site.test/found/3"));
        assert_eq!(bench.pages(), 2 + 1_500 + 2 + 1 + 2 - gone);
        show(&mut bench, URL, &["/found/1"]);
        assert_eq!(bench.pages(), 2 + 1_500 + 2 + 1 + 2 - gone, "no link brings one back");

        // A command that reached one partition only would leave pages without a word.
        let shareless = SchedulerEvent::Command(Command { share: None, ..command });
        bench.send("site.test", &shareless);
        let set_aside = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
        assert_eq!(set_aside.len(), 1);
    }
}

/// Sends a command without waiting for its effects.
fn order(bench: &mut Bench, kind: CommandKind, url: &str) {
    let url = CanonicalUrl::parse(url).unwrap();
    let (site, host) = (url.site_key(), url.host());
    let is_about_host = kind.subject() == CommandSubject::Hosts;
    let (url, host) = if is_about_host { (None, Some(host)) } else { (Some(url), None) };
    let command = SchedulerEvent::Command(Command { url, host, ..Command::new(kind, bench.now()) });
    let topic = bench.names.topic(topics::SCHEDULER_EVENTS);
    bench.driver.send(&topic, site.as_str().as_bytes(), command.encode()).unwrap();
}

#[test]
fn a_site_is_forgotten_some_pages_at_a_time_also_across_a_crash_and_its_front_page_goes_last() {
    let mut bench = bench();
    let (pages, wanted, elsewhere) = (1_203, 802, 401 + 2);
    for number in 0..pages {
        let host = ["www.a.test", "a.test", "deep.www.a.test"][number % 3];
        order(&mut bench, CommandKind::Seed, &format!("http://{host}/{number}"));
    }
    for url in ["http://www.b.test/", "http://notwww.a.test/"] {
        order(&mut bench, CommandKind::Seed, url);
    }
    bench.driver.run_until_idle().unwrap();
    assert_eq!(bench.pages(), wanted + elsewhere);

    order(&mut bench, CommandKind::ForgetSite, "http://www.a.test/");
    while removals(&bench).is_empty() {
        bench.driver.step(0).unwrap();
    }
    assert!(removals(&bench).len() < wanted, "some hundreds at a time: {}", removals(&bench).len());
    bench.crash();
    let urls: Vec<_> = removals(&bench).iter().map(|removal| removal.url.to_string()).collect();
    assert_eq!(urls.len(), wanted + 1, "those of two hosts, and the front page, which was not known");
    assert_eq!(urls.iter().collect::<BTreeSet<_>>().len(), urls.len(), "each once");
    assert!(urls.iter().all(|url| url.contains("//www.a.test/") || url.contains("//deep.www.a.test/")), "{urls:?}");
    assert_eq!(urls.last().unwrap(), "http://www.a.test/");
    assert_eq!(bench.pages(), elsewhere);

    bench.command(CommandKind::ListedSeed, "http://www.a.test/0", 1.0);
    assert_eq!(bench.pages(), elsewhere, "no list brings its pages back");
}

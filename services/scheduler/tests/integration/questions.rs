//! Answers of the scheduler to operators: what it keeps and decides, without changing anything.

use crate::bench::{Bench, ELSEWHERE, SIBLING, URL, failed, looked};
use crate::scope::show;
use messages::{
    Answer, CommandKind, DeadLetter, Encoded, FetchOutcome, HostOrder, HostSelection, PageSelection, Question,
    QuestionKind, Verdict, topics,
};
use page::{CanonicalUrl, DAY, HOUR, HostName, MINUTE, SECOND, SiteKey};
use scheduler::explain::Explanation;
use scheduler::{FORGOTTEN, HOSTS, HostListing, PAGES, PageListing};
use std::collections::BTreeMap;

fn question(bench: &Bench, about: QuestionKind, url: Option<&str>) -> Question {
    let url = url.map(|url| CanonicalUrl::parse(url).unwrap());
    Question {
        question_id: "q".to_owned(),
        routing_key: url.as_ref().map_or("any".to_owned(), |url| url.site_key().as_str().to_owned()),
        about,
        url,
        hosts: None,
        asked_at: bench.now(),
        answer_until: bench.now() + MINUTE,
        site: None,
        pages: None,
        version: None,
    }
}

/// The answers that a question adds. Nothing else may change.
fn ask(bench: &mut Bench, question: &Question) -> Vec<Answer> {
    let answers = |bench: &Bench| bench.driver.contents(&bench.names.topic(topics::ANSWERS)).unwrap();
    let written = |bench: &Bench| {
        let topics = scheduler::topology().topics();
        let outputs = topics
            .iter()
            .filter(|topic| ![topics::ANSWERS.name(), topics::SCHEDULER_EVENTS.name()].contains(&topic.name));
        let count = |topic: String| {
            bench.driver.contents(&topic).unwrap().iter().filter(|record| !record.key.is_empty()).count()
        };
        outputs.map(|topic| count(bench.names.topic(*topic))).collect::<Vec<_>>()
    };
    let (before, written_before) = (answers(bench).len(), written(bench));
    bench.send(&question.routing_key.clone(), &question.clone().into());
    assert_eq!(written(bench), written_before, "an answer changes nothing");
    let new = answers(bench).split_off(before);
    new.iter().map(|record| Answer::decode(record.value.as_deref().unwrap()).unwrap()).collect()
}

fn one(bench: &mut Bench, question: &Question) -> Answer {
    let mut answers = ask(bench, question);
    assert_eq!(answers.len(), 1);
    let answer = answers.remove(0);
    assert_eq!((&*answer.question_id, &*answer.stage, answer.partition), ("q", "scheduler", 0));
    answer
}

/// Two pages of a site, one looked at once, and one of another site.
fn bench() -> Bench {
    let mut bench = Bench::new(&[("policy.min_interval", "1h")]);
    bench.seed(URL);
    let request = bench.next(5 * SECOND);
    bench.answer(looked(&request, 0.05));
    bench.command(CommandKind::PauseHost, SIBLING, 1.0);
    bench.command(CommandKind::Seed, SIBLING, 3.0);
    bench.command(CommandKind::PauseHost, ELSEWHERE, 1.0);
    bench.seed(ELSEWHERE);
    bench.wait(2 * MINUTE);
    bench
}

#[test]
fn a_page_is_reported_as_it_is_kept_and_one_that_is_not_known_is_not() {
    let mut bench = bench();
    let asked = question(&bench, QuestionKind::Page, Some(URL));
    let answer = one(&mut bench, &asked);
    assert_eq!(answer.entry(PAGES.name()).unwrap(), bench.page(URL));
    assert_eq!(answer.entry(HOSTS.name()).unwrap(), bench.host(URL));
    assert_eq!(answer.entry::<scheduler::ForgottenPage>(FORGOTTEN.name()).unwrap(), None);
    bench.command(CommandKind::Forget, URL, 1.0);
    let asked = question(&bench, QuestionKind::Page, Some(URL));
    let answer = one(&mut bench, &asked);
    assert_eq!(answer.entry::<scheduler::ScheduledPage>(PAGES.name()).unwrap(), None);
    assert!(answer.entry::<scheduler::ForgottenPage>(FORGOTTEN.name()).unwrap().is_some());
    let asked = question(&bench, QuestionKind::Explanation, Some(URL));
    let answer = one(&mut bench, &asked);
    assert!(answer.json.is_none() && answer.entries.len() == 1, "{answer:?}");
}

#[test]
fn a_running_scheduler_explains_a_page_as_its_tables_do() {
    let mut bench = bench();
    for url in [URL, SIBLING, ELSEWHERE] {
        let asked = question(&bench, QuestionKind::Explanation, Some(url));
        let mut answer = one(&mut bench, &asked);
        let (reported, json): (Explanation, _) = (answer.read_json().unwrap(), answer.json.clone());
        assert!(reported.price.is_some());
        let stored = bench.explained(url, reported.price);
        // Hosts, beliefs and times included.
        answer.set_json(&stored).unwrap();
        assert_eq!(json, answer.json, "{url}");
    }
}

#[test]
fn figures_and_hosts_are_those_of_the_partition() {
    let mut bench = bench();
    let asked = question(&bench, QuestionKind::Figures, None);
    let figures: BTreeMap<String, f64> = one(&mut bench, &asked).read_json().unwrap();
    assert_eq!((figures["pages"], figures["never_fetched"], figures["questions_answered_total"]), (3.0, 2.0, 1.0));
    let list = |bench: &mut Bench, order, at_most| {
        let hosts = Some(HostSelection { order, at_most });
        let asked = Question { hosts, ..question(bench, QuestionKind::Hosts, None) };
        one(bench, &asked).read_json::<HostListing>().unwrap()
    };
    let listing = list(&mut bench, HostOrder::Pages, 20);
    let shown: Vec<_> = listing.hosts.iter().map(|host| (host.host.as_str(), host.pages, host.fetches)).collect();
    assert_eq!(shown, [("a.site.test", 2, 1), ("b.other.test", 1, 0)]);
    assert!(listing.hosts.iter().all(|host| host.paused && !host.blocked), "{listing:?}");
    assert_eq!((listing.hosts[0].value, listing.hosts[0].budget_share), (4.0, 1.0));
    let first = list(&mut bench, HostOrder::Freshness, 1);
    assert_eq!((first.known, first.fetches, first.hosts.len()), (2, 1, 1));
    assert_eq!(first.hosts[0].host.as_str(), "b.other.test", "nothing of it is fresh");
}

#[test]
fn pages_are_listed_by_what_is_known_of_them_and_a_list_goes_on_where_it_ended() {
    let mut bench = bench();
    let list = |bench: &mut Bench, selection: PageSelection| {
        let asked = Question { pages: Some(selection), ..question(bench, QuestionKind::Pages, None) };
        one(bench, &asked).read_json::<PageListing>().unwrap()
    };
    let all = || PageSelection { at_most: 10, ..PageSelection::default() };
    let listing = list(&mut bench, all());
    assert_eq!((listing.pages.len(), listing.next_after), (3, None));
    let shown = |listing: &PageListing| -> Vec<String> {
        let mut urls: Vec<_> = listing.pages.iter().map(|page| page.url.to_string()).collect();
        urls.sort();
        urls
    };
    let looked = list(&mut bench, PageSelection { outcome: Some("unchanged".to_owned()), ..all() });
    assert_eq!(shown(&looked), [URL]);
    assert_eq!((looked.pages[0].fetches, looked.pages[0].is_seed), (1, true));
    let unseen = list(&mut bench, PageSelection { never_fetched: true, ..all() });
    assert_eq!(shown(&unseen), [SIBLING, ELSEWHERE]);
    let below = PageSelection { host: Some(HostName::from_name("site.test")), ..all() };
    assert_eq!(shown(&list(&mut bench, below)), [URL, SIBLING]);
    let part = PageSelection { address_part: Some("B.OTHER".to_owned()), ..all() };
    assert_eq!(shown(&list(&mut bench, part)), [ELSEWHERE]);
    let failed = PageSelection { outcome: Some("failed".to_owned()), verdict: Some(Verdict::Major), ..all() };
    assert_eq!(list(&mut bench, failed), PageListing::default());

    // One at a time, the list has each page once.
    let (mut after, mut seen) = (None, Vec::new());
    for _ in 0..3 {
        let listing = list(&mut bench, PageSelection { after, at_most: 1, ..all() });
        seen.extend(shown(&listing));
        after = listing.next_after;
    }
    seen.sort();
    assert_eq!((seen, after), (shown(&list(&mut bench, all())), None));
}

#[test]
fn the_pages_that_were_found_on_a_page_or_site_are_counted() {
    let mut bench = Bench::new(&[("crawl.discover", "same-host")]);
    bench.seed(URL);
    bench.seed(SIBLING);
    show(&mut bench, URL, &["/1", "/2", "/y"]);
    show(&mut bench, SIBLING, &["/1", "/3"]);
    let mut count = |url, site: Option<&str>| {
        let site = site.map(SiteKey::from_domain);
        let asked = Question { site, ..question(&bench, QuestionKind::Discovered, url) };
        one(&mut bench, &asked).read_json::<u64>().unwrap()
    };
    assert_eq!((count(Some(URL), None), count(Some(SIBLING), None), count(Some(ELSEWHERE), None)), (2, 1, 0));
    assert_eq!((count(None, Some("site.test")), count(None, Some("other.test"))), (3, 0));
}

#[test]
fn a_question_that_no_one_waits_for_is_passed_over_and_one_that_makes_no_sense_is_set_aside() {
    let mut bench = bench();
    let late = question(&bench, QuestionKind::Page, Some(URL));
    bench.pass(DAY);
    bench.tick();
    // Some are answered: the command may have another clock.
    assert_eq!((0..61).filter(|_| !ask(&mut bench, &late).is_empty()).count(), 60);
    bench.tick();
    assert_eq!(bench.driver.status(0).figures[metrics::stage::QUESTIONS_EXPIRED], 1.0);
    for about in
        [QuestionKind::Page, QuestionKind::Hosts, QuestionKind::Discovered, QuestionKind::Copy, QuestionKind::Unknown]
    {
        let asked = question(&bench, about, None);
        assert_eq!(ask(&mut bench, &asked), []);
    }
    let messages = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
    let reasons = messages.iter().map(|record| DeadLetter::decode(record.value.as_deref().unwrap()).unwrap().reason);
    assert_eq!(reasons.filter(|reason| reason.contains("does not answer")).count(), 5);
}

#[test]
fn an_explanation_begins_with_what_keeps_the_page_from_being_fetched() {
    const ROOM: (&str, &str) = ("policy.min_interval", "1h");
    let mut bench = Bench::new(&[ROOM]);
    let answer = |bench: &Bench, url: &str, price: f64| bench.explained(url, Some(price)).answer;
    let check = |bench: &Bench, url: &str, expected: &str| {
        let found = answer(bench, url, 0.0);
        assert!(found.starts_with(expected), "{found:?} does not begin with {expected:?}");
    };
    bench.seed(URL);
    check(&bench, URL, "It was never fetched");
    let unsent = bench.next(5 * SECOND);
    check(&bench, URL, "A request for it is under way.");
    bench.answer(failed(&unsent, FetchOutcome::RateLimited, None));
    check(&bench, URL, "It was never fetched; it is asked for at 2023-");
    let first = bench.next(HOUR);
    bench.answer(failed(&first, FetchOutcome::RobotsDisallowed, None));
    check(&bench, URL, "Not fetched yet: robots.txt forbids it");
    assert!(answer(&bench, URL, 0.0).contains("It is asked for again at 2023-"));
    let reasons = bench.explained(URL, Some(0.0)).reasons.join(" ");
    assert!(!reasons.contains("it is due"), "{reasons}");
    bench.command(CommandKind::PauseHost, URL, 1.0);
    check(&bench, URL, "Not fetched: an operator paused its host; recrawl resume");
    assert_eq!(bench.explained(URL, Some(0.0)).due_at, None);
    bench.command(CommandKind::BlockHost, URL, 1.0);
    check(&bench, URL, "Not fetched: an operator blocked its host; recrawl unblock");

    bench.seed(ELSEWHERE);
    let request = bench.next(5 * SECOND);
    bench.answer(looked(&request, 1.0));
    check(&bench, ELSEWHERE, "It was looked at just now");
    bench.pass(2 * HOUR);
    assert!(answer(&bench, ELSEWHERE, 1e9).starts_with("It changes too fast or matters too little"));
    assert!(
        answer(&bench, ELSEWHERE, 0.2).starts_with("It is not due before about"),
        "{}",
        answer(&bench, ELSEWHERE, 0.2)
    );
    let denying = Bench::with_rules("[[rules]]\nname = 'no news'\npages = ['*']\ncrawl = 'deny'\n", 1, &[ROOM]);
    bench.settings.rules = denying.settings.rules;
    check(&bench, ELSEWHERE, "Not fetched: it is out of scope, for rule no news denies it.");
}

#[test]
fn an_explanation_says_of_a_page_that_is_not_found_how_often_and_since_when() {
    const DEAD: &str = "http://a.dead.test/x";
    let mut bench = Bench::new(&[("policy.min_interval", "1h")]);
    let check = |bench: &Bench, url: &str, expected: &str| {
        let found = bench.explained(url, Some(0.0)).answer;
        assert!(found.starts_with(expected), "{found:?} does not begin with {expected:?}");
    };
    bench.seed(DEAD);
    let mut request = bench.next(5 * SECOND);
    for _ in 0..5 {
        bench.answer(failed(&request, FetchOutcome::NotFound, None));
        check(&bench, DEAD, "The server");
        bench.command(CommandKind::Refetch, DEAD, 1.0);
        request = bench.next(5 * SECOND);
    }
    bench.answer(failed(&request, FetchOutcome::NotFound, None));
    check(&bench, DEAD, "The server does not find it, at 6 looks since 2023-");
    let explained = bench.explained(DEAD, Some(0.0));
    assert!(explained.answer.contains("The next look is at 2023-"), "{}", explained.answer);
    assert!(!explained.reasons.join(" ").contains("policy.min_interval"), "{:?}", explained.reasons);
    bench.pass(30 * DAY);
    check(&bench, DEAD, "The server does not find it, at 6 looks since 2023-");
}

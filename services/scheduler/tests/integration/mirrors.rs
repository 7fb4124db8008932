//! Pages with the same text: one is fetched for both, the other is passed over nine times of ten.

use crate::bench::{Bench, edited, looked};
use messages::{CommandKind, FetchOutcome, FetchReason, MirrorMessage, MirrorSaying, SchedulerEvent, Verdict};
use page::{CanonicalUrl, HOUR, SECOND, Timestamp};
use std::collections::BTreeMap;

const ORIGINAL: &str = "http://a.test/";
const MIRROR: &str = "http://mirror.example/";

fn message(to: &str, about: &str, saying: MirrorSaying, version_at: Option<Timestamp>) -> (String, SchedulerEvent) {
    let (to, about) = (CanonicalUrl::parse(to).unwrap(), CanonicalUrl::parse(about).unwrap());
    let message = MirrorMessage {
        to: to.page_id(),
        to_site: to.site_key(),
        about: about.page_id(),
        about_site: about.site_key(),
        saying,
        url: Some(about),
        weight: 1.0,
        version_at,
        of_version_at: None,
        epoch: 0,
    };
    (to.site_key().as_str().to_owned(), SchedulerEvent::Message(message))
}

/// A bench with both pages fetched once, and a message to the mirror about the original.
fn tied(overrides: &[(&str, &str)]) -> Bench {
    let mut bench = Bench::with_partitions(
        4,
        &[&[("detector.mirrors", "true"), ("policy.min_interval", "1h")], overrides].concat(),
    );
    let mut first = None;
    for url in [ORIGINAL, MIRROR] {
        bench.seed(url);
        let request = bench.next(60 * SECOND);
        first = Some(request.issued_at);
        bench.answer(edited(looked(&request, 1e-3), |it| it.judgement.verdict = Verdict::First));
    }
    let (key, event) = message(MIRROR, ORIGINAL, MirrorSaying::Candidate, first);
    bench.send(&key, &event);
    bench.tick();
    bench
}

fn follows(bench: &Bench) -> bool {
    bench.page(MIRROR).unwrap().ties.is_some_and(|ties| ties.canonical.is_some())
}

fn followers(bench: &Bench) -> usize {
    bench.page(ORIGINAL).map_or(0, |page| page.ties.map_or(0, |ties| ties.followers.len()))
}

#[test]
fn a_mirror_gets_one_turn_of_ten_and_its_weight_goes_to_the_original() {
    let mut bench = tied(&[("budget.fetches_per_second", "0.002"), ("policy.min_interval", "1m")]);
    bench.crash();
    assert_eq!((follows(&bench), followers(&bench)), (true, 1));
    let looks: BTreeMap<String, u64> = bench.live(48 * HOUR, |_| 12.0);
    let (original, mirror) = (looks[ORIGINAL], looks[MIRROR]);
    assert!(original > 60 && (8..14).contains(&(original / mirror)), "{original} and {mirror} looks");
}

#[test]
fn what_is_not_a_matter_of_turns_is_fetched_all_the_same() {
    let mut bench = tied(&[]);
    bench.command(CommandKind::Refetch, MIRROR, 1.0);
    let request = bench.wait(30 * SECOND).into_iter().find(|request| request.url.as_str() == MIRROR).unwrap();
    assert_eq!(request.reason, FetchReason::Command);
}

#[test]
fn a_mirror_that_changed_is_on_its_own_and_the_original_is_looked_at() {
    let mut bench = tied(&[]);
    bench.command(CommandKind::Refetch, MIRROR, 1.0);
    let request = bench.wait(30 * SECOND).into_iter().find(|request| request.url.as_str() == MIRROR).unwrap();
    bench.answer(edited(looked(&request, 1e-3), |it| it.judgement.verdict = Verdict::Minor));
    let requests = bench.wait(HOUR);
    let probe = requests.iter().find(|request| request.url.as_str() == ORIGINAL).expect("it has changed, too?");
    assert_eq!(probe.reason, FetchReason::Probe);
    assert_eq!((follows(&bench), followers(&bench)), (false, 0));
}

#[test]
fn an_original_that_is_lost_releases_its_mirrors() {
    let answers = [(FetchOutcome::Gone, Verdict::Gone), (FetchOutcome::RobotsDisallowed, Verdict::Unknown)];
    for (outcome, verdict) in answers {
        let mut bench = tied(&[]);
        bench.command(CommandKind::Refetch, ORIGINAL, 1.0);
        let request = bench.wait(30 * SECOND).into_iter().find(|request| request.url.as_str() == ORIGINAL).unwrap();
        bench.answer(edited(looked(&request, 1.0), |it| {
            it.look.outcome = outcome;
            it.judgement.verdict = verdict;
        }));
        bench.tick();
        assert_eq!((follows(&bench), followers(&bench)), (false, 0), "{outcome:?}");
    }
    let mut bench = tied(&[]);
    bench.command(CommandKind::Forget, ORIGINAL, 1.0);
    bench.tick();
    assert!(!follows(&bench));
}

#[test]
fn a_page_no_one_knows_can_not_be_followed() {
    let mut bench = tied(&[]);
    let (key, event) = message("http://unknown.test/", MIRROR, MirrorSaying::Follow, None);
    bench.send(&key, &event);
    let (key, event) = message(MIRROR, "http://unknown.test/", MirrorSaying::Candidate, None);
    bench.send(&key, &event);
    bench.tick();
    assert!(follows(&bench), "of the page that is known");
}

#[test]
fn a_mirror_that_is_made_more_important_trades_places() {
    let mut bench = tied(&[]);
    bench.command(CommandKind::Seed, MIRROR, 5.0);
    bench.tick();
    assert_eq!((follows(&bench), followers(&bench)), (false, 0));
    let page = bench.page(ORIGINAL).unwrap().ties.unwrap();
    assert_eq!(page.canonical.unwrap().rank.url.as_str(), MIRROR);
    assert_eq!(bench.page(MIRROR).unwrap().ties.unwrap().followers.len(), 1);
}

#[test]
fn where_mirrors_are_not_asked_for_messages_change_nothing() {
    let bench = tied(&[("detector.mirrors", "false")]);
    assert_eq!(bench.page(MIRROR).unwrap().ties, None);
}

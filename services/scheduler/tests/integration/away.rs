//! Pages that are not there: how soon they are looked at again, and what they cost.

use crate::bench::{Bench, URL, edited, failed, looked, seconds};
use crate::scope::show;
use messages::{CommandKind, FetchOutcome, FetchRequest, LookJudgement, Verdict};
use page::{DAY, MINUTE, Timestamp};
use std::collections::BTreeMap;

/// A page as its shop has it during a deployment, and the seconds to the next look, three times.
fn waits_while_away(bench: &mut Bench, outcome: FetchOutcome, look_again_after_s: Option<i64>) -> [i64; 3] {
    bench.seed(URL);
    let mut request = bench.next(MINUTE);
    bench.answer(looked(&request, 1e-4));
    bench.command(CommandKind::Refetch, URL, 1.0);
    request = bench.next(MINUTE);
    std::array::from_fn(|_| {
        bench.answer(edited(failed(&request, outcome, None), |it| {
            it.judgement.previous_fetched_at = Some(it.look.fetched_at);
            it.judgement.look_again_after_s = look_again_after_s;
        }));
        bench.crash();
        let next = bench.next(DAY);
        let waited = seconds(request.not_before, next.not_before);
        request = next;
        waited as i64
    })
}

#[test]
fn a_page_that_is_away_is_looked_at_soon_and_within_the_longest_interval_of_its_rule() {
    let rule = "[[rules]]\npages = [\"a.site.test\"]\nmin_interval = \"5s\"\nmax_interval = \"10s\"\n";
    let away = [
        (FetchOutcome::NotFound, Some(129_600)),
        (FetchOutcome::Gone, None),
        (FetchOutcome::Fetched, Some(21_600)),
        (FetchOutcome::ServerError, None),
        (FetchOutcome::RedirectedAway, None),
    ];
    for (outcome, look_again_after_s) in away {
        let mut bench = Bench::with_rules(rule, 1, &[]);
        let waits = waits_while_away(&mut bench, outcome, look_again_after_s);
        assert!(waits.iter().all(|wait_s| (9..=13).contains(wait_s)), "{outcome:?}: {waits:?} s");
        // The budget is scarce, so nothing but the absence brings the page up.
        let mut bench = Bench::new(&[("budget.fetches_per_second", "0.02"), ("policy.min_interval", "20h")]);
        let waits = waits_while_away(&mut bench, outcome, look_again_after_s);
        for (wait_s, least_s) in waits.into_iter().zip([60, 300, 3_600]) {
            assert!((least_s - 1..least_s + 120).contains(&wait_s), "{outcome:?}: {waits:?} s");
        }
    }
}

/// Changes a day of a page that is there.
fn rate(url: &str) -> f64 {
    if url.contains("/busy/") { 1.0 } else { 1e-3 }
}

/// The requests of a week for each of 20 pages that answer so, or do from the second day on if they were there on the
/// first, beside so many busy pages.
fn requests_of_a_week(bench: &mut Bench, busy: usize, was_there: bool, outcome: FetchOutcome) -> f64 {
    bench.seed(URL);
    (0..busy).for_each(|page| bench.seed(&format!("http://a.site.test/busy/{page}")));
    bench.live(3 * DAY, rate);
    let paths: Vec<String> = (0..20).map(|page| format!("/dead/{page}")).collect();
    show(bench, URL, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    if was_there {
        bench.live(DAY, rate);
        // A slow page may not come up in a week.
        paths.iter().for_each(|path| bench.command(CommandKind::Refetch, &format!("http://a.site.test{path}"), 1.0));
    }
    let mut requests = 0;
    // As the detector has it: when each page was first not found.
    let mut missing: BTreeMap<String, (Timestamp, i32)> = BTreeMap::new();
    let until = bench.now() + 7 * DAY;
    while bench.now() < until {
        for request in bench.tick() {
            if !request.url.path().starts_with("/dead/") {
                bench.answer(looked(&request, rate(request.url.as_str())));
                continue;
            }
            requests += 1;
            let judgement = judged(&request, was_there, outcome, &mut missing);
            let belief = looked(&request, 1e-3).belief;
            let away = failed(&request, outcome, None);
            bench.answer(edited(away, |it| (it.judgement, it.belief) = (judgement, belief)));
        }
    }
    f64::from(requests) / 20.0
}

fn judged(
    request: &FetchRequest,
    was_there: bool,
    outcome: FetchOutcome,
    missing: &mut BTreeMap<String, (Timestamp, i32)>,
) -> LookJudgement {
    let mut judgement = LookJudgement::new(Verdict::Unknown);
    judgement.previous_fetched_at = was_there.then_some(request.issued_at);
    if outcome != FetchOutcome::NotFound || !was_there {
        return judgement;
    }
    let (since, looks) = missing.entry(request.url.to_string()).or_insert((request.not_before, 0));
    *looks += 1;
    let left_s = 259_200 - seconds(*since, request.not_before) as i64;
    match left_s <= 0 && *looks >= 3 {
        true => judgement.verdict = Verdict::Gone,
        false => judgement.look_again_after_s = Some(left_s.clamp(1, 129_600)),
    }
    judgement
}

/// The words of [crawl-your-sites.md](../../../../docs/crawl-your-sites.md#when-a-page-is-away) says of dead links.
#[test]
fn dead_links_cost_few_requests_whether_the_budget_is_scarce_or_not() {
    let cost = |fetches_per_second: &str, busy, was_there, outcome| {
        let mut bench = Bench::new(&[
            ("budget.fetches_per_second", fetches_per_second),
            ("policy.least_worth", "5s"),
            ("policy.min_interval", "5m"),
            ("policy.scan_interval", "1m"),
            ("crawl.discover", "same-site"),
        ]);
        requests_of_a_week(&mut bench, busy, was_there, outcome)
    };
    let check = |was_there, outcome, scarce: (f64, f64), ample: (f64, f64)| {
        let costs = [cost("0.001", 100, was_there, outcome), cost("10", 0, was_there, outcome)];
        println!("{outcome:?}, was there: {was_there}: {costs:?} requests a week");
        for (cost, (least, most)) in costs.into_iter().zip([scarce, ample]) {
            assert!((least..=most).contains(&cost), "{outcome:?}, was there: {was_there}: {costs:?}");
        }
    };
    check(false, FetchOutcome::NotFound, (2.5, 4.0), (3.0, 10.0));
    check(false, FetchOutcome::ConnectFailed, (1.0, 12.0), (8.0, 12.0));
    check(true, FetchOutcome::NotFound, (6.0, 12.0), (7.0, 30.0));
    check(true, FetchOutcome::ServerError, (4.0, 12.0), (8.0, 30.0));
}

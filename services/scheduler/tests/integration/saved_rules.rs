//! The intervals of watch rules that operators save while the crawl runs.

use crate::bench::{Bench, URL, failed, looked, seconds};
use messages::{CommandKind, Encoded, FetchOutcome, RuleSet, topics};
use page::MINUTE;

/// Saves rules, which count from the next tick on.
fn save(bench: &mut Bench, number: i64, text: &str) {
    let set = RuleSet { number, text: text.to_owned(), saved_at: bench.now(), saved_by: None };
    let key = format!("{:02}", number % RuleSet::KEPT);
    bench.driver.send(&bench.names.topic(topics::RULE_SETS), key.as_bytes(), set.encode()).unwrap();
}

fn rule(interval: &str) -> String {
    format!("[[rules]]\nname = \"often\"\npages = [\"a.site.test\"]\nwatch = [\"h1\"]\n{interval}\n")
}

/// The seconds until the page is asked for again. It is there then.
fn wait_s(bench: &mut Bench) -> i64 {
    let from = bench.now();
    let request = bench.next(10 * MINUTE);
    bench.answer(looked(&request, 1e-4));
    seconds(from, request.not_before.max(from)) as i64
}

#[test]
fn a_saved_interval_shortens_the_wait_outlives_a_crash_and_ends_with_its_rule() {
    for partitions in [1, 3] {
        let mut bench = Bench::with_partitions(partitions, &[("policy.min_interval", "20h")]);
        bench.seed(URL);
        let request = bench.next(MINUTE);
        bench.answer(looked(&request, 1e-4));
        assert!(bench.wait(30 * MINUTE).is_empty(), "it waits for 20 hours");
        save(&mut bench, 1, &rule("max_interval = \"2m\""));
        assert!(wait_s(&mut bench) < 30, "the wait is over");
        assert!((100..=140).contains(&wait_s(&mut bench)));
        bench.crash();
        assert!((100..=140).contains(&wait_s(&mut bench)));
        // An older set changes nothing, and one without the rule ends it: the page may come once more, and then waits again.
        save(&mut bench, 0, "");
        assert!((100..=140).contains(&wait_s(&mut bench)));
        save(&mut bench, 2, "");
        let more = bench.wait(10 * MINUTE);
        assert!(more.len() <= 1, "{more:?}");
        more.iter().for_each(|request| bench.answer(looked(request, 1e-4)));
        assert!(bench.wait(60 * MINUTE).is_empty());
    }
}

#[test]
fn a_page_that_fails_keeps_its_back_off() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let request = bench.next(MINUTE);
    bench.answer(looked(&request, 1e-4));
    bench.command(CommandKind::Refetch, URL, 1.0);
    for _ in 0..3 {
        let request = bench.next(30 * MINUTE);
        bench.answer(failed(&request, FetchOutcome::ServerError, None));
    }
    save(&mut bench, 1, &rule("max_interval = \"1m\""));
    assert!(bench.wait(10 * MINUTE).is_empty(), "the server is left alone");
}

#[test]
fn a_saved_rule_that_watches_alone_leaves_the_intervals_of_the_configuration() {
    let configured =
        "[[rules]]\nname = \"slow\"\npages = [\"a.site.test\"]\nmin_interval = \"3m\"\nmax_interval = \"3m\"\n";
    let mut bench = Bench::with_rules(configured, 1, &[]);
    bench.seed(URL);
    let request = bench.next(MINUTE);
    bench.answer(looked(&request, 1e-4));
    save(&mut bench, 1, &rule(""));
    assert!((160..=200).contains(&wait_s(&mut bench)));
    // A saved one of the same name stands in its place, also where it says nothing.
    save(&mut bench, 2, &rule("max_interval = \"1m\"").replace("often", "slow"));
    assert!(wait_s(&mut bench) <= 180);
    assert!((1..=70).contains(&wait_s(&mut bench)));
}

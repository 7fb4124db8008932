//! Watch rules that operators save while the crawl runs.

use crate::bench::Bench;
use messages::{Encoded, FetchOutcome, RuleSet, topics};
use std::time::Duration;
use stream::Clock;

fn page(price: &str) -> String {
    format!("<title>Lamp</title><h1>Lamp</h1><p class=price>{price}</p><p>It is a lamp for reading at night.</p>")
}

fn rule(name: &str, pages: &str) -> String {
    format!(
        "[[rules]]\nname = \"{name}\"\npages = [\"{pages}\"]\nwatch = [\".price\"]\ntrigger = [\"price below 20\"]\n"
    )
}

fn save(bench: &Bench, number: i64, text: &str) {
    let saved_at = bench.driver.clock.now();
    let set = RuleSet { number, text: text.to_owned(), saved_at, saved_by: Some("ada".to_owned()) };
    let key = format!("{:02}", number % RuleSet::KEPT);
    bench.driver.send(&bench.names.topic(topics::RULE_SETS), key.as_bytes(), set.encode()).unwrap();
}

fn saved(bench: &mut Bench, number: i64, text: &str) {
    save(bench, number, text);
    // Sets are read once a second.
    bench.driver.clock.advance(Duration::from_secs(1));
    bench.driver.run_until_idle().unwrap();
}

/// Looks at the page, which has this price now, and once more, because a change may wait for that. Returns rule and triggers of the
/// change that is reported, if one is.
fn look(bench: &mut Bench, price: &str) -> Option<(Option<String>, Vec<String>)> {
    let before = bench.changes().len();
    for wait_s in [3_600, 60] {
        bench.driver.clock.advance(Duration::from_secs(wait_s));
        bench.see(FetchOutcome::Fetched, Some(&page(price)));
    }
    bench.changes().into_iter().nth(before).map(|change| (change.rule, change.triggers))
}

fn of_rule(name: &str, triggers: &[&str]) -> Option<(Option<String>, Vec<String>)> {
    Some((Some(name.to_owned()), triggers.iter().map(|trigger| (*trigger).to_owned()).collect()))
}

#[test]
fn saved_rules_count_from_the_first_result_after_a_start_on() {
    let mut bench = Bench::new(&[]);
    save(&bench, 1, &rule("sale", "www.site.test"));
    bench.driver.kill(0);
    bench.restart();
    assert_eq!(look(&mut bench, "24,90 €"), of_rule("sale", &[]), "its first look is by the rule");
    assert_eq!(look(&mut bench, "19,90 €"), of_rule("sale", &["price below 20"]));
    bench.lose_everything_but_the_log();
    assert_eq!(look(&mut bench, "24,90 €"), of_rule("sale", &[]));
}

#[test]
fn the_newest_set_counts_and_one_that_is_wrong_changes_nothing() {
    let mut bench = Bench::configured(&rule("configured", "www.site.test"));
    assert_eq!(look(&mut bench, "24,90 €"), of_rule("configured", &[]));
    saved(&mut bench, 5, &rule("saved", "www.site.test"));
    assert_eq!(look(&mut bench, "19,90 €"), of_rule("saved", &["price below 20"]), "the same parts are watched on");
    saved(&mut bench, 4, &rule("older", "www.site.test"));
    saved(&mut bench, 6, "[[rules]]\nname = \"bad\"\npages = [\"www.site.test\"]\nwatch = [\".price[\"]\n");
    saved(&mut bench, 7, "x");
    assert_eq!(look(&mut bench, "26,50 €"), of_rule("saved", &[]));
    assert_eq!(bench.figure(metrics::detector::BAD_RULE_SETS), 2.0);
    assert_eq!(bench.figure(metrics::detector::SAVED_RULES), 1.0);
    // One that only orders an interval hides no rule that watches, and without saved ones the configured count again.
    saved(&mut bench, 8, "[[rules]]\nname = \"often\"\npages = [\"www.site.test\"]\nmax_interval = \"5m\"\n");
    assert_eq!(look(&mut bench, "17,30 €"), of_rule("configured", &["price below 20"]));
    saved(&mut bench, 9, "");
    assert_eq!(look(&mut bench, "21,70 €"), of_rule("configured", &[]));
}

//! Watch rules in the detector: what counts, what does not, which triggers fire, and what a change of the rules does.

use crate::bench::{Bench, FIRST};
use messages::{FetchOutcome, PageChange, Validators, Verdict};

const PRICE: &str = "[[rules]]\nname = \"lamp\"\npages = [\"www.site.test/*\"]\nwatch = [\".price\"]\n\
                     trigger = [\"price below 20\"]\n";

/// A page with a price, a teaser and a news.
fn shop(price: &str, teaser: &str, news: &str) -> String {
    let text: String = FIRST.iter().map(|text| format!("<p>{text}")).collect();
    format!(
        "<!doctype html><title>Lamp</title><main><h1>Lamp</h1><p>It costs <b class=price>{price}</b> today.{text}<p>{news}\
         <div class=teaser><p>{teaser}</div></main>"
    )
}

fn see(bench: &mut Bench, page: &str) -> Option<PageChange> {
    bench.see(FetchOutcome::Fetched, Some(page)).change
}

fn lines(change: &PageChange) -> Vec<(Option<&str>, Option<&str>)> {
    change.changes.iter().map(|unit| (unit.before.as_deref(), unit.after.as_deref())).collect()
}

#[test]
fn of_a_watched_price_nothing_but_the_price_is_reported() {
    let mut bench = Bench::configured(PRICE);
    let first = see(&mut bench, &shop("29,90 €", "Buy a table", "The shop is closed on Monday.")).unwrap();
    assert_eq!((first.verdict, first.rule.as_deref()), (Verdict::First, Some("lamp")));
    let other = shop("29,90 €", "Buy a chair", "The shop is open on Monday.");
    assert_eq!(bench.see(FetchOutcome::Fetched, Some(&other)).observation.judgement.verdict, Verdict::Cosmetic);
    let change = see(&mut bench, &shop("24,90 €", "Buy a bed", "The shop is gone.")).unwrap();
    assert_eq!(lines(&change), [(Some("29,90 €"), Some("24,90 €"))]);
    assert_eq!((change.rule.as_deref(), change.triggers.len(), change.passed_over > 0), (Some("lamp"), 0, true));
    assert_eq!(change.changes[0].place, "Lamp", "the heading above says where");
}

#[test]
fn what_is_ignored_is_not_reported_and_not_learned_from() {
    let mut bench = Bench::configured("[[rules]]\npages = [\"www.site.test\"]\nignore = [\".teaser\"]\n");
    see(&mut bench, &shop("29,90 €", "Buy a table", "Closed on Monday."));
    for teaser in ["Buy a chair", "Buy a bed", "All beds are sold"] {
        assert_eq!(see(&mut bench, &shop("29,90 €", teaser, "Closed on Monday.")), None, "{teaser}");
    }
    let change = see(&mut bench, &shop("29,90 €", "Buy it", "Closed on Tuesday.")).unwrap();
    assert_eq!(lines(&change), [(Some("Closed on Monday."), Some("Closed on Tuesday."))]);
    assert_eq!(change.rule.as_deref(), Some("1"), "a rule without a name has its number");
}

#[test]
fn a_threshold_fires_once_when_it_is_crossed() {
    let mut bench = Bench::configured(PRICE);
    let mut fired = |price: &str| {
        let change = see(&mut bench, &shop(price, "", "")).unwrap();
        (change.verdict, change.triggers)
    };
    let none = |verdict| (verdict, Vec::new());
    assert_eq!(fired("19,00 €"), none(Verdict::First), "what holds from the first is no change");
    assert_eq!(fired("21,00 €").1, [""; 0]);
    assert_eq!(fired("19,50 €").1, ["price below 20"]);
    assert_eq!(fired("18,50 €").1, [""; 0]);
    assert_eq!(fired("1.018,50 €").1, [""; 0]);
    assert_eq!(fired("9,50 €").1, ["price below 20"]);
    assert_eq!(bench.figure(metrics::detector::TRIGGERS_FIRED), 2.0);
}

#[test]
fn only_what_fires_is_reported_if_the_rule_says_so() {
    let rule =
        "[[rules]]\npages = [\"*\"]\nwatch = [\".price\"]\ntrigger = [\"price below 20\"]\nonly_triggers = true\n";
    let mut bench = Bench::configured(rule);
    let mut reported = |price: &str| see(&mut bench, &shop(price, "", "")).is_some();
    assert_eq!(["30 €", "25 €", "19 €", "18 €", "30 €"].map(&mut reported), [true, false, true, false, false]);
    assert_eq!(bench.figure(metrics::detector::UNTRIGGERED_CHANGES), 3.0);
    assert_eq!(
        bench.see(FetchOutcome::Gone, None).change.unwrap().verdict,
        Verdict::Gone,
        "that is no change of a price"
    );
}

#[test]
fn a_trigger_fires_where_learning_receives_only_noise() {
    // Ten looks, each with a second one, teach that this number differs at every fetch.
    let page = |number: u32| shop("", "", &format!("{number} people look at this lamp now."));
    let rule = "[[rules]]\npages = [\"*\"]\ntrigger = [\"not: 77 people\", \"this lamp now rises\"]\n";
    let mut reported = 0;
    let mut bench = Bench::configured("");
    for day in 0..20 {
        reported += u32::from(see(&mut bench, &page(100 + 2 * day)).is_some());
        let mut again = bench.answer(FetchOutcome::Fetched, Some(&page(101 + 2 * day)));
        again.look.fetched_at = page_time(&bench, 30 - 86_400);
        bench.see_result(&again);
    }
    assert!(reported < 5, "the place is learned: {reported}");
    bench.restart_with(rule);
    assert_eq!(see(&mut bench, &page(77)), None);
    let change = see(&mut bench, &page(78)).unwrap();
    assert_eq!((change.verdict, change.triggers), (Verdict::Minor, vec!["not: 77 people".to_owned()]));
}

fn page_time(bench: &Bench, plus_s: i64) -> page::Timestamp {
    let now = stream::Clock::now(&*bench.driver.clock);
    page::Timestamp::from_secs(now.as_secs() + plus_s)
}

#[test]
fn a_value_is_watched_by_its_pointer() {
    let rule = "[[rules]]\npages = [\"*\"]\nwatch = [\"/services/*/state\"]\ntrigger = [\"not: operational\"]\n";
    let mut bench = Bench::configured(rule);
    let mut look = |state: &str, load: u32| {
        let body =
            format!("{{\"services\":[{{\"name\":\"api\",\"state\":\"{state}\",\"load\":{load}}}],\"at\":{load}}}");
        let mut result = bench.answer(FetchOutcome::Fetched, Some(&body));
        result.content_type = Some("application/json".to_owned());
        bench.see_result(&result).change
    };
    look("operational", 1);
    assert_eq!(look("operational", 2), None);
    let change = look("down", 3).unwrap();
    assert_eq!(lines(&change), [(Some("services: api: state: operational"), Some("services: api: state: down"))]);
    assert_eq!(change.triggers, ["not: operational"]);
}

#[test]
fn a_watched_part_that_is_gone_is_counted_and_named_and_reported_if_that_lasts() {
    let mut bench = Bench::configured(PRICE);
    see(&mut bench, &shop("29,90 €", "", ""));
    let without = |day: u32| shop("", "", &format!("Day {day}.")).replace("class=price", "class=cost");
    let reported: Vec<_> = (0..5).map(|day| see(&mut bench, &without(day))).collect();
    let verdicts: Vec<_> = reported.iter().map(|change| change.as_ref().map(|change| change.verdict)).collect();
    // The title says that it is the page, and no error in its place.
    assert_eq!(verdicts, [Some(Verdict::Unwatched), None, None, None, None], "once");
    let change = reported[0].as_ref().unwrap();
    assert_eq!(
        (&change.lost, &change.not_found),
        (&vec![".price".to_owned(), "price below 20".to_owned()], &vec![".price".to_owned()])
    );
    assert_eq!((change.values[0].number_before, change.values[0].number_after), (Some(29.9), None));
    assert_eq!(bench.figure(metrics::detector::WATCH_MISSES), 5.0);
    assert_eq!(bench.figure(metrics::detector::BLIND_PAGES), 1.0);
    let back = see(&mut bench, &shop("19,90 €", "", "")).unwrap();
    assert_eq!(back.triggers, ["price below 20"], "the price is remembered while it is not there");
    assert_eq!((back.values[0].number_before, back.values[0].number_after), (Some(29.9), Some(19.9)));
    let sight = bench.changes().into_iter().rfind(|change| change.verdict == Verdict::Watched).unwrap();
    assert_eq!(sight.found_again, [".price", "price below 20"]);
    assert_eq!((sight.changes.len(), sight.triggers.len(), bench.figure(metrics::detector::BLIND_PAGES)), (0, 0, 0.0));
}

const TWO_PARTS: &str = "[[rules]]\nname = 'lamp'\npages = ['*']\nwatch = ['#price', '#stock']\nonly_triggers = true\ntrigger = ['in stock']\n";

#[test]
fn a_rule_that_loses_one_of_two_parts_reports_it_at_once_also_if_it_wants_triggers_only() {
    let mut bench = Bench::configured(TWO_PARTS);
    let page = |price: &str, stock: &str| {
        format!("<!doctype html><title>Bike pump</title><h1>Bike pump</h1><p {price}>29,90 €<p {stock}>Sold out</p>")
    };
    see(&mut bench, &page("id=price", "id=stock"));
    let change = see(&mut bench, &page("id=cost", "id=stock")).unwrap();
    assert_eq!((change.verdict, &change.lost), (Verdict::Unwatched, &vec!["#price".to_owned()]));
    assert_eq!((change.title.as_deref(), change.rule.as_deref()), (Some("Bike pump"), Some("lamp")));
    assert_eq!(lines(&change), [(Some("29,90 €"), None)], "it says which text went");
    assert_eq!(see(&mut bench, &page("id=cost", "id=stock class=x")), None, "once");
    let back = see(&mut bench, &page("id=price", "id=stock")).unwrap();
    assert_eq!((back.verdict, back.found_again), (Verdict::Watched, vec!["#price".to_owned()]));
    // Under another title it may be an error in the page's place, at first.
    let error = "<!doctype html><title>Bikes</title><p>Have a break.";
    assert_eq!(see(&mut bench, error), None);
    let change = see(&mut bench, &format!("{error} <p>It ends soon.")).unwrap();
    assert_eq!((change.verdict, change.lost), (Verdict::Unwatched, vec!["#price".to_owned(), "#stock".to_owned()]));
}

#[test]
fn other_rules_are_no_change_of_the_page() {
    let mut bench = Bench::configured("");
    let page = |price: &str| shop(price, "Buy a table", "Closed.");
    see(&mut bench, &page("29,90 €"));
    bench.restart_with(PRICE);
    assert_eq!(see(&mut bench, &page("29,90 €")), None, "the same body, read by a rule");
    assert_eq!(see(&mut bench, &page("19,90 €")).unwrap().triggers, ["price below 20"]);
    bench.restart_with(&PRICE.replace(".price", "h1"));
    assert_eq!(see(&mut bench, &shop("9,90 €", "Buy a chair", "Open.")), None, "read by another rule");
    let renamed = shop("9,90 €", "Buy a chair", "Open.").replace("<h1>Lamp", "<h1>Desk lamp");
    assert_eq!(lines(&see(&mut bench, &renamed).unwrap()), [(Some("Lamp"), Some("Desk lamp"))]);
    bench.restart_with("");
    assert_eq!(see(&mut bench, &renamed.replace("Buy a chair", "Buy a bed")), None, "read without a rule");
    let change = see(&mut bench, &renamed.replace("Open.", "Closed.")).unwrap();
    assert_eq!((change.rule, change.changes.is_empty()), (None, false));
}

#[test]
fn the_change_at_which_a_first_rule_takes_effect_is_reported_as_without_it() {
    let mut bench = Bench::configured("");
    see(&mut bench, &shop("29,90 €", "", "Closed."));
    bench.restart_with(PRICE);
    let change = see(&mut bench, &shop("24,90 €", "", "Closed.")).unwrap();
    let (before, after) = (change.changes[0].before.as_deref().unwrap(), change.changes[0].after.as_deref().unwrap());
    assert!(before.contains("29,90") && after.contains("24,90"), "{change:?}");
}

#[test]
fn an_unchanged_page_is_asked_for_with_its_body_when_its_rule_is_new() {
    let mut bench = Bench::configured("");
    see(&mut bench, &shop("29,90 €", "", ""));
    bench.restart_with(PRICE);
    let seen = bench.see(FetchOutcome::NotModified, None);
    assert_eq!(seen.observation.judgement.look_again_after_s, Some(0));
    assert_eq!((seen.validators, seen.change), (Validators::default(), None), "so that the body comes");
    assert_eq!(see(&mut bench, &shop("29,90 €", "", "")), None);
    let seen = bench.see(FetchOutcome::NotModified, None);
    assert_eq!(
        (seen.observation.judgement.verdict, seen.observation.judgement.look_again_after_s),
        (Verdict::Unchanged, None)
    );
    let other = PRICE.replace("price below 20", "price below 10");
    bench.restart_with(&other);
    assert_eq!(bench.see(FetchOutcome::NotModified, None).observation.judgement.look_again_after_s, Some(0));
    see(&mut bench, &shop("29,90 €", "", ""));
    assert_eq!(see(&mut bench, &shop("9,90 €", "", "")).unwrap().triggers, ["price below 10"]);
}

//! Pages that lead elsewhere, and pages in whose place something else is served for a while.

use crate::bench::{Bench, FIRST, Seen, URL, html};
use messages::{FetchOutcome, FetchResult, Validators, Verdict};
use page::{CanonicalUrl, Timestamp};

const HOME: &str = "http://www.site.test/";

fn page(title: &str, main: &str) -> String {
    format!(
        "<html><head><title>{title}</title></head><body><nav><ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a \
         href=/council>Council</a></ul></nav><main>{main}</main><footer><a href=/imprint>Imprint</a></footer>"
    )
}

fn own(sentences: &[&str]) -> String {
    page("News of the town", &sentences.iter().map(|text| format!("<p>{text}")).collect::<String>())
}

fn bare(title: &str, body: &str) -> String {
    format!("<html><head><title>{title}</title></head><body>{body}")
}

/// The answer that came by a redirect.
fn by_redirect(bench: &mut Bench, to: &str, body: &str) -> FetchResult {
    let mut result = bench.answer(FetchOutcome::Fetched, Some(body));
    let to = CanonicalUrl::parse(to).unwrap();
    result.look.final_url = Some(to.clone());
    result.look.validators.url = Some(to);
    result
}

/// The verdict that was published, where the page leads, and what it looks like.
fn reported(seen: &Seen) -> Option<(Verdict, Option<&str>, Option<&str>)> {
    let change = seen.change.as_ref();
    change.map(|change| (change.verdict, change.leads_to.as_deref(), change.looks_like.as_deref()))
}

#[test]
fn what_is_served_in_a_pages_place_is_reported_once_and_so_is_the_pages_return() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    let wall = bare("Entretien", "<h1>Site en maintenance</h1><p>Nous revenons vite.");
    let first = bench.see(FetchOutcome::Fetched, Some(&wall));
    assert_eq!(
        (reported(&first), first.observation.judgement.verdict),
        (None, Verdict::Unknown),
        "it may be an accident"
    );
    let second = bench.see(FetchOutcome::Fetched, Some(&wall));
    assert_eq!(reported(&second), Some((Verdict::Obscured, None, Some("maintenance"))));
    assert_eq!((second.observation.judgement.verdict, second.validators), (Verdict::Unknown, Validators::default()));
    let change = second.change.unwrap();
    assert_eq!(
        (change.added, change.changes.len()),
        (vec!["Entretien".to_owned(), "Site en maintenance".to_owned(), "Nous revenons vite.".to_owned()], 0)
    );
    assert_eq!(reported(&bench.see(FetchOutcome::Fetched, Some(&wall))), None, "once");
    let back = bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    assert_eq!(reported(&back), Some((Verdict::Returned, None, None)));
    assert_eq!((back.observation.judgement.verdict, back.change.unwrap().changes.len()), (Verdict::Cosmetic, 0));
    assert_eq!(reported(&bench.see(FetchOutcome::NotModified, None)), None);
}

#[test]
fn one_look_at_a_question_for_consent_or_at_an_empty_shell_is_not_reported() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    let consent = bare("Avant de continuer", "<h1>Votre vie privée</h1><button>Tout accepter</button>");
    for other in [consent, bare("News of the town", "<div id=root></div><script src=/app.js></script>")] {
        assert_eq!(reported(&bench.see(FetchOutcome::Fetched, Some(&other))), None);
        let back = bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
        assert_eq!((reported(&back), back.observation.judgement.verdict), (None, Verdict::Cosmetic));
    }
    let mut quiet = Bench::new(&[("detector.missing", "false")]);
    quiet.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    let empty = page("News of the town", "");
    assert!((0..3).all(|_| reported(&quiet.see(FetchOutcome::Fetched, Some(&empty))).is_none()));
    assert_eq!(reported(&quiet.see(FetchOutcome::Fetched, Some(&own(FIRST)))), None);
}

#[test]
fn what_stands_in_for_a_watched_page_is_reported_once_and_not_as_parts_that_are_lost() {
    let mut bench = Bench::configured("[[rules]]\npages = ['*']\nwatch = ['#price']\ntrigger = ['price below 20']\n");
    let shop = |price: &str| page("Lamp", &format!("<h1>Lamp</h1><p id=price>{price} €<p>A lamp of brass and glass."));
    bench.see(FetchOutcome::Fetched, Some(&shop("29")));
    let wall = bare("Wartung", "<h1>Wartungsarbeiten</h1><p>Wir sind gleich wieder da.");
    (0..3).for_each(|_| drop(bench.see(FetchOutcome::Fetched, Some(&wall))));
    bench.see(FetchOutcome::Fetched, Some(&shop("19")));
    let changes = bench.changes();
    let verdicts: Vec<_> = changes.iter().map(|change| change.verdict).collect();
    assert_eq!(verdicts, [Verdict::First, Verdict::Obscured, Verdict::Returned]);
    assert_eq!((&changes[1].not_found[..], changes[1].lost.len()), (&["#price".to_owned()][..], 0));
    assert_eq!(changes[2].triggers, ["price below 20"], "what changed meanwhile");
}

#[test]
fn a_page_that_becomes_another_is_reported_as_a_change_after_three_held_looks() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    let closed = bare("Good bye", "<p>The council has closed this site.");
    let verdicts: Vec<_> = (0..4).map(|_| bench.see(FetchOutcome::Fetched, Some(&closed))).collect();
    let reported: Vec<_> = verdicts.iter().map(|seen| reported(seen).map(|(verdict, ..)| verdict)).collect();
    assert_eq!(reported, [None, Some(Verdict::Obscured), None, Some(Verdict::Major)]);
    assert!(verdicts[3].change.as_ref().unwrap().added.iter().any(|text| text.contains("closed this site")));
    let back = bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    assert_eq!(back.change.map(|change| (change.verdict, change.changes.len())), Some((Verdict::Returned, 0)));
}

#[test]
fn a_redirect_to_another_page_is_reported_once_with_its_address_and_so_is_its_end() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    let login = bare("Log in", "<h1>Log in</h1><form>User <input name=u>Password <input type=password></form>");
    let see = |bench: &mut Bench, to: &str, body: &str| {
        let result = by_redirect(bench, to, body);
        bench.see_result(&result)
    };
    let to_login = "http://www.site.test/login?back=/news";
    let first = see(&mut bench, to_login, &login);
    assert_eq!(reported(&first), Some((Verdict::Redirected, Some(to_login), Some("login"))));
    assert_eq!(first.observation.judgement.verdict, Verdict::Unknown, "a login is no version of the page");
    assert!((0..4).all(|_| reported(&see(&mut bench, to_login, &login)).is_none()), "once, however long it lasts");
    let back = bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    assert_eq!(reported(&back), Some((Verdict::Returned, None, None)));
    assert!(back.change.unwrap().changes.is_empty(), "as it was");
    // A page that shares texts with the old one is compared at once.
    let home = see(&mut bench, HOME, &own(&[&["Welcome to our town."], &FIRST[1..]].concat()));
    assert_eq!(reported(&home), Some((Verdict::Redirected, Some(HOME), None)));
    assert_eq!(home.change.unwrap().changes.len(), 2, "a sentence went and one came");
    assert_eq!(reported(&see(&mut bench, HOME, &own(&[&["Welcome to our town."], &FIRST[1..]].concat()))), None);
    let edited = see(&mut bench, HOME, &own(&[&["Welcome to our city."], &FIRST[1..]].concat()));
    assert_eq!(
        edited.change.map(|change| (change.verdict.is_change(), change.leads_to.is_some())),
        Some((Some(true), true))
    );
    let elsewhere = see(&mut bench, "http://other.test/news", &own(FIRST));
    assert_eq!(
        reported(&elsewhere),
        Some((Verdict::Redirected, Some("http://other.test/news"), None)),
        "again elsewhere"
    );
}

#[test]
fn another_spelling_of_the_address_is_no_redirect_to_another_page() {
    let mut bench = Bench::new(&[]);
    bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    for spelling in ["https://www.site.test/news", "http://site.test/news/", "http://www.site.test/news?utm_source=x"] {
        let result = by_redirect(&mut bench, spelling, &own(FIRST));
        assert_eq!(reported(&bench.see_result(&result)), None, "{spelling}");
    }
    let same = bench.see(FetchOutcome::Fetched, Some(&own(FIRST)));
    assert_eq!((reported(&same), same.observation.look.url.as_str()), (None, URL));
}

#[test]
fn a_page_that_led_elsewhere_when_it_was_first_seen_says_where_and_is_no_news() {
    let mut bench = Bench::new(&[]);
    let result = by_redirect(&mut bench, "http://www.site.test/en/news", &own(FIRST));
    let first = bench.see_result(&result);
    assert_eq!(reported(&first), Some((Verdict::First, Some("http://www.site.test/en/news"), None)));
    let result = by_redirect(&mut bench, "http://www.site.test/en/news", &own(FIRST));
    assert_eq!(reported(&bench.see_result(&result)), None);
}

#[test]
fn a_host_that_is_away_is_not_reported_page_by_page() {
    let mut bench = Bench::new(&[]);
    let look = |bench: &mut Bench, page: usize, body: &str| {
        let url = CanonicalUrl::parse(&format!("{URL}/{page}")).unwrap();
        let mut result = bench.answer(FetchOutcome::Fetched, Some(body));
        // All within an hour.
        result.look.fetched_at = Timestamp::from_secs(1_700_000_000 + 60 * result.look.attempt);
        (result.look.page_id, result.look.url) = (url.page_id(), url);
        bench.see_result(&result)
    };
    (0..12).for_each(|page| {
        drop(look(&mut bench, page, &html(&[&format!("Text {page}"), FIRST[page % 6], FIRST[0], FIRST[3]])))
    });
    let wall = bare("Wartung", "<h1>Wartungsarbeiten</h1>");
    let rounds: Vec<usize> =
        (0..3).map(|_| (0..12).filter(|page| reported(&look(&mut bench, *page, &wall)).is_some()).count()).collect();
    assert_eq!(rounds, [0, 0, 0]);
}

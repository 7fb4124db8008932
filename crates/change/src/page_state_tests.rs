use super::*;
use proptest::prelude::*;

fn html(body: &str) -> Version {
    Version::new(body.as_bytes(), Some("text/html"), Some("https://a.test/terms"))
}

/// Verdict and whether it means anything, for each version after the first.
fn judged(versions: &[Version]) -> Vec<(Verdict, bool)> {
    let mut state = PageState::default();
    let judgements = versions.iter().map(|version| state.observe(version));
    judgements.map(|judgement| (judgement.verdict, judgement.meaningful)).skip(1).collect()
}

fn page(middle: &str) -> String {
    let text: String = (0..40).map(|number| format!("<p>Clause {number} holds in all cases but one.")).collect();
    format!("<nav>Home</nav><main>{text}{middle}</main><footer>End</footer>")
}

#[test]
fn what_a_reader_would_call_a_change_is_one() {
    let old = page("<p>Effective April 1, 2026. <a href=/x>More</a> to read about this elsewhere.");
    let check = |new: String, expected| assert_eq!(judged(&[html(&old), html(&new)]), [expected], "{new}");
    check(old.clone(), (Verdict::Unchanged, false));
    check(old.replace("April 1", "May 1"), (Verdict::Minor, true));
    check(old.replace("2026.", "2026!"), (Verdict::Minor, true));
    check(old.replace("=/x", "=/y"), (Verdict::Minor, true));
    check(old.replace("Clause", "Rule"), (Verdict::Major, true));
    check(old.replace("=/x", "=https://a.test/x/?utm_source=y"), (Verdict::Cosmetic, false));
    check(old.replace("End", "The end"), (Verdict::Cosmetic, false));
    check(old.replace("<p>Eff", "<p><a href=/ad>Buy this</a><p class=y>Eff"), (Verdict::Cosmetic, false));
    check(old.replace("<main>", "<main><script>t=1</script>"), (Verdict::Cosmetic, false));
}

#[test]
fn noise_is_learnt_and_edits_beside_it_are_seen() {
    let version = |count: u32, text: &str| html(&page(&format!("<p>Visitors so far: {count}<p>{text}")));
    let versions: Vec<Version> = (0..12).map(|count| version(count * 977, "Ask Ann.")).collect();
    let said = judged(&versions);
    assert!(said[..4].iter().all(|(_, meaningful)| *meaningful));
    assert!(said[4..].iter().all(|(verdict, meaningful)| *verdict == Verdict::Cosmetic && !meaningful));
    let mut state = PageState::default();
    versions.iter().for_each(|version| drop(state.observe(version)));
    let judgement = state.observe(&version(1, "Ask Bob."));
    assert_eq!((judgement.meaningful, judgement.added), (true, vec!["Ask Bob.".to_owned()]));
}

#[test]
fn a_change_is_confirmed_or_withdrawn_by_the_next_version() {
    let mut state = PageState::default();
    let (old, new) = (html(&page("<p>Old")), html(&page("<p>New")));
    state.observe(&old);
    assert_eq!(state.observe(&new).earlier, None);
    assert_eq!(state.observe(&new).earlier, Some(Confirmation::Confirmed));
    assert_eq!(state.observe(&old).earlier, None);
    let judgement = state.observe(&new);
    assert_eq!((judgement.earlier, judgement.meaningful), (Some(Confirmation::Withdrawn), true));
    assert!(judgement.changes_last);
    assert!(!state.observe(&old).changes_last);
}

#[test]
fn an_error_in_the_pages_place_is_held_until_it_lasts() {
    let mut state = PageState::default();
    let error = |number| html(&format!("<h1>Access denied</h1><p>Incident {number}"));
    state.observe(&html(&page("")));
    for number in 0..3 {
        let judgement = state.observe(&error(number));
        assert!(judgement.held && !judgement.meaningful);
    }
    assert!(!state.clone().observe(&html(&page(""))).meaningful, "as if it never happened");
    assert_eq!(state.observe(&error(3)).verdict, Verdict::Major);
}

#[test]
fn a_page_that_goes_and_comes_back_says_so_once() {
    let mut state = PageState::default();
    assert!(!state.observe_gone().meaningful, "nothing was known of it");
    let mut state = PageState::default();
    state.observe(&html(&page("")));
    assert_eq!((state.observe_gone().verdict, state.observe_gone().verdict), (Verdict::Gone, Verdict::Unchanged));
    let back = state.observe(&html(&page("")));
    assert_eq!((back.verdict, back.meaningful), (Verdict::Returned, false));
}

#[test]
fn feeds_are_judged_by_items_and_json_by_values() {
    let feed = |built: &str, items: &[&str]| {
        let items: String = items
            .iter()
            .map(|item| {
                format!(
                    "<item><title>{item}</title><link>https://a.test/{item}</link><pubDate>{built}</pubDate></item>"
                )
            })
            .collect();
        let body =
            format!("<rss><channel><title>News</title><lastBuildDate>{built}</lastBuildDate>{items}</channel></rss>");
        Version::new(body.as_bytes(), Some("application/rss+xml"), None)
    };
    let versions = [
        feed("1", &["a", "b"]),
        feed("2", &["b", "a"]),
        feed("3", &["c", "b"]),
        feed("4", &["b", "a"]),
        feed("5", &["c", "b"]),
    ];
    let news: Vec<bool> = judged(&versions).iter().map(|(_, meaningful)| *meaningful).collect();
    assert_eq!(news, [false, true, false, false]);
    let json = |body: &str| Version::new(body.as_bytes(), Some("application/json"), None);
    let said =
        judged(&[json("{\"a\":1,\"b\":[2,3]}"), json("{ \"b\": [3, 2], \"a\": 1 }"), json("{\"a\":2,\"b\":[3,2]}")]);
    assert_eq!(said.iter().map(|(_, meaningful)| *meaningful).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn the_state_of_a_small_page_has_these_bytes() {
    let mut state = PageState::default();
    state.observe(&html("<p>Hello"));
    let bytes = state.encode();
    // Header 27, five counts, one unit, and shingles: 6 and one of 8.
    assert_eq!(bytes.len(), 27 + 5 * 4 + 8 + 6 + 8);
    assert_eq!(bytes[..3], [1, 1, 0]);
}

proptest! {
    #[test]
    fn the_same_bytes_and_moved_blocks_mean_nothing(
        blocks in proptest::collection::vec("[a-z]{1,8}( [a-z0-9]{1,8}){0,6}", 1..12),
        turn in 0..12usize
    ) {
        let body = |blocks: &[String]| html(&blocks.iter().map(|block| format!("<p>{block}</p>")).collect::<String>());
        let mut moved = blocks.clone();
        moved.rotate_left(turn % blocks.len());
        for (_, meaningful) in judged(&[body(&blocks), body(&blocks), body(&moved)]) {
            prop_assert!(!meaningful);
        }
    }

    #[test]
    fn a_state_survives_its_bytes_and_judges_on_alike(pages in proptest::collection::vec("(<p>|[a-d] |<a href=/[a-d]>|</a>){0,12}", 1..8)) {
        let (mut state, mut copy) = (PageState::default(), PageState::default());
        for body in &pages {
            let version = html(body);
            prop_assert_eq!(state.observe(&version), copy.observe(&version));
            copy = PageState::decode(&state.encode()).expect("just encoded");
            prop_assert_eq!(&copy, &state);
        }
    }

    #[test]
    fn any_bytes_are_a_state_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = PageState::decode(&bytes);
    }

    #[test]
    fn any_soup_is_a_version(
        soup in "(<|>|/|!--|-->|=|\"|'| |a|é|&|title|script|select|template|p|div|td|li|href|hidden|<!\\[CDATA\\[|\\]\\]>|item|rss|\\{|\\[|:){0,60}",
        kind in proptest::sample::select(vec!["text/html", "application/xml", "application/json", "text/plain", "x/y"])
    ) {
        let version = Version::new(soup.as_bytes(), Some(kind), Some("https://a.test/"));
        let mut state = PageState::default();
        state.observe(&version);
        prop_assert_eq!(state.observe(&version).verdict, Verdict::Unchanged);
    }
}

use super::*;
use crate::state_codec::StateDecodeError;
use page::UrlRules;
use proptest::prelude::*;
use std::sync::LazyLock;

pub(super) static URLS: LazyLock<UrlRules> =
    LazyLock::new(|| UrlRules { drop_parameters: vec!["utm_*".to_owned()], ..UrlRules::none() });

pub(super) fn html(body: &str) -> Version<'static> {
    Version::new(body.as_bytes(), Some("text/html"), Some("https://a.test/terms"), &URLS)
}

/// The verdict on each version after the first, and whether it is meaningful.
fn judged(versions: &[Version<'_>]) -> Vec<(VersionVerdict, bool)> {
    let mut state = PageState::default();
    let judgements = versions.iter().map(|version| state.observe(version, None));
    judgements.map(|judgement| (judgement.verdict, judgement.meaningful)).skip(1).collect()
}

pub(super) fn page(middle: &str) -> String {
    let text: String = (0..40).map(|number| format!("<p>Clause {number} holds in all cases but one.")).collect();
    format!("<nav>Home</nav><main>{text}{middle}</main><footer>End</footer>")
}

#[test]
fn the_order_of_teasers_in_turn_is_no_change_and_that_of_a_ranking_is() {
    let list = |boats: &str| {
        let items: String = boats.chars().map(|boat| format!("<li><a href=/{boat}>Boat {boat}</a>")).collect();
        html(&page(&format!("<ul>{items}</ul><p>All boats are for hire.")))
    };
    let is_reported = |looks: &[&str]| {
        let versions: Vec<_> = looks.iter().map(|boats| list(boats)).collect();
        judged(&versions).last().is_some_and(|(_, is_meaningful)| *is_meaningful)
    };
    assert!(is_reported(&["abc", "bca"]));
    assert!(is_reported(&["abc", "abd", "dba"]));
    assert!(!is_reported(&["abc", "abd", "aed", "fed", "def"]));
}

#[test]
fn what_a_reader_would_call_a_change_is_one() {
    let old = page("<p>Effective April 1, 2026. <a href=/x>More</a> to read about this elsewhere.");
    let check = |new: String, expected| assert_eq!(judged(&[html(&old), html(&new)]), [expected], "{new}");
    check(old.clone(), (VersionVerdict::Unchanged, false));
    check(old.replace("April 1", "May 1"), (VersionVerdict::Minor, true));
    check(old.replace("2026.", "2026!"), (VersionVerdict::Minor, true));
    check(old.replace("=/x", "=/y"), (VersionVerdict::Minor, true));
    check(old.replace("Clause", "Rule"), (VersionVerdict::Major, true));
    check(old.replace("=/x", "=https://a.test/x/?utm_source=y"), (VersionVerdict::Cosmetic, false));
    check(old.replace("End", "The end"), (VersionVerdict::Cosmetic, false));
    let teasers = |numbers: [u8; 3]| numbers.map(|number| format!("<p><a href=/{number}>See {number}</a>")).concat();
    let with = |teasers: String| old.replace("<p>Eff", &format!("{teasers}<p class=y>Eff"));
    let judged = judged(&[html(&with(teasers([1, 2, 3]))), html(&with(teasers([4, 5, 6])))]);
    assert_eq!(judged, [(VersionVerdict::Cosmetic, false)]);
    check(old.replace("<main>", "<main><script>t=1</script>"), (VersionVerdict::Cosmetic, false));
}

#[test]
fn noise_is_learnt_and_edits_beside_it_are_seen() {
    let version = |count: u32, text: &str| html(&page(&format!("<p>Visitors so far: {count}<p>{text}")));
    let mut state = PageState::default();
    let mut reported = Vec::new();
    for day in 0..12 {
        let judgement = state.observe(&version(day * 977, "Ask Ann."), Some(86_400));
        reported.push(judgement.meaningful);
        if judgement.wants_second_look {
            state.observe(&version(day * 977 + 3, "Ask Ann."), Some(60));
        }
    }
    assert_eq!(reported, [[false].as_slice(), &[true; 3], &[false; 8]].concat());
    let judgement = state.observe(&version(1, "Ask Bob."), Some(86_400));
    assert_eq!((judgement.meaningful, judgement.record.added), (true, vec!["Ask Bob.".to_owned()]));
}

/// A page of ten sentences, all of them another with each name.
fn whole(name: &str, last: &str) -> Version<'static> {
    let text: String =
        (0..10).map(|number| format!("<p>{name} says{name} sentence{name} {number} of{name} this.")).collect();
    html(&format!("<main>{text}<p>{last}</main>"))
}

#[test]
fn a_page_that_is_another_at_every_look_is_reported_at_every_look() {
    for since_last_look_s in [None, Some(86_400), Some(60)] {
        let mut state = PageState::default();
        let is_reported = |day: &i32| state.observe(&whole(&format!("Day{day}"), ""), since_last_look_s).meaningful;
        let reported = (0..30).filter(is_reported).count();
        assert_eq!(reported, 29, "{since_last_look_s:?}");
    }
}

#[test]
fn two_whole_versions_in_turn_are_reported_a_few_times_and_what_is_new_in_either_always() {
    let mut state = PageState::default();
    let mut is_reported = |name: &str, last: &str| {
        state = kept(&state);
        state.observe(&whole(name, last), Some(86_400)).meaningful
    };
    let reported: Vec<bool> = (0..12).map(|look| is_reported(["Ann", "Bob"][look % 2], "Old.")).collect();
    assert_eq!(reported.iter().filter(|reported| **reported).count(), 3, "{reported:?}");
    assert!(is_reported("Ann", "New."), "an edit of one");
    assert!(!is_reported("Bob", "Old."));
    assert!(!is_reported("Ann", "New."));
    assert!(is_reported("Eve", "Old."), "a third version");
    assert!(is_reported("Ann", "New."), "and back from it");
    let mut state = PageState::default();
    let at_once = Some(60);
    ["Ann", "Bob"].iter().for_each(|name| drop(state.observe(&whole(name, ""), at_once)));
    assert!(!state.observe(&whole("Ann", ""), at_once).meaningful, "nobody edits that fast");
}

#[test]
fn a_page_that_settles_forgets_its_other_version() {
    let mut state = PageState::default();
    for look in 0..12 {
        state.observe(&whole(["Ann", "Bob"][look % 2], ""), None);
    }
    (0..110).for_each(|_| drop(state.observe_unchanged(None)));
    assert!(state.observe(&whole("Ann", ""), None).meaningful, "it had long been the other");
    for number in 0..120 {
        state.observe(&whole("Ann", &number.to_string()), None);
    }
    assert!(state.version().other.is_empty());
}

#[test]
fn an_error_that_is_the_same_every_time_is_believed_like_one_that_differs() {
    let mut state = PageState::default();
    state.observe(&html(&page("")), None);
    let error = html("<h1>Page not found</h1>");
    for _ in 0..3 {
        assert!(state.observe(&error, None).held);
    }
    assert!(state.observe(&error, None).meaningful);
    assert_eq!(state.observe(&error, None).verdict, VersionVerdict::Unchanged);
}

#[test]
fn a_body_without_text_changes_wholly_or_not_at_all() {
    let version = |body: &[u8]| Version::new(body, Some("image/png"), None, &URLS);
    let check = |new: &[u8], verdict, magnitude| {
        let mut state = PageState::default();
        state.observe(&version(b"\x89PNG1"), None);
        let judgement = state.observe(&version(new), None);
        assert_eq!((judgement.verdict, judgement.magnitude), (verdict, magnitude));
    };
    check(b"\x89PNG1", VersionVerdict::Unchanged, 0.0);
    check(b"\x89PNG2", VersionVerdict::Major, 1.0);
}

#[test]
fn an_answer_without_a_body_confirms_what_was_seen() {
    let mut state = PageState::default();
    state.observe(&html(&page("<p>Old")), None);
    state.observe(&html(&page("<p>New")), None);
    let judgement = state.observe_unchanged(None);
    assert_eq!((judgement.verdict, judgement.earlier), (VersionVerdict::Unchanged, Some(Confirmation::Confirmed)));
    assert_eq!(state.observe_unchanged(None).earlier, None);
    state.observe_gone();
    assert_eq!(state.observe_unchanged(None).verdict, VersionVerdict::Returned);
}

#[test]
fn a_change_is_confirmed_or_withdrawn_by_the_next_version() {
    let mut state = PageState::default();
    let (old, new) = (html(&page("<p>Old")), html(&page("<p>New")));
    state.observe(&old, None);
    assert_eq!(state.observe(&new, None).earlier, None);
    assert_eq!(state.observe(&new, None).earlier, Some(Confirmation::Confirmed));
    assert_eq!(state.observe(&old, None).earlier, None);
    let judgement = state.observe(&new, None);
    assert_eq!((judgement.earlier, judgement.meaningful), (Some(Confirmation::Withdrawn), true));
    assert!(judgement.changes_last);
    assert!(!state.observe(&old, None).changes_last);
}

#[test]
fn an_error_in_the_pages_place_is_held_until_it_lasts() {
    let mut state = PageState::default();
    let error = |number| html(&format!("<h1>Access denied</h1><p>Incident {number}"));
    state.observe(&html(&page("")), None);
    for number in 0..3 {
        let judgement = state.observe(&error(number), None);
        assert!(judgement.held && !judgement.meaningful);
    }
    assert!(!state.clone().observe(&html(&page("")), None).meaningful, "as if it never happened");
    assert_eq!(state.observe(&error(3), None).verdict, VersionVerdict::Major);
}

#[test]
fn a_page_that_goes_and_comes_back_says_so_once() {
    let mut state = PageState::default();
    assert!(!state.observe_gone().meaningful, "nothing was known of it");
    let mut state = PageState::default();
    state.observe(&html(&page("")), None);
    assert_eq!(
        (state.observe_gone().verdict, state.observe_gone().verdict),
        (VersionVerdict::Gone, VersionVerdict::Unchanged)
    );
    let back = state.observe(&html(&page("")), None);
    assert_eq!((back.verdict, back.meaningful), (VersionVerdict::Returned, false));
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
        Version::new(body.as_bytes(), Some("application/rss+xml"), None, &URLS)
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
    let json = |body: &str| Version::new(body.as_bytes(), Some("application/json"), None, &URLS);
    let said =
        judged(&[json("{\"a\":1,\"b\":[2,3]}"), json("{ \"b\": [3, 2], \"a\": 1 }"), json("{\"a\":2,\"b\":[3,2]}")]);
    assert_eq!(said.iter().map(|(_, meaningful)| *meaningful).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn the_state_of_a_small_page_has_these_bytes() {
    let mut state = PageState::default();
    state.observe(&html("<p>Hello"), None);
    let (looks, version) = (state.looks().encode(), state.version().encode());
    // A header of 38 bytes and seven counts.
    assert_eq!((looks.len(), &looks[..6]), (38 + 7 * 4, &[6, 1, 0, 0, 0, 0][..]));
    // A header of 1 byte, three counts, one unit with its text, no earlier version, and the shingles: 6 bytes and one of 4.
    let texts = 2 + "https://a.test/terms".len() + 1 + (8 + 4) + 1 + "Hello".len();
    assert_eq!(version.len(), 1 + 3 * 4 + texts + 4 + 6 + 4);
    assert_eq!(kept(&state), state);
    let unknown = StateDecodeError::UnknownVersion(9);
    assert_eq!(LookMemory::decode(&[&[9], &looks[1..]].concat()), Err(unknown));
    assert_eq!(VersionMemory::decode(&[&[9], &version[1..]].concat()), Err(unknown));
}

/// The state after a round trip through its bytes.
fn kept(state: &PageState) -> PageState {
    let looks = LookMemory::decode(&state.looks().encode()).expect("just encoded");
    PageState::new(looks, VersionMemory::decode(&state.version().encode()).expect("just encoded"))
}

#[test]
fn a_nonce_in_the_markup_changes_the_small_part_only() {
    let mut state = PageState::default();
    state.observe(&html("<script nonce=1></script><p>Hello"), None);
    let before = state.clone();
    state.observe(&html("<script nonce=2></script><p>Hello"), None);
    assert_ne!(state.looks(), before.looks());
    assert_eq!(state.version(), before.version());
}

proptest! {
    #[test]
    fn magnitudes_are_shares(old in "([a-e] ){0,30}", new in "([a-e] ){0,30}") {
        let mut state = PageState::default();
        state.observe(&html(&old), None);
        let judgement = state.observe(&html(&new), None);
        for share in [judgement.magnitude, judgement.resemblance, judgement.containment] {
            prop_assert!((0.0..=1.0).contains(&share));
        }
    }

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
            prop_assert_eq!(state.observe(&version, None), copy.observe(&version, None));
            copy = kept(&state);
            prop_assert_eq!(&copy, &state);
        }
    }

    #[test]
    fn any_bytes_are_a_state_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (LookMemory::decode(&bytes), VersionMemory::decode(&bytes));
    }

    #[test]
    fn any_soup_is_a_version(
        soup in "(<|>|/|!--|-->|=|\"|'| |a|é|&|title|script|select|template|p|div|td|li|href|hidden|<!\\[CDATA\\[|\\]\\]>|item|rss|\\{|\\[|:){0,60}",
        kind in proptest::sample::select(vec!["text/html", "application/xml", "application/json", "text/plain", "x/y"])
    ) {
        let version = Version::new(soup.as_bytes(), Some(kind), Some("https://a.test/"), &URLS);
        let mut state = PageState::default();
        state.observe(&version, None);
        prop_assert_eq!(state.observe(&version, None).verdict, VersionVerdict::Unchanged);
    }
}

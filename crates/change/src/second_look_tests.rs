//! Pairs of fetches in a row teach which places are noise.

use super::tests::{URLS, html, page};
use super::*;
use document::Body;
use document::select::{PartUse, Selection};

/// Fetches versions a day apart, but at once whenever a second fetch is requested. Returns the last judgement and the
/// number of second fetches requested.
fn looked_at(version_at: impl FnMut(i64) -> Version<'static>, days: i64) -> (Judgement, usize) {
    let (last, asked, _) = seen(version_at, days);
    (last, asked)
}

/// The same with the state of the page after them.
fn seen(mut version_at: impl FnMut(i64) -> Version<'static>, days: i64) -> (Judgement, usize, PageState) {
    let mut state = PageState::default();
    let (mut last, mut asked) = (Judgement::quiet(VersionVerdict::First), 0);
    for day in 0..days {
        let since_last_look_s = (day > 0).then_some(86_400);
        last = state.observe(&version_at(day * 86_400), since_last_look_s);
        let mut now = day * 86_400;
        while last.wants_second_look {
            (asked, now) = (asked + 1, now + 60);
            last = state.observe(&version_at(now), Some(60));
        }
    }
    (last, asked, state)
}

/// Words that no two looks share.
fn other_words(now: i64, nth: i64) -> String {
    let word = |place: i64| {
        let number = chance::splitmix64((now * 100 + nth * 10 + place).unsigned_abs());
        (0..7).map(|byte| char::from(b'a' + (number >> (8 * byte)) as u8 % 26)).collect::<String>()
    };
    (0..6).map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn texts_that_differ_in_every_token_at_every_look_are_counted() {
    for texts in 0..3 {
        let version = |now: i64| {
            let text = |nth: i64| format!("<h2>Corner {nth}</h2><p>{}", other_words(now, nth));
            html(&page(&(0..texts).map(text).collect::<String>()))
        };
        let (last, _, state) = seen(version, 20);
        assert!(
            !last.meaningful && state.looks().deaf_places() == texts as usize,
            "{texts}: {}",
            state.looks().deaf_places()
        );
    }
    let counter = |now: i64| html(&page(&format!("<p>Visitors so far: {now}")));
    let (last, _, state) = seen(counter, 20);
    assert_eq!((last.passed_over > 0, state.looks().deaf_places()), (true, 0), "other tokens of its text are seen");
}

#[test]
fn nothing_of_a_watched_part_counts_as_noise_learned_before() {
    let text = |now: i64| page(&format!("<h2>Corner</h2><p class=quiz>{}", other_words(now, 0)));
    for (purpose, expected) in [(PartUse::Ignore, 1), (PartUse::Watch, 0)] {
        let (_, _, mut state) = seen(|now| html(&text(now)), 20);
        let mut selection = Selection::default();
        selection.add(purpose, ".quiz").unwrap();
        let page = text(0);
        let body = Body::new(page.as_bytes(), Some("text/html"), None).with_selection(&selection);
        state.begin_anew(&Version::of_body(&body, &URLS));
        assert_eq!(state.looks().deaf_places(), expected, "{purpose:?}");
    }
}

#[test]
fn two_looks_in_a_row_distinguish_a_counter_from_a_price() {
    let counter = |now: i64| html(&page(&format!("<p>Visitors so far: {now}")));
    let (last, asked) = looked_at(counter, 20);
    assert_eq!((last.verdict, last.meaningful, asked), (VersionVerdict::Cosmetic, false, 2));
    let price = |now: i64, made_at: i64| {
        html(&page(&format!("<p>A pound today: {} euro<script>made_at = {made_at}</script>", 100 + now / 86_400)))
    };
    let (last, asked) = looked_at(|now| price(now, now), 20);
    assert_eq!((last.verdict, last.meaningful, asked), (VersionVerdict::Minor, true, 2), "it truly changes each day");
    let (last, asked) = looked_at(|now| price(now, 0), 21);
    assert_eq!((last.meaningful, asked), (true, 2), "the same bytes may be a cache's");
}

#[test]
fn a_text_that_comes_right_before_a_counter_is_reported() {
    let cards = |now: i64, badge: &str| {
        let card = |nth: i64| {
            let badge = if nth == 2 { badge } else { "" };
            format!(
                "<div><h3>Lamp {nth}</h3><p>{nth}0 euro{badge}<div>{} people look at it</div></div>",
                (now * nth) % 97
            )
        };
        html(&page(&(1..5).map(card).collect::<String>()))
    };
    let (last, asked) = looked_at(|now| cards(now + 1, ""), 20);
    assert_eq!((last.meaningful, asked <= 4), (false, true), "the counters are known, asked {asked}");
    let badge = |now: i64| cards(now + 1, if now < 19 * 86_400 { "" } else { "<p>Sold out" });
    let (last, _) = looked_at(badge, 20);
    assert_eq!((last.meaningful, last.record.added), (true, vec!["Sold out".to_owned()]));
}

#[test]
fn a_stamp_is_learnt_though_it_begins_with_another_day_each_time_it_is_known() {
    let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let stamp = |now: i64| {
        // Four looks a day.
        let day = now / 86_400 / 4;
        let (minute, second) = (now / 60 % 60, (now * 7 + day) % 60);
        html(&page(&format!("<p>{}, {} January, {minute}:{second:02}", days[(day % 7) as usize], day + 1)))
    };
    let (last, asked) = looked_at(stamp, 28);
    assert_eq!((last.meaningful, asked < 10), (false, true), "{asked}");
    let (last, _) = looked_at(stamp, 33);
    assert!(!last.meaningful, "nor on another day: {:?}", last.record);
}

#[test]
fn of_what_differs_at_half_of_the_looks_a_third_look_reports_more() {
    let page =
        |is_other: bool| html(&page(&format!("<p>{}", if is_other { "Try it for free" } else { "Begin today" })));
    let mut state = PageState::default();
    let mut looks = 0;
    for day in 0..8_i64 {
        let day_apart = (day > 0).then_some(86_400);
        let mut judgement = state.observe(&page(day % 2 == 1), day_apart);
        // The second look meets the same server, the third another.
        for is_other in [day % 2 == 1, day % 2 == 0] {
            if judgement.wants_second_look {
                looks += 1;
                judgement = state.observe(&page(is_other), Some(60));
            }
        }
    }
    assert!(looks <= 6, "{looks}");
    for day in 8..20 {
        let judgement = state.observe(&page(day % 2 == 1), Some(86_400));
        assert!(!judgement.meaningful && !judgement.wants_second_look, "{day}");
    }
}

#[test]
fn what_differs_at_half_of_the_looks_is_found_beside_noise_that_differs_at_all() {
    // The second and the third look of the first time meet the same server. They prove nothing, though their bytes differ.
    let page = |is_other: bool, look: usize| {
        let text = if is_other { "Try it for free" } else { "Begin today" };
        html(&page(&format!("<p>{text}<script>nonce = {look}</script>")))
    };
    let mut state = PageState::default();
    let (mut looks, mut again, mut reported) = (0, 0, Vec::new());
    for day in 0..20 {
        let is_other = day % 2 == 1;
        looks += 1;
        let mut judgement = state.observe(&page(is_other, looks), Some(86_400));
        reported.push(judgement.meaningful);
        while judgement.wants_second_look {
            (looks, again) = (looks + 1, again + 1);
            judgement = state.observe(&page(is_other ^ (again > 2), looks), Some(60));
        }
    }
    assert_eq!(again, 5);
    assert_eq!(reported.iter().filter(|reported| **reported).count(), 6, "{reported:?}");
    assert!(reported[7..].iter().all(|reported| !reported));
}

#[test]
fn the_links_of_a_teaser_are_followed_with_its_text() {
    // Every third teaser has a link. By themselves these links would be too rare to be known as noise.
    let words = ["Amber", "Birch", "Cedar", "Dune", "Elder", "Fern", "Gorse", "Hazel", "Iris", "Juniper"];
    let teaser = |look: i64| {
        let word = |place: i64| words[(look * (place + 2) + look / 10).rem_euclid(10) as usize];
        let link = if look % 3 == 0 { format!("<a href=/{look}>more</a>") } else { String::new() };
        html(&page(&format!("<p>{} {} {look} {} story {link}", word(0), word(1), word(2))))
    };
    let mut state = PageState::default();
    let mut reported = Vec::new();
    for look in 0..24 {
        let judgement = state.observe(&teaser(2 * look), Some(86_400));
        if judgement.meaningful {
            reported.push(look);
        }
        if judgement.wants_second_look && state.observe(&teaser(2 * look + 1), Some(60)).wants_second_look {
            state.observe(&teaser(3 * look + 2), Some(60));
        }
    }
    assert_eq!(reported, [1, 2, 3, 4, 5]);
}

#[test]
fn a_teaser_is_followed_by_what_stands_before_it_and_hides_no_edit_there() {
    let page = |teaser: Option<i64>, fee: u32| {
        let words = ["Amber", "Birch", "Cedar", "Dune", "Elder", "Fern", "Gorse"];
        let story = teaser.map_or(String::new(), |number| {
            let word = |place: i64| words[((number * 31 + place * 7) / (1 + place)).rem_euclid(7) as usize];
            format!("<p>{} {} {number} {} story", word(0), word(1), word(2))
        });
        html(&page(&format!("<p>What it costs is told below.{story}<p>Adults pay a fee of {fee} euros a day")))
    };
    let day = Some(86_400);
    let (last, _) = looked_at(|now| page(Some(now), 20), 20);
    assert!(!last.meaningful, "each teaser begins differently");
    let mut state = PageState::default();
    for look in 0..20 {
        if state.observe(&page(Some(look), 20), day).wants_second_look {
            let again = Some(60);
            state.observe(&page(Some(100 + look), 20), again);
        }
    }
    assert!(!state.observe(&page(None, 20), day).meaningful);
    assert!(state.observe(&page(None, 25), day).meaningful, "the fee now stands where the teaser stood");
    assert!(state.observe(&page(Some(7), 30), day).meaningful);
}

#[test]
fn without_a_second_look_nothing_is_passed_over_and_it_is_asked_for_ever_less_often() {
    let mut state = PageState::default();
    let mut asked = Vec::new();
    for day in 0..100 {
        let version = html(&page(&format!("<p>Visitor of the day: Ann{}", "e".repeat(day))));
        let judgement = state.observe(&version, Some(86_400));
        assert_eq!(judgement.meaningful, day > 0);
        if judgement.wants_second_look {
            asked.push(day);
        }
    }
    assert_eq!(asked, [5, 7, 23, 55]);
}

#[test]
fn changes_that_fall_between_a_look_and_the_second_one_are_all_reported() {
    let price = |version: i64| html(&page(&format!("<p>The lamp costs {} EUR today.", 200 - 3 * version)));
    let mut state = PageState::default();
    let (mut last, mut unreported) = (-1, Vec::new());
    for visit in 0..13 {
        let is_late = [2, 3, 4, 5, 7, 8, 10, 12].contains(&visit);
        let first = if is_late { visit - 1 } else { visit };
        let mut is_reported = false;
        let mut look = |state: &mut PageState, version: i64, since| {
            let judgement =
                match version == std::mem::replace(&mut last, version) && state.looks.noise.unsettled.is_empty() {
                    true => state.observe_unchanged(Some(since)),
                    false => state.observe(&price(version), Some(since)),
                };
            is_reported |= judgement.meaningful;
            judgement
        };
        look(&mut state, first, 3_600);
        let mut judgement = look(&mut state, visit, 60);
        for _ in 0..4 {
            if judgement.wants_second_look {
                judgement = look(&mut state, visit, 60);
            }
        }
        if !is_reported && visit > 0 {
            unreported.push(visit);
        }
    }
    assert!(unreported.is_empty(), "{unreported:?}");
}

//! Facts that change and change back, without noise: each change is reported, however often it has come. Noise of the same
//! values comes back at random and at every few looks.

use super::kinds::{DAY_S, HOUR_S};
use super::visit::{Looks, reports, visit};
use super::{ADDRESS, HTML, HistoryRow, PAGES, Surroundings};
use crate::draw::Draw;
use archives::LivePage;
use page::UrlRules;

/// Looks at a page.
const LOOKS: i64 = 150;

/// When a page is looked at, and which of two values it shows at a time.
struct Rhythm {
    name: &'static str,
    look_every_s: i64,
    shows_second: fn(&mut Turn) -> bool,
}

/// One look at a fact.
struct Turn {
    look: i64,
    now_s: i64,
    draw: Draw,
    /// Whether the look before found the second value.
    was_second: bool,
}

impl Turn {
    /// Changes at one look in this many, at random.
    fn one_in(&mut self, looks: usize) -> bool {
        self.was_second ^ (self.draw.below(looks) == 0)
    }

    /// From nine to five each day.
    fn is_day(&self) -> bool {
        (9..17).contains(&(self.now_s / HOUR_S % 24))
    }
}

const RHYTHMS: &[Rhythm] = &[
    Rhythm { name: "by day, looked at every hour", look_every_s: HOUR_S, shows_second: |turn| turn.is_day() },
    Rhythm { name: "by day, looked at every two hours", look_every_s: 2 * HOUR_S, shows_second: |turn| turn.is_day() },
    Rhythm { name: "by day, looked at every six hours", look_every_s: 6 * HOUR_S, shows_second: |turn| turn.is_day() },
    Rhythm {
        name: "by day, looked at every seven hours",
        look_every_s: 7 * HOUR_S,
        shows_second: |turn| turn.is_day(),
    },
    Rhythm { name: "at every hourly look", look_every_s: HOUR_S, shows_second: |turn| turn.look % 2 == 1 },
    Rhythm { name: "at every other hourly look", look_every_s: HOUR_S, shows_second: |turn| turn.look / 2 % 2 == 1 },
    Rhythm { name: "at every daily look", look_every_s: DAY_S, shows_second: |turn| turn.look % 2 == 1 },
    Rhythm { name: "at one daily look in two", look_every_s: DAY_S, shows_second: |turn| turn.one_in(2) },
    Rhythm { name: "at one daily look in seven", look_every_s: DAY_S, shows_second: |turn| turn.one_in(7) },
    Rhythm { name: "at one hourly look in five", look_every_s: HOUR_S, shows_second: |turn| turn.one_in(5) },
    Rhythm { name: "at one hourly look in ten", look_every_s: HOUR_S, shows_second: |turn| turn.one_in(10) },
];

/// The block of a fact, and its two values.
const FACTS: [(&str, &str, [&str; 2]); 3] = [
    ("stock", "<p>Kayak for two: «fact»</p>", ["in stock", "sold out"]),
    ("price", "<p>Kayak for two: «fact» a day</p>", ["10 EUR", "12 EUR"]),
    ("button", "<p>Kayak for two <button>«fact»</button></p>", ["Rent it", "Ask us"]),
];

pub(super) fn rows(urls: &UrlRules) -> impl Iterator<Item = HistoryRow> {
    let of_fact = move |fact| RHYTHMS.iter().map(move |rhythm| row(fact, rhythm, urls));
    FACTS.iter().flat_map(of_fact)
}

fn row((fact, block, values): &(&str, &str, [&str; 2]), rhythm: &Rhythm, urls: &UrlRules) -> HistoryRow {
    let mut row = HistoryRow::new(format!("{fact} that changes and changes back {}", rhythm.name));
    let page = Surroundings::of_made(PAGES[1]);
    let mut live = LivePage::new(urls, HTML, ADDRESS);
    let mut was_second = false;
    for look in 0..LOOKS {
        let now_s = look * rhythm.look_every_s;
        let draw = Draw::of(1, rhythm.name).nth(look as usize);
        let is_second = (rhythm.shows_second)(&mut Turn { look, now_s, draw, was_second });
        let is_changed = std::mem::replace(&mut was_second, is_second) != is_second && look > 0;
        let mut is_found = false;
        let says = values[usize::from(is_second)];
        let see = |judgement: &_, _: &str| is_found |= reports(judgement, says);
        visit(&mut live, now_s, Looks::Wanted, || page.with(&block.replace("«fact»", says)), see);
        row.edits.of += usize::from(is_changed);
        row.edits.reported += usize::from(is_changed && is_found);
    }
    row
}

//! Sentences with slots. A template is read once. Writing it copies its pieces and draws words and numbers for its
//! slots.

use chance::{Draws, SplitMix64, splitmix64};

/// Slots that stand for several.
const SHORT_FORMS: [(&str, &str); 7] = [
    ("close", "{evening}:{quarter}"),
    ("coins", "£{coin}.{pence}"),
    ("date", "{daynumber} {month}"),
    ("open", "{morning}:{quarter}"),
    ("phone", "01632 960 {hundred}"),
    ("sum", "£{pounds}.{pence}"),
    ("time", "{hour}:{quarter}"),
];

/// Slots for numbers, with the least and the most.
const NUMBERS: [(&str, u32, u32); 13] = [
    ("coin", 1, 9),
    ("daynumber", 1, 28),
    ("degrees", 150, 230),
    ("evening", 15, 21),
    ("hour", 8, 20),
    ("hundred", 100, 999),
    ("many", 110, 980),
    ("morning", 7, 11),
    ("nr", 1, 89),
    ("percent", 3, 48),
    ("pounds", 3, 89),
    ("some", 13, 95),
    ("year", 1951, 2019),
];

/// Slots for what follows from the scene.
const FACTS: [(&str, Fact); 11] = [
    ("a", Fact::FirstOfSubject),
    ("b", Fact::SecondOfSubject),
    ("clause", Fact::Clause),
    ("count", Fact::Count),
    ("fell", Fact::PriceMove),
    ("house", Fact::House),
    ("price", Fact::Price),
    ("release", Fact::Release),
    ("series", Fact::Series),
    ("town", Fact::Town),
    ("was", Fact::PriceBefore),
];

/// The pence of prices. No two revisions in a row have the same.
const PENCE: [u64; 4] = [50, 95, 20, 75];

/// Lists of words, by name.
pub(super) struct Lists(Vec<(&'static str, Vec<&'static str>)>);

impl Lists {
    /// Reads lines of the form `name: word, word`. Lines of one name are one list.
    pub(super) fn read(text: &'static str) -> Self {
        let mut lists: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (name, words) in lines.filter_map(|line| line.split_once(": ")) {
            match lists.iter().position(|(list, _)| *list == name) {
                Some(number) => lists[number].1.extend(words.split(", ")),
                None => lists.push((name, words.split(", ").collect())),
            }
        }
        Self(lists)
    }

    /// The words of a list.
    pub(super) fn words(&self, name: &str) -> &[&'static str] {
        &self.0[self.number(name)].1
    }

    fn number(&self, name: &str) -> usize {
        let number = self.0.iter().position(|(list, _)| *list == name);
        number.unwrap_or_else(|| panic!("a slot of a phrase has no list: {name}"))
    }

    /// Draws a word of a list other than `others`.
    fn draw(&self, number: usize, others: [&str; 2], stream: &mut SplitMix64) -> &'static str {
        let words = &self.0[number].1;
        let at = stream.below(words.len() as u32) as usize;
        if others.contains(&words[at]) { words[(at + 1) % words.len()] } else { words[at] }
    }
}

/// The matters of a paragraph that its sentences share.
#[derive(Clone, Copy)]
pub(super) struct Scene {
    pub(super) town: &'static str,
    /// The name of the host.
    pub(super) house: &'static str,
    /// Two words that name the subject of the page.
    pub(super) subject: [&'static str; 2],
    /// A seed of the page, and one of the paragraph.
    pub(super) page_seed: u64,
    pub(super) seed: u64,
    /// The place of the paragraph on its page.
    pub(super) number: u64,
    /// How often the paragraph was edited.
    pub(super) revision: u32,
}

impl Scene {
    fn write(&self, fact: Fact, out: &mut Vec<u8>, stream: &mut SplitMix64) {
        let before = self.revision.wrapping_sub(1);
        match fact {
            Fact::Town => out.extend_from_slice(self.town.as_bytes()),
            Fact::House => out.extend_from_slice(self.house.as_bytes()),
            Fact::FirstOfSubject => out.extend_from_slice(self.subject[0].as_bytes()),
            Fact::SecondOfSubject => out.extend_from_slice(self.subject[1].as_bytes()),
            Fact::Clause => push_number(out, self.number + 1),
            Fact::Series => self.push_series(out),
            Fact::Release => {
                self.push_series(out);
                out.push(b'.');
                push_number(out, self.seed % 4 + u64::from(self.revision));
            }
            Fact::Price => push_price(out, self.price(self.revision)),
            Fact::PriceBefore => push_price(out, self.price(before)),
            Fact::PriceMove => {
                let has_risen = self.price(self.revision) > self.price(before);
                let text = if has_risen { "has risen" } else { "has fallen" };
                out.extend_from_slice(text.as_bytes());
            }
            Fact::Count => {
                let first = 20 + (self.seed >> 40) % 380;
                push_number(out, first + 7 * u64::from(self.revision) + u64::from(stream.below(7)));
            }
        }
    }

    /// The newest series comes first.
    fn push_series(&self, out: &mut Vec<u8>) {
        push_number(out, 2 + (self.page_seed >> 32) % 7);
        out.push(b'.');
        push_number(out, 99 - self.number % 100);
    }

    /// The price in pence. It moves around that of the paragraph, and is another one at each revision.
    fn price(&self, revision: u32) -> u64 {
        let around = 6 + (self.seed >> 32) % 150;
        let percent = 85 + splitmix64(self.seed ^ u64::from(revision)) % 31;
        let pounds = around * percent / 100;
        100 * pounds + PENCE[revision as usize % PENCE.len()]
    }
}

/// A part of a sentence that follows from the scene.
#[derive(Clone, Copy)]
enum Fact {
    Town,
    House,
    FirstOfSubject,
    SecondOfSubject,
    /// The number of the paragraph as that of a clause.
    Clause,
    /// A series of releases, and the newest release of it.
    Series,
    Release,
    /// A price, the one of the revision before, and which way it went.
    Price,
    PriceBefore,
    PriceMove,
    /// A number that grows with each revision.
    Count,
}

#[derive(Clone, Copy)]
enum Piece {
    Text(&'static str),
    /// A word of the list with this number.
    Word(usize),
    Number {
        least: u32,
        count: u32,
    },
    Fact(Fact),
}

/// A sentence with slots, such as `The {part} is {did} by {group}.`
pub(super) struct Template(Vec<Piece>);

impl Template {
    pub(super) fn read(text: &'static str, lists: &Lists) -> Self {
        let mut pieces = Vec::new();
        read_pieces(text, lists, &mut pieces);
        Self(pieces)
    }

    /// Appends the sentence, which begins with a capital.
    pub(super) fn write(&self, out: &mut Vec<u8>, lists: &Lists, scene: &Scene, stream: &mut SplitMix64) {
        let start = out.len();
        let mut last = "";
        for piece in &self.0 {
            match *piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Word(list) => {
                    last = lists.draw(list, [last, scene.town], stream);
                    out.extend_from_slice(last.as_bytes());
                }
                Piece::Number { least, count } => push_number(out, u64::from(least + stream.below(count))),
                Piece::Fact(fact) => scene.write(fact, out, stream),
            }
        }
        if let Some(first) = out.get_mut(start) {
            first.make_ascii_uppercase();
        }
    }
}

fn read_pieces(text: &'static str, lists: &Lists, pieces: &mut Vec<Piece>) {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').expect("each slot of a phrase has an end");
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        read_slot(name, lists, pieces);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
}

fn read_slot(name: &'static str, lists: &Lists, pieces: &mut Vec<Piece>) {
    if let Some(&(_, long)) = SHORT_FORMS.iter().find(|(short, _)| *short == name) {
        read_pieces(long, lists, pieces);
    } else if let Some(&(_, least, most)) = NUMBERS.iter().find(|(number, ..)| *number == name) {
        pieces.push(Piece::Number { least, count: most - least + 1 });
    } else if let Some(&(_, fact)) = FACTS.iter().find(|(fact, _)| *fact == name) {
        pieces.push(Piece::Fact(fact));
    } else {
        pieces.push(Piece::Word(lists.number(name)));
    }
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [b'0'; 20];
    let (mut at, mut rest) = (digits.len(), number);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends an amount in pence, whose pence have two digits.
fn push_price(out: &mut Vec<u8>, pence: u64) {
    out.extend_from_slice("£".as_bytes());
    push_number(out, pence / 100);
    out.push(b'.');
    push_number(out, pence % 100);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: Scene = Scene {
        town: "Larkfield",
        house: "Music School",
        subject: ["copper", "kettle"],
        page_seed: 0,
        seed: 0,
        number: 0,
        revision: 0,
    };

    fn written(template: &'static str, scene: &Scene) -> String {
        let lists = Lists::read("# Lists.\nplace: Larkfield, Saltby\nquarter: 30\nplace: Drayton\nfood: mint, sage\n");
        let mut out = b"Before. ".to_vec();
        Template::read(template, &lists).write(&mut out, &lists, scene, &mut SplitMix64(scene.seed));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn slots_are_filled_and_a_sentence_begins_with_a_capital() {
        assert_eq!(written("the {a} {b} of {town}.", &SCENE), "Before. The copper kettle of Larkfield.");
        assert_eq!(written("{b} {clause}, {series}, {release}", &SCENE), "Before. Kettle 1, 2.99, 2.99.0");
        let time = written("at {open}", &SCENE);
        assert!(time.starts_with("Before. At ") && time.ends_with(":30"), "{time}");
    }

    #[test]
    fn a_word_is_neither_repeated_nor_the_town() {
        for seed in 0..20 {
            let text = written("{place} {food} {food}", &Scene { seed, ..SCENE });
            assert!(text.ends_with(" mint sage") || text.ends_with(" sage mint"), "{text}");
            assert!(!text.contains("Larkfield"), "{text}");
        }
    }

    #[test]
    fn prices_and_counts_differ_at_each_revision() {
        for (number, revision) in (0..20u64).flat_map(|number| (1..20u32).map(move |revision| (number, revision))) {
            let scene = Scene { seed: splitmix64(number), revision, ..SCENE };
            let earlier = Scene { revision: revision - 1, ..scene };
            assert_ne!(scene.price(revision), scene.price(revision - 1));
            assert_eq!(written("{was}", &scene), written("{price}", &earlier));
            let count = |scene: &Scene| written("{count}", scene)["Before. ".len()..].parse::<u64>().unwrap();
            assert!(count(&scene) > count(&earlier));
        }
    }

    #[test]
    fn numbers_are_written_in_digits() {
        for number in [0, 7, 10, 1_999, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}

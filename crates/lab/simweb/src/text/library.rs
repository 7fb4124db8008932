//! The phrases that pages are made of. They are texts of our own making, in a file for each kind of page.

use super::sentence::{Lists, Template};
use std::sync::LazyLock;

const WORDS: &str = include_str!("phrases/words.txt");
const COMMON: &str = include_str!("phrases/common.txt");
const KINDS: [&str; 6] = [
    include_str!("phrases/shop.txt"),
    include_str!("phrases/hours.txt"),
    include_str!("phrases/terms.txt"),
    include_str!("phrases/releases.txt"),
    include_str!("phrases/news.txt"),
    include_str!("phrases/recipes.txt"),
];

/// The phrases of all pages.
pub(super) struct Library {
    pub(super) lists: Lists,
    pub(super) kinds: Vec<Kind>,
    /// The texts that all pages of a host begin with.
    pub(super) navs: Vec<Template>,
    /// Sentences for pages of every kind.
    pub(super) notes: Vec<Template>,
}

/// The phrases of one kind of page.
pub(super) struct Kind {
    /// The words of subjects. A subject has one of each list.
    pub(super) subjects: [Vec<&'static str>; 2],
    pub(super) titles: Vec<Template>,
    /// First sentences of paragraphs.
    pub(super) leads: Vec<Template>,
    /// Sentences that an edit keeps, with other values: a price, an hour.
    pub(super) facts: Vec<Template>,
    /// Sentences that an edit replaces by one another.
    pub(super) updates: Vec<Template>,
    /// Sentences that stay.
    pub(super) details: Vec<Template>,
}

/// The library, which is read at the first use.
pub(super) fn library() -> &'static Library {
    static LIBRARY: LazyLock<Library> = LazyLock::new(Library::read);
    &LIBRARY
}

impl Library {
    fn read() -> Self {
        let lists = Lists::read(WORDS);
        let kinds = KINDS.iter().map(|&file| Kind::read(file, &lists)).collect();
        let (navs, notes) = (templates(COMMON, "navs", &lists), templates(COMMON, "details", &lists));
        Self { lists, kinds, navs, notes }
    }
}

impl Kind {
    fn read(file: &'static str, lists: &Lists) -> Self {
        let mut subjects = section(file, "subject").map(|line| line.split(", ").collect::<Vec<_>>());
        let mut next_list = || subjects.next().expect("a kind of page has two lists for its subject");
        Self {
            subjects: [next_list(), next_list()],
            titles: templates(file, "titles", lists),
            leads: templates(file, "leads", lists),
            facts: templates(file, "facts", lists),
            updates: templates(file, "updates", lists),
            details: templates(file, "details", lists),
        }
    }
}

fn templates(file: &'static str, name: &str, lists: &Lists) -> Vec<Template> {
    section(file, name).map(|line| Template::read(line, lists)).collect()
}

/// The lines below a heading such as `[titles]`.
fn section(file: &'static str, name: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("[{name}]");
    file.lines()
        .skip_while(move |line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All files are read here: a slot without a list panics.
    #[test]
    fn every_kind_of_page_has_phrases_of_each_sort() {
        let library = library();
        assert!(library.navs.len() > 2 && library.notes.len() > 20);
        for (number, kind) in library.kinds.iter().enumerate() {
            let phrases = [&kind.titles, &kind.leads, &kind.facts, &kind.updates, &kind.details];
            assert_eq!(phrases.map(|phrases| phrases.len() > 2), [true; 5], "kind {number}");
            assert!(kind.subjects.iter().all(|words| words.len() > 5), "kind {number}");
        }
    }

    #[test]
    fn a_phrase_is_a_sentence_and_each_fact_of_a_product_has_its_price() {
        for file in KINDS {
            for name in ["leads", "facts", "updates", "details"] {
                for line in section(file, name) {
                    assert!(line.ends_with('.') && !line.contains(['<', '>', '&']), "{line}");
                }
            }
        }
        assert!(section(KINDS[0], "facts").all(|line| line.contains("{price}")));
    }
}

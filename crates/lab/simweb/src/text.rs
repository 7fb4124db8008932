//! Generated pages: plain English of our own making, deterministic from host, path and version, and about as
//! compressible and as varied as prose.
//!
//! Each page is of one kind: a product, opening hours, terms of use, release notes, an article or a recipe. Version 0 is
//! a head, a navigation block that all pages of the host share, paragraphs, and links. Each later version edits one
//! paragraph of the previous one: its first sentence stays, the second one has other values (a price, an hour), the third
//! one is replaced, and the rest stays.

mod library;
mod sentence;

use self::library::{Kind, Library, library};
use self::sentence::{Scene, Template};
use crate::seeds::{hash, numbers};
use chance::{Draws, SplitMix64, splitmix64};

/// About the length of a paragraph, with its tags.
const PARAGRAPH_BYTES: usize = 600;
/// A paragraph has at least this many bytes that no edit changes. The two sentences that it changes come on top.
const STEADY_BYTES: usize = 420;

/// The inputs of a generated page.
pub(crate) struct Recipe<'a> {
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    pub(crate) version: u32,
    /// Approximate length of the page; never shorter than its links need.
    pub(crate) bytes: usize,
    pub(crate) links: &'a [&'a str],
}

pub(crate) fn render(recipe: &Recipe<'_>) -> Vec<u8> {
    let library = library();
    let mut page = Page::of(library, recipe.host, recipe.path);
    let mut out = Vec::with_capacity(recipe.bytes + 2 * PARAGRAPH_BYTES);

    out.extend_from_slice(b"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    let start = out.len();
    page.write_title(&mut out);
    let title = start..out.len();
    out.extend_from_slice(b"</title></head>\n<body><nav><a href=\"/\">");
    out.extend_from_slice(page.scene.town.as_bytes());
    out.push(b' ');
    out.extend_from_slice(page.scene.house.as_bytes());
    out.extend_from_slice(b"</a> ");
    let mut of_host = numbers(splitmix64(hash(&[recipe.host])));
    one_of(&library.navs, &mut of_host).write(&mut out, &library.lists, &page.scene, &mut of_host);
    out.extend_from_slice(b"</nav>\n<main><h1>");
    out.extend_from_within(title);
    out.extend_from_slice(b"</h1>\n");

    let links_bytes: usize = recipe.links.iter().map(|link| link.len() + 60).sum();
    let paragraphs = (recipe.bytes.saturating_sub(out.len() + links_bytes) / PARAGRAPH_BYTES).max(1);
    let mut revisions = vec![0u32; paragraphs];
    for version in 1..=recipe.version {
        revisions[(splitmix64(page.scene.page_seed ^ u64::from(version)) % paragraphs as u64) as usize] += 1;
    }
    page.write_paragraphs(&mut out, &revisions);
    out.extend_from_slice(b"</main>\n<ul>\n");
    for link in recipe.links {
        out.extend_from_slice(b"<li><a href=\"");
        out.extend_from_slice(link.as_bytes());
        out.extend_from_slice(b"\">");
        Page::of(library, recipe.host, link).write_title(&mut out);
        out.extend_from_slice(b"</a></li>\n");
    }
    out.extend_from_slice(b"</ul></body></html>\n");
    out
}

/// A page: its phrases, the matters of its sentences, and the numbers that decide the rest.
struct Page {
    library: &'static Library,
    kind: &'static Kind,
    scene: Scene,
    stream: SplitMix64,
}

impl Page {
    fn of(library: &'static Library, host: &str, path: &str) -> Self {
        let mut of_host = numbers(hash(&[host]));
        let town = *one_of(library.lists.words("place"), &mut of_host);
        let house = *one_of(library.lists.words("house"), &mut of_host);
        let page_seed = hash(&[host, path]);
        let mut stream = numbers(page_seed);
        let kind = one_of(&library.kinds, &mut stream);
        let subject = [&kind.subjects[0], &kind.subjects[1]].map(|words| *one_of(words, &mut stream));
        let scene = Scene { town, house, subject, page_seed, seed: page_seed, number: 0, revision: 0 };
        Self { library, kind, scene, stream }
    }

    /// Appends the title. It is the first text of a page that is drawn.
    fn write_title(&mut self, out: &mut Vec<u8>) {
        let title = one_of(&self.kind.titles, &mut self.stream);
        title.write(out, &self.library.lists, &self.scene, &mut self.stream);
    }

    /// Appends the paragraphs, each of which was edited this many times.
    fn write_paragraphs(mut self, out: &mut Vec<u8>, revisions: &[u32]) {
        let (library, kind, stream) = (self.library, self.kind, &mut self.stream);
        let [leads, facts, details, notes] =
            [&kind.leads, &kind.facts, &kind.details, &library.notes].map(|templates| Order::of(templates, stream));
        let mut taken = 0;
        for (number, revision) in revisions.iter().copied().enumerate() {
            let seed = splitmix64(self.scene.page_seed.wrapping_add(number as u64 + 1));
            let scene = Scene { seed, number: number as u64, revision, ..self.scene };
            let mut steady = numbers(seed);
            let mut edited = numbers(splitmix64(seed) ^ u64::from(revision));
            let updates = Order::of(&kind.updates, &mut steady);

            out.extend_from_slice(b"<p>");
            let start = out.len();
            leads.nth(number).write(out, &library.lists, &scene, &mut steady);
            let end_of_lead = out.len();
            for template in [facts.nth(number), updates.nth(revision as usize)] {
                out.push(b' ');
                template.write(out, &library.lists, &scene, &mut edited);
            }
            let full = start + STEADY_BYTES + (out.len() - end_of_lead);
            while out.len() < full {
                // Two details of the subject, then one of the house.
                let template = if taken % 3 == 2 { notes.nth(taken / 3) } else { details.nth(taken - taken / 3) };
                taken += 1;
                out.push(b' ');
                template.write(out, &library.lists, &scene, &mut steady);
            }
            out.extend_from_slice(b"</p>\n");
        }
    }
}

/// Templates in an order of a page's own, in which each comes once before any comes again.
struct Order<'t> {
    templates: &'t [Template],
    start: usize,
    step: usize,
}

impl<'t> Order<'t> {
    fn of(templates: &'t [Template], stream: &mut SplitMix64) -> Self {
        let count = templates.len();
        let start = stream.below(count as u32) as usize;
        let mut step = 1 + stream.below(count as u32 - 1) as usize;
        while common_divisor(step, count) > 1 {
            step += 1;
        }
        Self { templates, start, step }
    }

    fn nth(&self, number: usize) -> &'t Template {
        let count = self.templates.len();
        &self.templates[(self.start + number % count * self.step) % count]
    }
}

fn common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

fn one_of<'s, T>(some: &'s [T], stream: &mut SplitMix64) -> &'s T {
    &some[stream.below(some.len() as u32) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, version: u32) -> String {
        let recipe = Recipe { host: "a.test", path, version, bytes: 14_000, links: &["/x", "/y"] };
        String::from_utf8(render(&recipe)).unwrap()
    }

    /// The one line in which two versions differ, before and after.
    fn edit(path: &str, version: u32) -> [String; 2] {
        let (old, new) = (page(path, version), page(path, version + 1));
        let mut differing = old.lines().zip(new.lines()).filter(|(old, new)| old != new);
        let (before, after) = differing.next().expect("each version differs");
        assert!(differing.next().is_none() && old.lines().count() == new.lines().count(), "{path} {version}");
        [before.to_owned(), after.to_owned()]
    }

    /// Paths of pages, some of each kind.
    fn paths() -> impl Iterator<Item = String> {
        (0..60).map(|number| format!("/{number}"))
    }

    #[test]
    fn the_same_version_has_the_same_bytes_and_the_next_one_differs_in_one_paragraph() {
        assert_eq!(page("/", 7), page("/", 7));
        let (old, new) = (page("/", 7), page("/", 8));
        let differing = old.lines().zip(new.lines()).filter(|(old, new)| old != new).count();
        assert_eq!(differing, 1);
    }

    #[test]
    fn a_page_has_about_the_length_asked_for_and_its_links() {
        let text = page("/", 0);
        assert!((13_000..15_000).contains(&text.len()), "{} bytes", text.len());
        assert!(text.contains("<a href=\"/x\">") && text.contains("<a href=\"/y\">"));
        assert!(text.contains('é'));
    }

    #[test]
    fn pages_of_one_host_differ() {
        let (one, other) = (page("/1", 0), page("/2", 0));
        let shared = one.lines().filter(|line| line.starts_with("<p>") && other.contains(line)).count();
        assert_eq!(shared, 0);
    }

    #[test]
    fn a_page_of_each_kind_reads_as_english() {
        let phrases = [
            ["The price today is £", " are left in "],
            ["The doors open at ", " is the day of the "],
            ["The notice period is ", ", clause "],
            ["The newest release is ", "Install "],
            ["The council voted with ", " people have signed the list so far"],
            ["Simmer it for ", " degrees on the lowest shelf"],
        ];
        for phrases in phrases {
            let has_all = |text: &String| phrases.iter().all(|phrase| text.contains(phrase));
            assert!(paths().map(|path| page(&path, 0)).any(|text| has_all(&text)), "{phrases:?}");
        }
    }

    #[test]
    fn no_slot_is_left_and_hardly_a_sentence_comes_twice() {
        for path in paths() {
            let text = page(&path, 5);
            assert!(!text.contains(['{', '}']), "{text}");
            let mut sentences: Vec<&str> =
                text.lines().filter(|line| line.starts_with("<p>")).flat_map(|line| line.split(". ")).collect();
            let count = sentences.len();
            sentences.sort_unstable();
            sentences.dedup();
            assert!(100 * sentences.len() > 97 * count, "{path}: {} of {count}", sentences.len());
        }
    }

    #[test]
    fn an_edit_keeps_the_first_sentence_and_says_something_else_in_words() {
        let first = |line: &str| line.split(". ").next().map(str::to_owned);
        let words = |line: &str| line.split(|sign: char| !sign.is_alphabetic()).map(str::to_owned).collect::<Vec<_>>();
        for (path, version) in paths().flat_map(|path| (0..4).map(move |version| (path.clone(), version))) {
            let [before, after] = edit(&path, version);
            assert!(before.starts_with("<p>") && first(&before) == first(&after), "{before}\n{after}");
            assert_ne!(words(&before), words(&after));
        }
    }

    #[test]
    fn each_version_of_a_product_has_another_price() {
        let amount =
            |rest: &str| rest.split(|sign: char| sign != '.' && !sign.is_ascii_digit()).next().map(str::to_owned);
        let amounts = |line: &str| line.split('£').skip(1).map(amount).collect::<Vec<_>>();
        let is_product = |path: &String| page(path, 0).contains("The price today is £");
        let product = paths().find(is_product).expect("some pages are products");
        for version in 0..50 {
            let [before, after] = edit(&product, version);
            assert_ne!(amounts(&before), amounts(&after), "{before}\n{after}");
        }
    }

    #[test]
    fn a_link_is_called_as_its_page() {
        let target = page("/x", 3);
        let (title, _) = target.split_once("<title>").unwrap().1.split_once("</title>").unwrap();
        assert!(title.len() > 8 && target.contains(&format!("<h1>{title}</h1>")));
        assert!(page("/", 0).contains(&format!("<a href=\"/x\">{title}</a>")), "{title}");
    }
}

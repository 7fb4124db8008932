//! Pages of about 32 kB to crawl: real ones where the corpora are at hand, made ones elsewhere.

use archives::{Archive, ArchiveError};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;

/// Collections of web pages in the corpora: a manual, and terms of use as fetched.
const COLLECTIONS: [&str; 3] = ["git-htmldocs", "ota-demo", "ota-genai"];
/// Sizes of the pages taken.
const BYTES: RangeInclusive<usize> = 13_500..=100_000;
/// Most versions of one page. Each is served as a page of its own.
const VERSIONS_OF_A_PAGE: usize = 32;
/// One of `EVERY` versions is taken, so that those taken differ.
const EVERY: usize = 4;
const MADE_BYTES: usize = 32_000;
const VOCABULARY: usize = 6_000;

/// Bodies, and where they come from.
pub(crate) struct KeptPages {
    pub(crate) bodies: Vec<Vec<u8>>,
    origin: &'static str,
}

impl KeptPages {
    /// At least one page and at most `count`. Too few pages are served again under other addresses.
    pub(crate) fn at_hand(count: usize) -> Self {
        match recorded(&corpora::path("content"), count) {
            Ok(bodies) if !bodies.is_empty() => Self { bodies, origin: "real" },
            _ => Self { bodies: made(count.min(500)), origin: "made" },
        }
    }

    /// Size and origin, for the rows.
    pub(crate) fn description(&self) -> String {
        let bytes: usize = self.bodies.iter().map(Vec::len).sum();
        format!(
            "{} {} pages of {:.1} kB",
            self.bodies.len(),
            self.origin,
            bytes as f64 / 1e3 / self.bodies.len() as f64
        )
    }
}

fn recorded(directory: &Path, count: usize) -> Result<Vec<Vec<u8>>, ArchiveError> {
    let mut bodies = Vec::new();
    for collection in COLLECTIONS {
        let (mut page_id, mut seen, mut taken) = (None, 0, 0);
        let mut of_collection = Vec::new();
        Archive::open(directory, Some(collection))?.for_each_version(|page, body| {
            if page_id != Some(page.page_id) {
                (page_id, seen, taken) = (Some(page.page_id), 0, 0);
            }
            seen += 1;
            if page.content_type == "text/html"
                && seen % EVERY == 1
                && taken < VERSIONS_OF_A_PAGE
                && BYTES.contains(&body.len())
            {
                taken += 1;
                of_collection.push(body.to_owned());
            }
            if of_collection.len() < count { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        bodies.push(of_collection);
    }
    // Taken in turns, so that each collection has its share however many are wanted.
    let mut collections: Vec<_> = bodies.into_iter().map(Vec::into_iter).collect();
    let mut mixed = Vec::new();
    while mixed.len() < count {
        let before = mixed.len();
        mixed.extend(collections.iter_mut().filter_map(Iterator::next));
        if mixed.len() == before {
            break;
        }
    }
    mixed.truncate(count);
    Ok(mixed)
}

/// Prose by Zipf's law under a menu that all have in common.
fn made(count: usize) -> Vec<Vec<u8>> {
    let mut random = Pcg64::seed_from_u64(1);
    let words: Vec<String> = (0..VOCABULARY).map(|_| made_word(&mut random)).collect();
    let menu: String = words[..40].iter().map(|word| format!("<li><a href=\"/{word}/\">{word}</a></li>\n")).collect();
    let page = |_| {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><title>{}</title></head><body><nav><ul>\n{menu}</ul></nav>\n<main>\n",
            sentence(&words, &mut random)
        );
        while page.len() < MADE_BYTES {
            let sentences: Vec<_> = (0..6).map(|_| sentence(&words, &mut random)).collect();
            page += &format!("<div class=\"paragraph\"><p>{}</p></div>\n", sentences.join(" "));
        }
        (page + "</main></body></html>\n").into_bytes()
    };
    (0..count).map(page).collect()
}

fn made_word(random: &mut Pcg64) -> String {
    let syllables =
        ["ta", "ren", "lo", "mis", "ver", "con", "di", "nal", "po", "ster", "qui", "ba", "gen", "u", "fi", "ing"];
    (0..random.random_range(1..4)).map(|_| syllables[random.random_range(0..syllables.len())]).collect()
}

/// Fourteen words, the rank of each by Zipf's law.
fn sentence(words: &[String], random: &mut impl Rng) -> String {
    let word = |random: &mut _| words[(words.len() as f64).powf(RngExt::random::<f64>(random)) as usize - 1].as_str();
    (0..14).map(|_| word(random)).collect::<Vec<_>>().join(" ") + "."
}

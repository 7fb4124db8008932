//! Judges the pages of a directory for a count of instructions, which other work on the machine does not disturb.
//!
//! `valgrind --tool=callgrind target/release/examples/verdict_instructions PART ROUNDS DIRECTORY` judges each page as
//! `verdict_speed` does. PART is `version`, `state`, `verdict` or `first`. A verdict costs the instructions of `verdict` without
//! those of `state`, which copies the states that a verdict begins with. Two counts with other ROUNDS have the preparation in
//! common.

use change::{PageState, Version};
use document::Body;
use page::UrlRules;
use std::hint::black_box;
use std::io::{Error, ErrorKind};

/// The allocator of the programs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

static URLS: UrlRules = UrlRules::none();
const HEADER: Option<&str> = Some("text/html; charset=utf-8");
const ADDRESS: Option<&str> = Some("https://docs.test/manual/page.html");

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = || Error::new(ErrorKind::InvalidInput, "usage: verdict_instructions PART ROUNDS DIRECTORY");
    let [part, rounds, directory] = arguments.as_slice() else { return Err(usage()) };
    let rounds: u32 = rounds.parse().map_err(|_| usage())?;
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "html") {
            let page = std::fs::read(path)?;
            let mut state = PageState::default();
            state.observe(&version(&page), None);
            pages.push((edit(&page), page, state));
        }
    }
    for (edited, page, state) in (0..rounds).flat_map(|_| &pages) {
        match part.as_str() {
            "version" => drop(black_box(version(edited))),
            "state" => drop(black_box(state.clone())),
            "verdict" => {
                let mut state = state.clone();
                let judgement = state.observe(&version(edited), None);
                drop(black_box((judgement, state)));
            }
            "first" => {
                let mut state = PageState::default();
                let (version, text) = Version::and_text(&Body::new(page, HEADER, ADDRESS), &URLS);
                let judgement = state.observe(&version, None);
                drop(black_box((judgement, text, state)));
            }
            _ => return Err(usage()),
        }
    }
    Ok(())
}

fn version(page: &[u8]) -> Version<'static> {
    Version::new(page, HEADER, ADDRESS, &URLS)
}

/// The page with a paragraph before its first one, or else at its end.
fn edit(page: &[u8]) -> Vec<u8> {
    let place = page.windows(3).position(|three| three == b"<p>").unwrap_or(page.len());
    [&page[..place], b"<p>A new paragraph came today. ", &page[place..]].concat()
}

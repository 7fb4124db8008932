//! The seeds file: the pages that the crawl begins with.
//!
//! Each line has a URL, optionally followed by a weight: the value of a fresh copy of the page relative to others (1 by
//! default). `#` at the beginning of a line or after a space begins a comment. Blank lines are ignored.
//!
//! ```text
//! https://example.org/          10
//! https://example.org/archive   0.1   # hardly matters
//! ```

use page::{CanonicalUrl, PageId, UrlProblem};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    pub url: CanonicalUrl,
    /// Value of the page's freshness relative to others. Positive, 1 by default.
    pub weight: f64,
    /// Line number, counted from 1.
    pub line: usize,
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem} (in {text:?})")]
pub struct SeedFault {
    /// Line number, counted from 1.
    pub line: usize,
    /// The line, shortened to 200 characters.
    pub text: String,
    pub problem: SeedProblem,
}

/// Why a line is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SeedProblem {
    /// The URL cannot be crawled.
    #[error(transparent)]
    Url(#[from] UrlProblem),
    /// The weight is not a positive number.
    #[error("{0:?} is not a weight; write a positive number such as 2.5, or leave it out")]
    Weight(String),
    /// Text after the weight.
    #[error("unexpected {0:?} after the weight; write one URL and at most one weight per line, comments after #")]
    Trailing(String),
}

/// The content of a seeds file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeedList {
    /// Every page once, in the order of the file.
    pub seeds: Vec<Seed>,
    /// All invalid lines.
    pub faults: Vec<SeedFault>,
    /// Number of lines that repeat a page. Its first line counts, with its weight.
    pub duplicates: usize,
}

/// Collects seeds, each page once.
#[derive(Debug, Default)]
pub struct SeedCollector {
    list: SeedList,
    known: HashSet<PageId>,
}

impl SeedCollector {
    /// Takes in a line: its number, its text, and the words that are the URL and the weight. A line without words is no fault.
    pub fn take<'a>(&mut self, line: usize, text: &str, mut words: impl Iterator<Item = &'a str>) {
        let Some(url) = words.next() else { return };
        match parse_words(url, words) {
            Ok((url, weight)) if self.known.insert(url.page_id()) => self.list.seeds.push(Seed { url, weight, line }),
            Ok(_) => self.list.duplicates += 1,
            Err(problem) => {
                let text = text.trim().chars().take(200).collect();
                self.list.faults.push(SeedFault { line, text, problem });
            }
        }
    }

    pub fn finish(self) -> SeedList {
        self.list
    }
}

/// Parses a seeds file. An invalid line is reported, and the rest is read.
pub fn parse(text: &str) -> SeedList {
    let mut collector = SeedCollector::default();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
        collector.take(index + 1, line, words);
    }
    collector.finish()
}

fn parse_words<'a>(url: &str, mut rest: impl Iterator<Item = &'a str>) -> Result<(CanonicalUrl, f64), SeedProblem> {
    let url = CanonicalUrl::parse(url)?;
    let weight = rest.next().map_or(Ok(1.0), |word| match word.parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
        _ => Err(SeedProblem::Weight(word.to_owned())),
    })?;
    match rest.next() {
        Some(word) => Err(SeedProblem::Trailing(word.to_owned())),
        None => Ok((url, weight)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_lines_are_kept_and_bad_ones_named_with_their_number() {
        let list = parse(
            "\u{feff}# our pages\r\n\r\nhttps://example.org/ 10\r\n  http://example.org/a#top # a comment\n\
             example.org\nhttps://example.org/b -1\nhttps://example.org/c 1 2\nHTTPS://EXAMPLE.org\n\
             ftp://example.org/\nhttps://example.org/d\t0.5\nhttps://example.org/e NaN",
        );
        let seeds: Vec<_> = list.seeds.iter().map(|seed| (seed.line, seed.url.as_str(), seed.weight)).collect();
        assert_eq!(
            seeds,
            [(3, "https://example.org/", 10.0), (4, "http://example.org/a", 1.0), (10, "https://example.org/d", 0.5)]
        );
        assert_eq!(list.faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [5, 6, 7, 9, 11]);
        assert_eq!(list.duplicates, 1);
        let shown = list.faults[1].to_string();
        assert!(shown.starts_with("line 6: \"-1\" is not a weight; write a positive number"), "{shown}");
        assert!(list.faults[0].to_string().contains("write it as https://host/path"));
    }

    #[test]
    fn an_empty_file_has_no_seeds_and_no_faults() {
        assert_eq!(parse(""), SeedList::default());
        assert_eq!(parse("# nothing\n\n"), SeedList::default());
    }
}

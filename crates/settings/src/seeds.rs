//! Which pages does the crawl begin with?
//!
//! One URL per line, optionally a weight after it: how much a fresh copy of that page is worth compared with others
//! (1 when left out). `#` at the beginning of a line or after a space begins a comment; blank lines are fine.
//!
//! ```text
//! https://example.org/          10
//! https://example.org/archive   0.1   # hardly matters
//! ```

use page::{CanonicalUrl, PageId, UrlProblem};
use std::collections::HashSet;

/// A page to begin with.
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// Its address.
    pub url: CanonicalUrl,
    /// What its freshness is worth compared with others; positive, 1 unless stated.
    pub weight: f64,
    /// The line it stands on, counted from 1.
    pub line: usize,
}

/// A line that is not a seed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem} (in {text:?})")]
pub struct SeedFault {
    /// The line, counted from 1.
    pub line: usize,
    /// What stands there, shortened to 200 characters.
    pub text: String,
    /// What is wrong with it.
    pub problem: SeedProblem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SeedProblem {
    /// The address cannot be crawled.
    #[error(transparent)]
    Url(#[from] UrlProblem),
    /// The weight is not a positive number.
    #[error("{0:?} is not a weight; write a positive number such as 2.5, or leave it out")]
    Weight(String),
    /// Something after the weight.
    #[error("{0:?} follows the weight; write one URL and at most one weight per line, comments after #")]
    Trailing(String),
}

/// What a seeds file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeedList {
    /// Each page once, in the order of the file.
    pub seeds: Vec<Seed>,
    /// Every line that is not a seed.
    pub faults: Vec<SeedFault>,
    /// Lines naming a page that an earlier line named; the earlier one, with its weight, counts.
    pub duplicates: usize,
}

/// Reads a seeds file. A bad line is reported and the rest goes on.
pub fn parse(text: &str) -> SeedList {
    let mut list = SeedList::default();
    let mut known: HashSet<PageId> = HashSet::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
        let Some(url) = words.next() else { continue };
        match parse_words(url, words) {
            Ok((url, weight)) if known.insert(url.page_id()) => list.seeds.push(Seed { url, weight, line: index + 1 }),
            Ok(_) => list.duplicates += 1,
            Err(problem) => {
                let text = line.trim().chars().take(200).collect();
                list.faults.push(SeedFault { line: index + 1, text, problem });
            }
        }
    }
    list
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

//! The seeds file: the pages that the crawl begins with.
//!
//! Each line has a URL, optionally followed by a weight: the value of a fresh copy of the page relative to others (1 by
//! default). A date after the weight says when the page changed last. `#` at the beginning of a line or after a space begins
//! a comment. Blank lines are ignored.
//!
//! ```text
//! https://example.org/          10
//! https://example.org/archive   0.1   # hardly matters
//! https://example.org/news      1     2026-11-21T08:00:00Z
//! ```

use page::{CanonicalUrl, PageId, Timestamp, UrlProblem};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    pub url: CanonicalUrl,
    /// Value of the page's freshness relative to others. Positive, 1 by default.
    pub weight: f64,
    /// The latest time at which the page's last change may have been. `None` if the line has no date.
    pub changed_at: Option<Timestamp>,
    /// Line number, counted from 1.
    pub line: usize,
}

/// The parts of a line, as written.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeedWords<'a> {
    pub url: &'a str,
    pub weight: Option<&'a str>,
    /// When the page changed last.
    pub changed_at: Option<&'a str>,
    /// The first word after all that a line may have.
    pub trailing: Option<&'a str>,
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
    /// The date cannot be read, or not in one way only.
    #[error("{0:?} is not a date; write it like 2026-11-21 or 2026-11-21T08:00:00Z, or leave it out")]
    Date(String),
    /// Text after the date.
    #[error("unexpected {0:?}; write one URL, at most one weight and at most one date per line, comments after #")]
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
    /// Takes in a line: its number, its text, and its parts.
    pub fn take(&mut self, line: usize, text: &str, words: SeedWords<'_>) {
        match parse_words(line, words) {
            Ok(seed) if self.known.insert(seed.url.page_id()) => self.list.seeds.push(seed),
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
        let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
        if let Some(url) = words.next() {
            let [weight, changed_at, trailing] = std::array::from_fn(|_| words.next());
            collector.take(index + 1, line, SeedWords { url, weight, changed_at, trailing });
        }
    }
    collector.finish()
}

fn parse_words(line: usize, words: SeedWords<'_>) -> Result<Seed, SeedProblem> {
    let url = CanonicalUrl::parse(words.url)?;
    let weight = words.weight.map_or(Ok(1.0), |word| match word.parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
        _ => Err(SeedProblem::Weight(word.to_owned())),
    })?;
    let changed_at = words.changed_at.map(last_moment).transpose()?;
    match words.trailing {
        Some(word) => Err(SeedProblem::Trailing(word.to_owned())),
        None => Ok(Seed { url, weight, changed_at, line }),
    }
}

/// The end of what a date leaves open.
fn last_moment(written: &str) -> Result<Timestamp, SeedProblem> {
    let (first_s, open_s) = sitemaps::date(written).ok_or_else(|| SeedProblem::Date(written.to_owned()))?;
    Ok(Timestamp::from_secs(first_s.saturating_add(open_s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_lines_are_kept_and_bad_ones_named_with_their_number() {
        let list = parse(
            "\u{feff}# our pages\r\n\r\nhttps://example.org/ 10\r\n  http://example.org/a#top # a comment\n\
             example.org\nhttps://example.org/b -1\nhttps://example.org/c 1 2026 2\nHTTPS://EXAMPLE.org\n\
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
    fn a_date_says_until_when_the_page_may_have_changed() {
        let list = parse(
            "http://a.test/1 1 2026-11-21T08:00:00+01:00\nhttp://a.test/2 2 2026-11-21\nhttp://a.test/3 1 02/06/2026\n\
             http://a.test/4 1 soon",
        );
        let dates: Vec<_> = list.seeds.iter().map(|seed| seed.changed_at.unwrap().to_string()).collect();
        assert_eq!(dates, ["2026-11-21T07:00:00.000Z", "2026-11-22T00:00:00.000Z"], "a day is open until its end");
        let faults: Vec<_> = list.faults.iter().map(ToString::to_string).collect();
        assert!(faults[0].starts_with("line 3: \"02/06/2026\" is not a date; write it like 2026-11-21"), "{faults:?}");
        assert!(faults[1].starts_with("line 4: \"soon\" is not a date"), "{faults:?}");
    }

    #[test]
    fn an_empty_file_has_no_seeds_and_no_faults() {
        assert_eq!(parse(""), SeedList::default());
        assert_eq!(parse("# nothing\n\n"), SeedList::default());
    }
}

//! The web that is crawled.

use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub struct FocusPage {
    pub url: String,
    /// Whether it is about the focus, by other evidence than its words.
    pub is_relevant: bool,
    pub title: String,
    pub text: String,
    /// The page as sent, from which links are read.
    pub html: String,
}

/// Pages that link to each other, and where crawls begin.
#[derive(Clone, Debug)]
pub struct FocusWeb {
    pages: Vec<FocusPage>,
    numbers: HashMap<String, usize>,
    seeds: Vec<usize>,
}

impl FocusWeb {
    /// If two pages have one address, links lead to the first. `seeds` are places in `pages`.
    pub fn new(pages: Vec<FocusPage>, seeds: Vec<usize>) -> Self {
        let mut numbers = HashMap::with_capacity(pages.len());
        for (number, page) in pages.iter().enumerate() {
            numbers.entry(page.url.clone()).or_insert(number);
        }
        Self { pages, numbers, seeds }
    }

    pub fn pages(&self) -> &[FocusPage] {
        &self.pages
    }

    /// Where crawls begin: places in [`FocusWeb::pages`].
    pub fn seeds(&self) -> &[usize] {
        &self.seeds
    }

    /// The place of a page. A fragment does not count.
    pub(super) fn number(&self, url: &str) -> Option<usize> {
        let url = url.split_once('#').map_or(url, |(page, _)| page);
        self.numbers.get(url).copied()
    }
}

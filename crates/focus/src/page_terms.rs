//! The terms of a page, counted in its title and its body.

use crate::words::{Segmenter, terms};
use std::collections::BTreeMap;

/// How often a term stands in a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermCount {
    /// Occurrences in the body.
    pub body: u32,
    /// Occurrences in the title.
    pub title: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageTerms {
    counts: BTreeMap<String, TermCount>,
}

impl PageTerms {
    /// Counts the terms of a title and a text, in time linear in both.
    pub fn read(segmenter: &dyn Segmenter, title: &str, text: &str) -> Self {
        let mut page = Self::default();
        terms(segmenter, title, &mut |term, _| page.count(term).title += 1);
        terms(segmenter, text, &mut |term, _| page.count(term).body += 1);
        page
    }

    fn count(&mut self, term: &str) -> &mut TermCount {
        if !self.counts.contains_key(term) {
            self.counts.insert(term.to_owned(), TermCount::default());
        }
        self.counts.get_mut(term).expect("it was inserted above")
    }

    /// The terms in alphabetical order, with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, TermCount)> {
        self.counts.iter().map(|(term, count)| (term.as_str(), *count))
    }

    /// How often this term stands in the page.
    pub fn get(&self, term: &str) -> TermCount {
        self.counts.get(term).copied().unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl<T: Into<String>> FromIterator<(T, TermCount)> for PageTerms {
    fn from_iter<I: IntoIterator<Item = (T, TermCount)>>(counts: I) -> Self {
        Self { counts: counts.into_iter().map(|(term, count)| (term.into(), count)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IcuSegmenter;

    #[test]
    fn title_and_body_are_counted_apart() {
        let page = PageTerms::read(&IcuSegmenter::default(), "Harbour news", "The harbour, the harbours and a quay.");
        let expected = [
            ("harbour", TermCount { body: 2, title: 1 }),
            ("news", TermCount { body: 0, title: 1 }),
            ("quay", TermCount { body: 1, title: 0 }),
        ];
        assert_eq!(page.iter().collect::<Vec<_>>(), expected);
        assert_eq!((page.get("quay").body, page.get("boat")), (1, TermCount::default()));
        assert!(PageTerms::read(&IcuSegmenter::default(), "", "the 的 7").is_empty());
    }
}

//! The section `[search]`.

use super::common::{HOUR, YEAR, not_empty};
use crate::form::{List, Number, Span, Text};
use page::CanonicalUrl;
use std::collections::HashSet;
use std::time::Duration;

/// Where the words go.
const QUERY: &str = "{query}";
/// The longest interval, whatever follows from the share of the budget.
const LONGEST: Duration = YEAR;

section! {
    /// Search interfaces of sites, whose answers are seeds.
    search: Search {
        /// Addresses with a place for the words.
        templates: Vec<String> = List(Text(
            "addresses with {query} behind the host, such as [\"https://example.org/search?q={query}\"]",
            is_template,
        )),
        /// The words, each once with each template.
        queries: Vec<String> = List(Text("words to search for, such as [\"bike pump\", \"自行车\"]", not_empty)),
        /// Shortest time between two looks at one answer.
        interval: Duration = Span(HOUR, YEAR),
        /// Most of the budget's fetches that all answers together take, as a share of it.
        budget_share: f64 = Number(0.000_1, 1.0),
        /// Importance of each answer; 1 is ordinary.
        weight: f64 = Number(0.001, 1_000.0),
    }
}

impl Search {
    /// The addresses of all answers, each once: of each template with each query.
    pub fn pages(&self) -> Vec<CanonicalUrl> {
        let mut known = HashSet::new();
        let with = |template: &String, query: &String| CanonicalUrl::parse(&filled(template, query)).ok();
        let pages =
            self.templates.iter().flat_map(|template| self.queries.iter().map(move |query| with(template, query)));
        pages.flatten().filter(|url| known.insert(url.clone())).collect()
    }

    /// Shortest time between two looks at one answer: `interval`, or longer, so that all answers keep to their share of
    /// this many fetches a second.
    pub fn effective_interval(&self, fetches_per_second: f64) -> Duration {
        let answers = self.templates.len() as f64 * self.queries.len() as f64;
        let by_share_s = answers / (self.budget_share * fetches_per_second);
        self.interval.max(Duration::from_secs_f64(by_share_s.min(LONGEST.as_secs_f64())))
    }
}

/// A template with its words, which are encoded as in a path or a query.
fn filled(template: &str, query: &str) -> String {
    let mut encoded = String::new();
    for byte in query.trim().bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    template.replace(QUERY, &encoded)
}

/// The words must not choose the host.
fn is_template(text: &str) -> bool {
    let with = |words: &str| CanonicalUrl::parse(&filled(text, words)).ok();
    let (Some(one), Some(other)) = (with("a"), with("b")) else { return false };
    one != other && one.origin() == other.origin()
}

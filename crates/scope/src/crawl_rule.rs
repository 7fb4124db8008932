//! Rules: which pages, and how they are crawled.

use crate::page_pattern::{PagePattern, PatternMatch};
use crate::withheld::WithheldHeaders;
use page::CanonicalUrl;
use settings::{CrawlOrders, RuleFault};

/// A rule, ready to be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRule {
    name: String,
    patterns: Vec<(PagePattern, String)>,
    orders: CrawlOrders,
}

/// Headers that recrawl writes itself. Another value would break requests, or hide who asks.
const OWN_HEADERS: [&str; 13] = [
    "host",
    "user-agent",
    "accept",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "upgrade",
    "accept-encoding",
    "if-none-match",
    "if-modified-since",
    "authorization",
    "proxy-authorization",
];

impl CrawlRule {
    /// Compiles the rule of this number, counted from 1.
    ///
    /// # Errors
    /// Returns everything that is wrong with it.
    pub fn new(
        number: usize,
        name: Option<&str>,
        pages: &[String],
        orders: CrawlOrders,
    ) -> Result<Self, Vec<RuleFault>> {
        let mut faults = Vec::new();
        let mut fault = |key, problem: String, remedy: &str| {
            faults.push(RuleFault { key, problem, remedy: remedy.to_owned() });
        };
        let mut patterns = Vec::new();
        for text in pages {
            match PagePattern::parse(text) {
                Ok(pattern) => patterns.push((pattern, text.clone())),
                Err((problem, remedy)) => fault("pages", problem, &remedy),
            }
        }
        if orders.are_of_hosts()
            && let Some((_, text)) = patterns.iter().find(|(pattern, _)| !pattern.is_of_whole_hosts())
        {
            let key = if orders.crawl_delay.is_some() { "crawl_delay" } else { "max_pages" };
            let remedy = "name hosts only, such as shop.example or *.example, in a rule of its own";
            fault(key, format!("it is for whole hosts, and {text:?} names some pages"), remedy);
        }
        if let (Some(min), Some(max)) = (orders.min_interval, orders.max_interval)
            && min > max
        {
            fault("min_interval", "it is longer than max_interval".to_owned(), "make it shorter");
        }
        for (header, value) in &orders.headers {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let is_value = |byte: u8| matches!(byte, b'\t' | b' '..=b'~');
            if OWN_HEADERS.iter().any(|own| header.eq_ignore_ascii_case(own)) {
                let problem = format!("recrawl writes the header {header} itself");
                fault("headers", problem, "leave it out; crawl.user_agent and fetch.authentication set two of them");
            } else if header.is_empty() || !header.bytes().all(is_name) {
                fault("headers", format!("{header:?} is no name of a header"), "write a name such as Accept-Language");
            } else if !value.bytes().all(is_value) {
                let remedy = "write printable ASCII on one line";
                fault("headers", format!("the value of {header} has other characters than ASCII"), remedy);
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let name = name.map_or_else(|| number.to_string(), str::to_owned);
        Ok(Self { name, patterns, orders })
    }

    /// Its name, or its number.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn orders(&self) -> &CrawlOrders {
        &self.orders
    }

    /// Whether the rule names a page.
    pub(crate) fn matches(&self, url: &CanonicalUrl) -> PatternMatch {
        let mut answer = PatternMatch::No;
        for (pattern, _) in &self.patterns {
            match pattern.matches(url) {
                PatternMatch::Yes => return PatternMatch::Yes,
                PatternMatch::Unknown => answer = PatternMatch::Unknown,
                PatternMatch::No => {}
            }
        }
        answer
    }

    /// The headers that a request for a page carries. They may be secrets: a pattern without a scheme gives them to https and
    /// port 443 only.
    pub(crate) fn headers_for(&self, url: &CanonicalUrl) -> &[(String, String)] {
        let is_permitted = |(pattern, _): &(PagePattern, String)| pattern.permits_secrets(url) && pattern.includes(url);
        if self.patterns.iter().any(is_permitted) { &self.orders.headers } else { &[] }
    }

    /// The headers that requests for a page do not carry, because no pattern that names it permits secrets there.
    pub(crate) fn withheld(&self, url: &CanonicalUrl) -> Option<WithheldHeaders> {
        if self.orders.headers.is_empty() || !self.headers_for(url).is_empty() {
            return None;
        }
        let (pattern, text) = self.patterns.iter().find(|(pattern, _)| pattern.includes(url))?;
        let names: Vec<_> = self.orders.headers.iter().map(|(name, _)| name.as_str()).collect();
        Some(WithheldHeaders {
            rule: self.name.clone(),
            headers: names.join(", "),
            pattern: text.clone(),
            url: url.to_string(),
            remedy: pattern.with_origin_of(url),
        })
    }

    /// The pattern of this rule that matches the page.
    pub fn pattern_for(&self, url: &CanonicalUrl) -> Option<&str> {
        let found = self.patterns.iter().find(|(pattern, _)| pattern.includes(url));
        found.map(|(_, text)| text.as_str())
    }

    /// Whether one of its patterns names a host.
    pub(crate) fn names_host(&self, host_name: &str) -> bool {
        self.patterns.iter().any(|(pattern, _)| pattern.includes_host(host_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn everything_that_is_wrong_with_a_rule_is_said() {
        let orders = CrawlOrders {
            crawl_delay: Some(Duration::from_secs(1)),
            min_interval: Some(Duration::from_secs(9)),
            max_interval: Some(Duration::from_secs(8)),
            headers: [("User-agent", "x"), ("a b", "x"), ("X-A", "ü"), ("X-B", "a\r\nb"), ("X-C", "fine")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            ..CrawlOrders::default()
        };
        let pages = ["a b".to_owned(), "a.test/x".to_owned(), "regex:(".to_owned()];
        let faults = CrawlRule::new(1, None, &pages, orders).unwrap_err();
        let keys: Vec<_> = faults.iter().map(|fault| fault.key).collect();
        assert_eq!(keys, ["pages", "pages", "crawl_delay", "min_interval", "headers", "headers", "headers", "headers"]);
    }
}

//! Which pages may be crawled, and how, by the operator's rules?
//!
//! A [`CrawlRule`] names pages by [`PagePattern`]s and says whether they are crawled, how deep, how often, with which
//! headers. Of the rules that name a page the first is its rule. A [`UrlFilter`] is a file of regular expressions as
//! Apache Nutch has them. [`Scope`] holds both, and [`Scope::decide`] says what decides for an address.
//!
//! ```
//! use page::CanonicalUrl;
//! use scope::{CrawlOrders, CrawlRule, Permission, Scope};
//! let rule = |number, pages: &str, crawl| {
//!     let orders = CrawlOrders { crawl: Some(crawl), ..CrawlOrders::default() };
//!     CrawlRule::new(number, None, &[pages.to_owned()], orders).expect("the rule is right")
//! };
//! let rules = vec![rule(1, "a.test/docs/*", Permission::Allow), rule(2, "a.test", Permission::Deny)];
//! let scope = Scope::new(rules);
//! let allows = |url: &str| scope.allows(&CanonicalUrl::parse(url).expect("it is an address"));
//! assert!(allows("http://a.test/docs/x") && !allows("http://a.test/") && allows("http://b.test/"));
//! ```
//!
//! This crate never fetches, never opens a file, and knows nothing of robots.txt.

mod configured;
mod crawl_rule;
mod page_pattern;
mod url_filter;
mod withheld;

pub use crate::configured::{check_rules, configured, saved};
pub use crate::crawl_rule::CrawlRule;
pub use crate::page_pattern::{PagePattern, PatternMatch};
pub use crate::url_filter::{FilterFault, UrlFilter};
pub use crate::withheld::WithheldHeaders;
pub use settings::{CrawlOrders, Permission, Rendering};

use page::CanonicalUrl;
use std::fmt;

/// The operator's statements about pages: the rules, then the filters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    rules: Vec<CrawlRule>,
    filters: Vec<UrlFilter>,
}

/// The statement that decides whether an address is crawled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision<'a> {
    /// A rule that says so.
    Rule(&'a CrawlRule, Permission),
    /// A line of a filter.
    FilterLine {
        /// Name of the filter's file.
        file: &'a str,
        /// Number of the line, from 1.
        line: usize,
        text: &'a str,
        permission: Permission,
    },
    /// A filter in which no line matches: the address is left out.
    NoLine {
        /// Name of the filter's file.
        file: &'a str,
    },
    /// The search for an expression of this rule was given up. The rule may deny the address, so it is left out.
    Unknown(&'a CrawlRule),
    /// No rule and no filter decides: the address is crawled.
    Nothing,
}

impl Decision<'_> {
    /// Whether the address is crawled.
    pub fn allows(&self) -> bool {
        match self {
            Self::Rule(_, permission) | Self::FilterLine { permission, .. } => *permission == Permission::Allow,
            Self::NoLine { .. } | Self::Unknown(_) => false,
            Self::Nothing => true,
        }
    }
}

impl fmt::Display for Decision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule, Permission::Allow) => write!(f, "rule {} allows it", rule.name()),
            Self::Rule(rule, Permission::Deny) => write!(f, "rule {} denies it", rule.name()),
            Self::FilterLine { file, line, text, .. } => write!(f, "line {line} of {file} decides: {text}"),
            Self::NoLine { file } => write!(f, "no line of {file} allows it"),
            Self::Unknown(rule) => {
                write!(
                    f,
                    "an expression of rule {} takes too many steps on it, so whether it is denied is unknown",
                    rule.name()
                )
            }
            Self::Nothing => f.write_str("no rule and no filter speaks of the crawl"),
        }
    }
}

impl Scope {
    /// A scope of these rules. The first that names a page is the page's rule.
    pub fn new(rules: Vec<CrawlRule>) -> Self {
        Self { rules, filters: Vec::new() }
    }

    /// Adds a filter. An address has to pass each.
    pub fn add_filter(&mut self, filter: UrlFilter) {
        self.filters.push(filter);
    }

    /// The rule of a page: the first that names it. `None` also where an earlier one may name it.
    pub fn rule(&self, url: &CanonicalUrl) -> Option<&CrawlRule> {
        self.find(url).ok().flatten()
    }

    /// The first rule that names a page. An error is a rule of which that is unknown.
    fn find(&self, url: &CanonicalUrl) -> Result<Option<&CrawlRule>, &CrawlRule> {
        for rule in &self.rules {
            match rule.matches(url) {
                PatternMatch::Yes => return Ok(Some(rule)),
                PatternMatch::Unknown => return Err(rule),
                PatternMatch::No => {}
            }
        }
        Ok(None)
    }

    /// The headers that the operator adds to requests for a page.
    pub fn headers(&self, url: &CanonicalUrl) -> &[(String, String)] {
        self.rule(url).map_or(&[], |rule| rule.headers_for(url))
    }

    /// Whether a browser renders a page.
    pub fn rendering(&self, url: &CanonicalUrl) -> Rendering {
        self.rule(url).and_then(|rule| rule.orders().render).unwrap_or(Rendering::Never)
    }

    /// Whether a browser renders any page.
    pub fn renders_some(&self) -> bool {
        let renders = |rendering: Option<Rendering>| rendering.is_some_and(|rendering| rendering != Rendering::Never);
        self.rules.iter().any(|rule| renders(rule.orders().render))
    }

    /// The headers of rules that requests for these pages do not carry, once for each pattern, with the first such page.
    pub fn withheld_headers<'u>(&self, pages: impl IntoIterator<Item = &'u CanonicalUrl>) -> Vec<WithheldHeaders> {
        let mut all: Vec<WithheldHeaders> = Vec::new();
        if self.rules.iter().all(|rule| rule.orders().headers.is_empty()) {
            return all;
        }
        for one in pages.into_iter().filter_map(|url| self.rule(url)?.withheld(url)) {
            if !all.iter().any(|known| (&known.rule, &known.pattern) == (&one.rule, &one.pattern)) {
                all.push(one);
            }
        }
        all
    }

    pub fn rules(&self) -> &[CrawlRule] {
        &self.rules
    }

    /// The statement that decides whether an address is crawled: its rule if that says so, otherwise the first filter that
    /// leaves it out, otherwise the last filter.
    pub fn decide(&self, url: &CanonicalUrl) -> Decision<'_> {
        match self.find(url) {
            Err(rule) => return Decision::Unknown(rule),
            Ok(Some(rule)) => {
                if let Some(permission) = rule.orders().crawl {
                    return Decision::Rule(rule, permission);
                }
            }
            Ok(None) => {}
        }
        let mut decision = Decision::Nothing;
        for filter in &self.filters {
            decision = filter.decide(url.as_str());
            if !decision.allows() {
                break;
            }
        }
        decision
    }

    /// Whether an address is crawled.
    pub fn allows(&self, url: &CanonicalUrl) -> bool {
        self.decide(url).allows()
    }

    /// The rule for the treatment of a host: the first rule with orders for hosts that names it. Rules about some pages
    /// of a host have no orders for hosts.
    pub fn host_rule(&self, host_name: &str) -> Option<&CrawlRule> {
        self.rules.iter().find(|rule| rule.orders().are_of_hosts() && rule.names_host(host_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).expect("it is an address")
    }

    fn rule(number: usize, pages: &[&str], orders: CrawlOrders) -> CrawlRule {
        let pages: Vec<String> = pages.iter().map(|page| (*page).to_owned()).collect();
        CrawlRule::new(number, None, &pages, orders).expect("the rule is right")
    }

    #[test]
    fn the_first_rule_that_names_a_page_decides_even_if_it_says_nothing() {
        let deny = CrawlOrders { crawl: Some(Permission::Deny), ..CrawlOrders::default() };
        let heavy = CrawlOrders { weight: Some(5.0), ..CrawlOrders::default() };
        let scope = Scope::new(vec![rule(1, &["a.test/x*"], heavy), rule(2, &["a.test", "b.test"], deny)]);
        let allows = |text: &str| scope.allows(&url(text));
        assert!(allows("http://a.test/x") && !allows("http://a.test/y") && !allows("http://b.test/x"));
        assert_eq!(scope.decide(&url("http://c.test/")), Decision::Nothing);
        assert_eq!(scope.rule(&url("http://a.test/x")).and_then(|rule| rule.orders().weight), Some(5.0));
    }

    #[test]
    fn headers_that_are_not_sent_are_named_with_the_pattern_that_sends_them() {
        let headers = vec![("Accept-Language".to_owned(), "de".to_owned()), ("X-Key".to_owned(), "1".to_owned())];
        let orders = CrawlOrders { headers, ..CrawlOrders::default() };
        let pages = ["https://a.test", "a.test/de/*", "*.b.test", "c.test:8443", "regex:^http://d", "http://e.test"];
        let scope = Scope::new(vec![rule(1, &pages, orders), rule(2, &["f.test"], CrawlOrders::default())]);
        let withheld = |pages: &[&str]| {
            let pages: Vec<_> = pages.iter().map(|page| url(page)).collect();
            scope.withheld_headers(&pages).into_iter().map(|headers| headers.remedy).collect::<Vec<_>>()
        };
        assert_eq!(
            withheld(&["https://a.test/", "https://x.b.test/", "https://c.test:8443/", "http://e.test/x"]),
            [""; 0]
        );
        assert_eq!(withheld(&["http://f.test/", "http://g.test/"]), [""; 0]);
        assert_eq!(
            withheld(&["http://a.test/de/1", "http://a.test/de/2", "http://x.b.test/", "https://y.b.test:444/"]),
            ["http://a.test/de/*", "http://*.b.test/*"]
        );
        assert_eq!(
            withheld(&["https://x.b.test:444/", "http://c.test:8443/", "http://d.test:8080/x"]),
            ["https://*.b.test:444/*", "http://c.test:8443/*", "http://d.test:8080/*"]
        );
        let [one] = &scope.withheld_headers([&url("http://a.test/de/1")])[..] else { panic!("one pattern") };
        assert_eq!(
            one.to_string(),
            "rule 1 does not send Accept-Language, X-Key to http://a.test/de/1: headers may be secrets, and \"a.test/de/*\" does not \
             name this scheme and port; write \"http://a.test/de/*\" beside it in pages"
        );
    }

    #[test]
    fn a_rule_comes_before_the_filters_and_every_filter_has_to_be_passed() {
        let allow = CrawlOrders { crawl: Some(Permission::Allow), ..CrawlOrders::default() };
        let mut scope = Scope::new(vec![rule(1, &["a.test/keep/*"], allow)]);
        scope.add_filter(UrlFilter::parse("suffixes", "-\\.gif$\n+.").expect("it is a filter"));
        scope.add_filter(UrlFilter::parse("hosts", "+^https?://a\\.test/\n").expect("it is a filter"));
        let allows = |text: &str| scope.allows(&url(text));
        assert!(allows("http://a.test/keep/x.gif") && !allows("http://a.test/x.gif"));
        assert!(allows("http://a.test/x") && !allows("http://b.test/x"));
        assert_eq!(scope.decide(&url("http://b.test/x")), Decision::NoLine { file: "hosts" });
        let line = Decision::FilterLine { file: "suffixes", line: 1, text: "-\\.gif$", permission: Permission::Deny };
        assert_eq!(scope.decide(&url("http://b.test/x.gif")), line);
    }

    /// An expression, and an address on which the search for it is given up.
    const ENDLESS: &str = "regex:/((a|aa)+(?<!q))+/secret$";

    fn endless_url() -> CanonicalUrl {
        url(&format!("http://a.test/{}!/aaaa/secret", "a".repeat(60)))
    }

    #[test]
    fn a_site_cannot_choose_addresses_that_a_rule_gives_up_on() {
        let orders = |crawl| CrawlOrders {
            crawl,
            headers: vec![("cookie".to_owned(), "x".to_owned())],
            ..CrawlOrders::default()
        };
        for crawl in [Some(Permission::Deny), Some(Permission::Allow), None] {
            let scope = Scope::new(vec![
                rule(1, &[ENDLESS], orders(crawl)),
                rule(2, &["a.test"], orders(Some(Permission::Allow))),
            ]);
            let unknown = endless_url();
            assert!(matches!(scope.decide(&unknown), Decision::Unknown(rule) if rule.name() == "1"), "{crawl:?}");
            assert!(!scope.allows(&unknown) && scope.rule(&unknown).is_none() && scope.headers(&unknown).is_empty());
            assert!(scope.allows(&url("http://a.test/x")));
        }
        let denied = Scope::new(vec![rule(1, &[ENDLESS], orders(Some(Permission::Deny)))]);
        assert!(
            !denied.allows(&url("http://a.test/x/aaaa/secret")) && denied.allows(&url("http://a.test/x/aaaa/public"))
        );
        // A pattern before the expression that names the page leaves nothing unknown.
        let named = Scope::new(vec![rule(1, &[ENDLESS, "a.test"], orders(Some(Permission::Allow)))]);
        assert!(named.allows(&endless_url()));
    }

    #[test]
    fn headers_go_where_a_login_would_go() {
        let check = |pages: &[&str], address: &str, expected: bool| {
            let orders = CrawlOrders { headers: vec![("cookie".to_owned(), "x".to_owned())], ..CrawlOrders::default() };
            let scope = Scope::new(vec![rule(1, pages, orders)]);
            assert_eq!(!scope.headers(&url(address)).is_empty(), expected, "{pages:?} {address}");
        };
        check(&["a.test"], "https://a.test/x", true);
        check(&["a.test"], "http://a.test/x", false);
        check(&["a.test"], "https://a.test:8443/x", false);
        check(&["a.test:8443"], "https://a.test:8443/x", true);
        check(&["a.test:8443"], "http://a.test:8443/x", false);
        check(&["http://a.test"], "http://a.test/x", true);
        check(&["http://a.test"], "http://a.test:8080/x", false);
        check(&["http://a.test"], "https://a.test/x", false);
        check(&["http://a.test:8080/x"], "http://a.test:8080/x", true);
        check(&["https://a.test"], "https://a.test:8443/x", false);
        check(&["regex:a\\.test/x"], "https://a.test/x", true);
        check(&["regex:^http://a\\.test/x"], "http://a.test/x", false);
        check(&["a.test", "http://a.test/x"], "http://a.test/x", true);
        check(&["a.test", "http://a.test/x"], "http://a.test/y", false);
        check(&["a.test"], "https://b.test/", false);
    }

    #[test]
    fn a_delay_is_that_of_the_first_rule_about_the_host() {
        let slow = |seconds| CrawlOrders {
            crawl_delay: Some(std::time::Duration::from_secs(seconds)),
            ..CrawlOrders::default()
        };
        let heavy = CrawlOrders { weight: Some(5.0), ..CrawlOrders::default() };
        let rules = vec![rule(1, &["a.test/x"], heavy), rule(2, &["a.test"], slow(9)), rule(3, &["*.test"], slow(5))];
        let scope = Scope::new(rules);
        let delay =
            |host: &str| scope.host_rule(host).and_then(|rule| rule.orders().crawl_delay).map(|it| it.as_secs());
        assert_eq!((delay("a.test"), delay("b.test"), delay("c.example")), (Some(9), Some(5), None));
    }
}

//! Lines of robots.txt on the use of pages: `Content-Usage` (draft-ietf-aipref-attach, section 3), `Content-Signal`
//! (contentsignals.org) and `License` (RSL 1.0, section 4.4). They are kept as written; `crates/preferences` reads them.

use super::{RobotsFile, line};
use crate::pattern::{Pattern, normalise_path};

/// The lines on the use of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageLines<'a> {
    /// Values of `Content-Usage`, without their paths. Several only if rules of the same length match.
    pub content_usage: Vec<&'a str>,
    /// Values of `Content-Signal`, likewise.
    pub content_signals: Vec<&'a str>,
    /// Values of `License`. They are for all pages and crawlers.
    pub licenses: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UsageDirective {
    ContentUsage,
    ContentSignal,
}

impl UsageDirective {
    /// Whether a line of this kind is a rule, so that an agent line behind it begins a group. The draft makes `Content-Usage` one.
    /// To every other parser `Content-Signal` is an unknown line, which ends nothing.
    pub(super) fn ends_agents(self) -> bool {
        self == Self::ContentUsage
    }
}

/// A line on the use of the pages whose paths match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsageRule {
    directive: UsageDirective,
    pattern: Pattern,
    written: Box<str>,
}

impl UsageRule {
    /// Reads the value of a line: a path and a preference, or a preference for the whole site, as earlier drafts and
    /// `Content-Signal` have it. `None` without a preference.
    pub(super) fn new(directive: UsageDirective, value: &[u8]) -> Option<Self> {
        let is_gap = |byte: &u8| matches!(byte, b' ' | b'\t');
        let path_length = match value.first() {
            Some(b'/') => value.iter().position(is_gap)?,
            _ => 0,
        };
        let (path, preference) = value.split_at(path_length);
        let preference = preference.trim_ascii();
        (!preference.is_empty()).then(|| Self {
            directive,
            pattern: Pattern::new(path),
            written: String::from_utf8_lossy(preference).into(),
        })
    }

    pub(super) fn ends_agents(&self) -> bool {
        self.directive.ends_agents()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.pattern.specificity() + self.written.len()
    }

    pub(super) fn write_to(&self, text: &mut String) {
        let key = match self.directive {
            UsageDirective::ContentUsage => "Content-Usage",
            UsageDirective::ContentSignal => "Content-Signal",
        };
        let path = self.pattern.to_text();
        let gap = if path.is_empty() { "" } else { " " };
        line(text, key, &format!("{path}{gap}{}", self.written));
    }
}

impl RobotsFile {
    /// The lines on the use of this path and query by the crawler named `product_token`: those of its groups, of each
    /// directive those with the longest matching path.
    pub fn usage(&self, product_token: &str, path_and_query: &str) -> UsageLines<'_> {
        let path = normalise_path(path_and_query.as_bytes());
        let matching: Vec<_> = self
            .groups_for(product_token)
            .flat_map(|group| &group.usages)
            .filter(|rule| rule.pattern.matches(&path))
            .collect();
        let longest = |directive| {
            let of_kind = || matching.iter().filter(move |rule| rule.directive == directive);
            let length = of_kind().map(|rule| rule.pattern.specificity()).max();
            of_kind()
                .filter(|rule| Some(rule.pattern.specificity()) == length)
                .map(|rule| &*rule.written)
                .collect::<Vec<_>>()
        };
        UsageLines {
            content_usage: longest(UsageDirective::ContentUsage),
            content_signals: longest(UsageDirective::ContentSignal),
            licenses: self.licenses.iter().map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usage(file: &str, token: &str, path: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
        let robots = RobotsFile::parse(file.as_bytes());
        let UsageLines { content_usage, content_signals, licenses } = robots.usage(token, path);
        let owned = |lines: Vec<&str>| lines.into_iter().map(str::to_owned).collect();
        (owned(content_usage), owned(content_signals), owned(licenses))
    }

    /// The example of draft-ietf-aipref-attach, section 3.4.
    const EXAMPLE: &str = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: / train-ai=n\n\
        Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: / train-ai=y\n";

    #[test]
    fn the_rules_with_the_longest_path_count_of_the_groups_for_the_crawler() {
        let check =
            |token, path, expected: &[&str]| assert_eq!(usage(EXAMPLE, token, path).0, expected, "{token} {path}");
        check("OtherBot", "/test", &["train-ai=n"]);
        check("OtherBot", "/ai-ok/test", &["train-ai=y"]);
        check("ExampleBot", "/test", &["train-ai=y"]);
        check("examplebot", "/ai-ok/test", &["train-ai=y"]);
        let same = "User-agent: *\nContent-Usage: /a train-ai=n\nContent-usage: /a search=y\nContent-Usage: / x=y";
        assert_eq!(usage(same, "b", "/a").0, ["train-ai=n", "search=y"]);
        assert_eq!(usage(same, "b", "/").0, ["x=y"]);
        let wild = "User-agent: *\nContent-Usage: / train-ai=y\nContent-Usage:/*.pdf$\ttrain-ai=n # all of them\n";
        assert_eq!(
            (usage(wild, "b", "/x/y.pdf").0, usage(wild, "b", "/x/y.pdf?1").0),
            (vec!["train-ai=n".into()], vec!["train-ai=y".into()])
        );
    }

    #[test]
    fn a_line_without_a_path_is_for_the_whole_site_and_one_without_a_preference_for_nothing() {
        let file = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: train-ai=n\nContent-Usage: /a\n\
            Content-Usage:\nContent-Usage: /a   \n";
        assert_eq!(usage(file, "b", "/a"), (vec!["train-ai=n".into()], vec!["search=yes, ai-train=no".into()], vec![]));
        let before = "Content-Usage: / train-ai=n\nUser-agent: b\nDisallow:";
        assert!(usage(before, "b", "/").0.is_empty(), "before the first group it is for no crawler");
    }

    #[test]
    fn content_usage_is_a_rule_behind_which_a_group_may_begin_and_a_signal_is_none() {
        let file = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /b\n";
        assert_eq!(usage(file, "a", "/").0, ["train-ai=n"]);
        assert!(usage(file, "b", "/").0.is_empty());
        assert!(RobotsFile::parse(file.as_bytes()).check("a", "/b").allowed);
        let file = "User-agent: a\nContent-Signal: ai-train=no\nUser-agent: b\nDisallow: /b\n";
        for token in ["a", "b"] {
            assert_eq!(usage(file, token, "/").1, ["ai-train=no"], "{token}");
            assert!(!RobotsFile::parse(file.as_bytes()).check(token, "/b").allowed, "{token}");
        }
    }

    #[test]
    fn licences_are_for_all_wherever_they_stand() {
        let file = "License: https://a.test/license.xml\nUser-agent: a\nDisallow:\nLicense: https://a.test/2.xml";
        for token in ["a", "b"] {
            assert_eq!(usage(file, token, "/").2, ["https://a.test/license.xml", "https://a.test/2.xml"], "{token}");
        }
    }

    proptest! {
        #[test]
        fn the_kept_text_of_a_crawlers_groups_says_the_same(
            lines in proptest::collection::vec(
                "(User-agent: (a|b|\\*)|Content-(Usage|Signal): (/[ab*]{0,3}[$]? )?[a-c=, é]{0,6}|Disallow: /a|License: [a-c]{1,3})", 0..16),
            path in "/[ab]{0,4}",
        ) {
            let robots = RobotsFile::parse(lines.join("\n").as_bytes());
            let kept = RobotsFile::parse(robots.reduced_to("a").to_text().as_bytes());
            prop_assert_eq!(kept.usage("a", &path), robots.usage("a", &path));
            prop_assert_eq!(kept.check("a", &path).allowed, robots.check("a", &path).allowed);
        }
    }
}

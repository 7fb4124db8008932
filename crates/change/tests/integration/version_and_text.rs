//! A body read for its version and its text at once.

use change::{PageState, Version};
use document::{Body, content_digest, extract};
use page::UrlRules;
use proptest::prelude::*;

proptest! {
    #[test]
    fn both_at_once_are_what_each_is_by_itself(
        body in "(<(/?(p|a href=/x|a href='?y' rel=nofollow|li|div hidden|title|script|template|svg|base href=/b/|main|nav|textarea))>|\
                 <meta name=robots content=nofollow>|<link rel=alternate type='application/rss[+]xml' href=/f>|\
                 [a-c ]{1,9}|&amp;|é|<!--|-->|\\{|\"k\":|\n){0,40}",
        content_type in proptest::sample::select(vec!["text/html", "text/plain", "application/json", "text/xml", "x/y"]),
    ) {
        let urls = UrlRules::none();
        let bytes = body.as_bytes();
        let body = Body::new(bytes, Some(content_type), Some("https://a.test/d/"));
        let (version, text) = Version::and_text(&body, &urls);
        prop_assert_eq!(text, extract(Some(content_type), bytes));
        let state = |version: &Version<'_>| {
            let mut state = PageState::default();
            state.observe(version, None);
            state
        };
        prop_assert_eq!(state(&version), state(&Version::of_body(&body, &urls)));
        let known = body.with_digest(content_digest(bytes));
        prop_assert_eq!(state(&version), state(&Version::of_body(&known, &urls)));
    }
}

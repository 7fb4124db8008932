//! Where a page leads: to itself, or by a redirect to another page. Another spelling of the same address is the same page.

use crate::page_place::{Lead, Redirect};
use crate::page_state::PageState;
use chance::splitmix64;
use document::passage_hash;
use page::{CanonicalUrl, UrlRules};
use std::collections::BTreeSet;

impl PageState {
    /// Records which address answered for the page. Call it before the version of the look is judged, for each look that
    /// shows the page. The first look says where the page usually leads.
    pub fn observe_address(&mut self, page: &CanonicalUrl, answered_by: &CanonicalUrl, rules: &UrlRules) -> Lead {
        let own = hash(page, rules);
        let led_to = if is_same_page(page, answered_by, rules) { own } else { hash(answered_by, rules) };
        let place = self.looks.place;
        self.looks.place.is_pointer = led_to != own && (place.is_pointer || place.now == 0);
        if led_to == place.now || place.now == 0 {
            self.looks.place.now = led_to;
            self.looks.record_no_absence();
            return Lead::Same;
        }
        self.looks.place.now = led_to;
        let is_back = led_to == own || (place.is_redirected() && led_to == place.usual);
        if is_back {
            let (Redirect::New { is_reported } | Redirect::Accepted { is_reported }) = place.redirect else {
                // It led elsewhere from the first look on, so it is not known as away.
                return Lead::Same;
            };
            self.looks.place.redirect = Redirect::None;
            self.looks.obscured |= is_reported;
            return Lead::Back;
        }
        if !place.is_redirected() {
            self.looks.place.usual = place.now;
        }
        let is_reported = self.looks.may_report_absence();
        self.looks.place.redirect = Redirect::New { is_reported };
        Lead::Elsewhere { is_reported }
    }
}

/// Whether two addresses are one page: http or https, with `www.` or without, with a slash at the end or without, a file
/// that stands for its directory, and parameters that were only added or that say nothing of the page.
pub fn is_same_page(page: &CanonicalUrl, other: &CanonicalUrl, rules: &UrlRules) -> bool {
    let (page, other) = (rules.apply(page.clone()), rules.apply(other.clone()));
    host(&page) == host(&other) && path(&page) == path(&other) && parameters(&page).is_subset(&parameters(&other))
}

fn parameters(url: &CanonicalUrl) -> BTreeSet<&str> {
    url.query().unwrap_or_default().split('&').filter(|parameter| !parameter.is_empty()).collect()
}

/// The host without `www.`, and without the port of its scheme.
fn host(url: &CanonicalUrl) -> String {
    let host = url.host();
    let host = host.as_str();
    let host = host.strip_suffix(":80").or_else(|| host.strip_suffix(":443")).unwrap_or(host);
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

/// The path in lower case, without what stands for its directory, and without sessions (`;jsessionid=…`, `(S(…))`).
fn path(url: &CanonicalUrl) -> String {
    let is_session = |segment: &str| segment.starts_with("(S(") || segment.starts_with("(s(");
    let segments = url.path().split('/').map(|segment| segment.split(';').next().unwrap_or_default());
    let mut segments: Vec<String> =
        segments.filter(|segment| !segment.is_empty() && !is_session(segment)).map(str::to_lowercase).collect();
    segments.pop_if(|last| matches!(last.split_once('.'), Some(("index" | "default" | "home", end)) if end.len() <= 5));
    segments.join("/")
}

/// Hash of a page's address, whatever its spelling. Never 0.
fn hash(url: &CanonicalUrl, rules: &UrlRules) -> u32 {
    let url = rules.apply(url.clone());
    let query = url.query().unwrap_or_default();
    let spelled = format!("{}/{}?{query}", host(&url), path(&url));
    (splitmix64(passage_hash(spelled.as_bytes())) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    #[test]
    fn another_spelling_is_the_same_page() {
        let rules = UrlRules { drop_parameters: vec!["utm_*".to_owned()], ..UrlRules::none() };
        let check = |page: &str, other: &str, expected| {
            assert_eq!(is_same_page(&url(page), &url(other), &rules), expected, "{page} {other}");
        };
        check("http://a.test/lamp", "https://www.a.test/lamp/", true);
        check("https://a.test/", "https://a.test/index.html", true);
        check("https://a.test/Lamp", "https://a.test/lamp;jsessionid=7?lang=de", true);
        check("https://a.test/lamp", "https://a.test/(S(x1))/lamp", true);
        check("https://a.test/lamp?utm_source=x", "https://a.test/lamp", true);
        check("https://a.test/lamp?id=5", "https://a.test/lamp?id=5&session=9", true);
        check("https://a.test/lamp?id=5", "https://a.test/lamp?id=6", false);
        check("https://a.test/lamp?id=5", "https://a.test/lamp", false);
        check("https://a.test/lamp", "https://a.test/", false);
        check("https://a.test/lamp", "https://a.test/login?next=/lamp", false);
        check("https://a.test/lamp", "https://b.test/lamp", false);
        check("https://a.test/lamp", "https://m.a.test:8080/lamp", false);
    }

    #[test]
    fn a_redirect_is_reported_once_and_so_is_its_end() {
        let (page, home, login) = (url("https://a.test/lamp"), url("https://a.test/"), url("https://a.test/login"));
        let mut state = PageState::default();
        let rules = UrlRules::none();
        let led_to = |state: &mut PageState, address: &CanonicalUrl| state.observe_address(&page, address, &rules);
        let reported = Lead::Elsewhere { is_reported: true };
        assert_eq!(led_to(&mut state, &page), Lead::Same);
        assert_eq!([led_to(&mut state, &home), led_to(&mut state, &home)], [reported, Lead::Same]);
        assert_eq!([led_to(&mut state, &login), led_to(&mut state, &page)], [reported, Lead::Back]);
        assert!(state.end_absence() && !state.end_absence());
        assert_eq!(led_to(&mut state, &page), Lead::Same);
    }

    #[test]
    fn a_page_that_always_led_elsewhere_is_no_news() {
        let (page, home, other) = (url("https://a.test/"), url("https://a.test/en/home"), url("https://a.test/closed"));
        let (mut state, rules) = (PageState::default(), UrlRules::none());
        assert_eq!([0; 3].map(|_| state.observe_address(&page, &home, &rules)), [Lead::Same; 3]);
        assert_eq!(state.observe_address(&page, &other, &rules), Lead::Elsewhere { is_reported: true });
        assert_eq!(state.observe_address(&page, &home, &rules), Lead::Back);
        assert!(state.end_absence());
        assert_eq!(state.observe_address(&page, &page, &rules), Lead::Same);
        assert!(!state.end_absence());
    }

    #[test]
    fn a_page_that_leads_elsewhere_at_every_other_look_is_reported_a_few_times() {
        let (page, home) = (url("https://a.test/lamp"), url("https://a.test/"));
        let (mut state, rules) = (PageState::default(), UrlRules::none());
        let reported = (0..40).filter(|look| {
            let address = if look % 2 == 0 { &page } else { &home };
            state.observe_address(&page, address, &rules) == Lead::Elsewhere { is_reported: true }
        });
        assert_eq!(reported.count(), 3);
    }
}

//! Rules for different URLs of the same page, and for crawler traps.
//!
//! Neither can be recognised from a URL alone. So these are the operator's rules, with defaults that suit nearly all
//! sites. They apply to every URL that becomes a page.

use crate::url::CanonicalUrl;
use std::collections::HashMap;

/// The beginning of a session segment in a path.
const SESSION_SEGMENT: &str = "/(";
/// The name of session segments in [`UrlRules::drop_parameters`].
const SESSION_NAME: &str = "(s)";

/// Rewrites and limits applied to a URL before it becomes a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRules {
    /// Query parameters to drop. Names match in upper and lower case; a final `*` matches any suffix. Path parameters
    /// (`;name=value`) of these names are dropped too, and so are path segments of the form `(S(value))` by the name `(s)`.
    pub drop_parameters: Vec<String>,
    /// Whether parameters are sorted, because their order does not matter.
    pub sort_parameters: bool,
    /// Whether consecutive slashes are merged into one.
    pub merge_slashes: bool,
    /// Most query parameters of a page.
    pub max_parameters: usize,
    /// Most occurrences of one segment in a path. Links relative to the wrong base add one at every step.
    pub max_repeated_segments: usize,
}

/// Why a URL is considered a trap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlTrap {
    /// Too many query parameters.
    #[error("the URL has {0} query parameters, too many for a page")]
    Parameters(usize),
    /// A path segment that occurs too often.
    #[error("the path repeats the segment {0:?} too often for a page")]
    RepeatedSegment(String),
}

impl UrlRules {
    /// Rules that change no URL and reject none.
    pub const fn none() -> Self {
        Self {
            drop_parameters: Vec::new(),
            sort_parameters: false,
            merge_slashes: false,
            max_parameters: usize::MAX,
            max_repeated_segments: usize::MAX,
        }
    }

    /// Rewrites a URL.
    pub fn apply(&self, url: CanonicalUrl) -> CanonicalUrl {
        // Most links have nothing to drop.
        let has_parameters = memchr::memchr2(b'?', b';', url.as_str().as_bytes()).is_some();
        let has_slashes = self.merge_slashes && url.path().contains("//");
        let has_session = url.path().contains(SESSION_SEGMENT) && self.is_dropped(SESSION_NAME);
        if !has_parameters && !has_slashes && !has_session {
            return url;
        }
        let mut path = self.without_path_parameters(url.path());
        if has_session {
            path = path.split('/').filter(|segment| !is_session(segment)).collect::<Vec<_>>().join("/");
        }
        if self.merge_slashes {
            while path.contains("//") {
                path = path.replace("//", "/");
            }
        }
        let parameters = url.query().unwrap_or_default().split('&');
        let mut parameters: Vec<&str> =
            parameters.filter(|parameter| !parameter.is_empty() && !self.is_dropped(name(parameter))).collect();
        if self.sort_parameters {
            parameters.sort_by_key(|parameter| name(parameter));
        }
        let mark = if parameters.is_empty() { "" } else { "?" };
        let text = format!("{}://{}{path}{mark}{}", url.scheme(), url.host(), parameters.join("&"));
        if text == url.as_str() {
            return url;
        }
        // The shortened URL should always parse; keep the original otherwise.
        CanonicalUrl::parse(&text).unwrap_or(url)
    }

    /// Whether a URL looks like a trap. Meant for discovered URLs, not for those that an operator asked for.
    pub fn check(&self, url: &CanonicalUrl) -> Result<(), UrlTrap> {
        let parameters = url.query().map_or(0, |query| query.split('&').count());
        if parameters > self.max_parameters {
            return Err(UrlTrap::Parameters(parameters));
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for segment in url.path().split('/').filter(|segment| !segment.is_empty()) {
            let times = seen.entry(segment).or_default();
            *times += 1;
            if *times > self.max_repeated_segments {
                return Err(UrlTrap::RepeatedSegment(segment.to_owned()));
            }
        }
        Ok(())
    }

    fn is_dropped(&self, name: &str) -> bool {
        let is = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)),
            None => name.eq_ignore_ascii_case(pattern),
        };
        !name.is_empty() && self.drop_parameters.iter().any(is)
    }

    fn without_path_parameters(&self, path: &str) -> String {
        if !path.contains(';') {
            return path.to_owned();
        }
        let segment = |segment: &str| {
            let mut parts = segment.split(';');
            let first = parts.next().unwrap_or_default().to_owned();
            parts.filter(|part| !self.is_dropped(name(part))).fold(first, |kept, part| kept + ";" + part)
        };
        path.split('/').map(segment).collect::<Vec<_>>().join("/")
    }
}

/// Whether a segment carries a session, as servers without cookies write it: `(S(3bv2tl4g))`, `(A(…)F(…))`.
fn is_session(segment: &str) -> bool {
    let inside = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix("))"));
    let mut parts = inside.into_iter().flat_map(|inside| inside.split(')')).peekable();
    parts.peek().is_some()
        && parts.all(|part| {
            let mut signs = part.chars();
            signs.next().is_some_and(|kind| kind.is_ascii_uppercase()) && signs.next() == Some('(') && part.len() > 2
        })
}

fn name(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules() -> UrlRules {
        UrlRules {
            drop_parameters: ["utm_*", "jsessionid", "(s)"].map(str::to_owned).to_vec(),
            sort_parameters: false,
            merge_slashes: false,
            max_parameters: 3,
            max_repeated_segments: 2,
        }
    }

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    #[test]
    fn what_does_not_matter_is_left_out() {
        let check =
            |rules: &UrlRules, text: &str, expected: &str| assert_eq!(rules.apply(url(text)).as_str(), expected);
        let rules = rules();
        check(&rules, "http://a.test/x?utm_source=m&b=2&UTM_x&a=1", "http://a.test/x?b=2&a=1");
        check(&rules, "http://a.test/x?utm_source=m", "http://a.test/x");
        check(&rules, "http://a.test/x;JSESSIONID=7F?q", "http://a.test/x?q");
        check(&rules, "http://a.test/x;v=1;jsessionid=7F/y", "http://a.test/x;v=1/y");
        check(&rules, "http://a.test/(S(3bv2tl4g))/x.aspx?q", "http://a.test/x.aspx?q");
        check(&rules, "http://a.test/y/(A(9f)S(3b))/", "http://a.test/y/");
        check(&rules, "http://a.test/(S(3b)x)/(draft)/f(x))", "http://a.test/(S(3b)x)/(draft)/f(x))");
        check(&UrlRules::none(), "http://a.test/(S(3b))/x", "http://a.test/(S(3b))/x");
        check(&rules, "http://a.test//x?utm=1&b&&a=", "http://a.test//x?utm=1&b&a=");
        let strict = UrlRules { sort_parameters: true, merge_slashes: true, ..rules };
        check(&strict, "http://a.test:8080///x//y?b&a=2&a=1", "http://a.test:8080/x/y?a=2&a=1&b");
    }

    #[test]
    fn traps_are_named() {
        let rules = rules();
        assert_eq!(rules.check(&url("http://a.test/x/y/x?a&b&c")), Ok(()));
        assert_eq!(rules.check(&url("http://a.test/?a&b&c&d")), Err(UrlTrap::Parameters(4)));
        let trap = rules.check(&url("http://a.test/x/y/x/y/x"));
        assert_eq!(trap, Err(UrlTrap::RepeatedSegment("x".to_owned())));
    }

    proptest! {
        #[test]
        fn twice_is_once(path in "[a-c/;=]{0,9}", query in "(utm_|[a-c=&%;/]){0,9}", sort in any::<bool>(), merge in any::<bool>()) {
            let rules = UrlRules { sort_parameters: sort, merge_slashes: merge, ..rules() };
            if let Ok(url) = CanonicalUrl::parse(&format!("http://a.test/{path}?{query}")) {
                let once = rules.apply(url);
                prop_assert_eq!(rules.apply(once.clone()), once);
            }
        }
    }
}

//! Detects responses that are not the page at all: an error, a consent wall or a login served with status 200. English
//! phrases recognise one by itself. A text that replaces many pages is recognised in any language ([`crate::walls`]).

use crate::version::Version;

/// After this many suspect versions in a row, the next one is accepted as the page …
const MAX_HELD_VERSIONS: u8 = 3;
/// … if they have stood there for this many seconds. A page is looked at several times in the first hours of an outage.
const LEAST_HELD_S: u32 = 18 * 3_600;
/// A version with less than this share of the earlier text is suspect if it also reads like an error.
const SHRUNK_SHARE: f64 = 0.7;
/// Error pages are shorter than this.
pub(crate) const MAX_ERROR_PAGE_BYTES: usize = 3_000;
const ERRORS: &[&str] = &[
    "access denied",
    "just a moment",
    "verify you are",
    "captcha",
    "not found",
    "error 4",
    "error 5",
    "service unavailable",
    "temporarily unavailable",
    "something went wrong",
    "an error occurred",
    "redirected",
    "unusual traffic",
    "sign in to continue",
    "enable javascript",
    "forbidden",
    "too many requests",
];

/// A run of suspect versions that were not accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldVersions {
    /// Their number.
    pub(crate) versions: u8,
    /// Seconds from the first to the last of them. A time between two that is not known counts as long enough.
    pub(crate) lasted_s: u32,
}

impl HeldVersions {
    pub(crate) fn is_empty(self) -> bool {
        self.versions == 0
    }

    /// Holds another suspect version, seen `since_last_look_s` seconds after the look before. `None` if such versions
    /// have stood there for so long that this one is the page.
    pub(crate) fn hold(self, since_last_look_s: Option<i64>) -> Option<Self> {
        let since_s = since_last_look_s.map_or(LEAST_HELD_S, |since_s| since_s.clamp(0, i64::from(u32::MAX)) as u32);
        let lasted_s = if self.is_empty() { 0 } else { self.lasted_s.saturating_add(since_s) };
        let is_the_page = self.versions >= MAX_HELD_VERSIONS && lasted_s >= LEAST_HELD_S;
        (!is_the_page).then_some(Self { versions: self.versions.saturating_add(1), lasted_s })
    }
}

/// Whether a version looks like something served in the page's place. It is suspect if it is empty where there was
/// text, or if it is much shorter, short, and worded like an error. A page replaced by another text is not suspect:
/// that is news. Where parts of the page are watched, it is suspect if none of them is there. Their wording does not
/// matter: "temporarily unavailable" may be the watched text.
pub(crate) fn is_suspect(version: &Version<'_>, reference_bytes: usize) -> bool {
    let bytes = version.region_bytes;
    let shrunk = (bytes as f64) < SHRUNK_SHARE * reference_bytes as f64;
    let sounds_like_an_error = |text: &str| {
        let text = text.to_lowercase();
        ERRORS.iter().any(|error| text.contains(error))
    };
    shrunk
        && (bytes == 0
            || (!version.is_watched()
                && bytes < MAX_ERROR_PAGE_BYTES
                && version.region_texts().any(sounds_like_an_error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of versions held before one is accepted, with a look every `every_s` seconds.
    fn held(every_s: Option<i64>) -> u32 {
        let (mut held, mut count) = (HeldVersions::default(), 0);
        while let Some(next) = held.hold(every_s) {
            (held, count) = (next, count + 1);
        }
        count
    }

    #[test]
    fn what_stands_in_a_pages_place_is_the_page_after_three_versions_and_eighteen_hours() {
        assert_eq!(held(Some(6 * 3_600)), 3);
        assert_eq!(held(Some(86_400)), 3);
        assert_eq!(held(Some(3_600)), 18, "looks at short intervals do not make it so");
        assert_eq!(held(None), 3, "a recorded history may have no times");
    }

    #[test]
    fn short_errors_in_the_place_of_a_page_are_suspect() {
        let check = |html: &str, suspect| {
            let urls = page::UrlRules::none();
            let version = Version::new(html.as_bytes(), Some("text/html"), None, &urls);
            assert_eq!(is_suspect(&version, 2_000), suspect, "{html}");
        };
        check("<h1>Just a moment...</h1>", true);
        check("", true);
        check("<p>We have moved to our new address.", false);
        check(&format!("<p>Not found what you need? {}", "Ask us. ".repeat(200)), false);
    }
}

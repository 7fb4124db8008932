//! Compares two versions for people: `recrawl diff`.

use crate::change_record::ChangeRecord;
use crate::page_state::PageState;
use crate::stand_in_kind::StandIn;
use crate::verdict::VersionVerdict;
use crate::version::Version;
use serde::Serialize;

/// The differences between two versions of a page that count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// The verdict of [`PageState::observe`] on the second version after the first.
    pub verdict: VersionVerdict,
    /// 1 − resemblance.
    pub magnitude: f64,
    /// |old ∩ new| / |old ∪ new| of the shingles (E2).
    pub resemblance: f64,
    /// |old ∩ new| / |old|.
    pub containment: f64,
    /// The looks of the second version, if it is not the page at all but served in its place.
    pub looks_like: Option<StandIn>,
    /// The change in words, as the change stream reports it.
    #[serde(flatten)]
    pub record: ChangeRecord,
}

/// Compares two versions without any history of the page.
pub fn diff(old: &Version<'_>, new: &Version<'_>) -> Diff {
    let mut state = PageState::default();
    state.observe(old, None);
    let first = state.observe(new, None);
    let looks_like = first.looks_like;
    // Whoever compares two versions wants to see what differs, also if a crawl would wait.
    let judgement = if first.held { state.observe_believing(new) } else { first };
    Diff {
        looks_like,
        verdict: judgement.verdict,
        magnitude: judgement.magnitude,
        resemblance: judgement.resemblance,
        containment: judgement.containment,
        record: judgement.record,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::UrlRules;

    fn version(html: &str) -> Version<'static> {
        static URLS: UrlRules = UrlRules::none();
        Version::new(html.as_bytes(), Some("text/html"), Some("https://a.test/"), &URLS)
    }

    #[test]
    fn a_version_that_is_not_the_page_is_said_to_be_so_and_shown() {
        let old = version("<title>Visit</title><nav><a href=/a>A</a><a href=/b>B</a></nav><p>Open daily.<p>Come in.");
        let diff = diff(&old, &version("<title>Wartung</title><h1>Wartungsarbeiten</h1>"));
        assert_eq!((diff.looks_like, diff.verdict), (Some(StandIn::Maintenance), VersionVerdict::Major));
        assert!(diff.record.added.contains(&"Wartungsarbeiten".to_owned()));
    }

    #[test]
    fn texts_and_links_are_distinguished() {
        let old =
            version("<main><p>Open daily.<p>See our <a href=/x>terms of the house</a> for what that means.</main>");
        let new =
            version("<main><p>Open daily!<p>See our <a href=/y>terms of the house</a> for what that means.</main>");
        let diff = diff(&old, &new);
        let record = diff.record;
        assert_eq!((record.added, record.removed), (vec!["Open daily!".to_owned()], vec!["Open daily.".to_owned()]));
        assert_eq!(record.links_added, ["https://a.test/y"]);
        assert_eq!(record.links_removed, ["https://a.test/x"]);
        assert_eq!((diff.verdict, diff.magnitude), (VersionVerdict::Minor, 0.0));
    }
}

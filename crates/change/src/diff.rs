//! Compares two versions for people: `recrawl diff`.

use crate::judgement::Noise;
use crate::news::news_of;
use crate::page_state::PageState;
use crate::verdict::VersionVerdict;
use crate::version::{UnitKey, Version};
use document::prefix;
use serde::Serialize;

/// The most texts and the most links listed per side.
const MAX_GIVEN: usize = 64;
const MAX_TEXT_BYTES: usize = 512;

/// The differences between two versions of a page, within their regions.
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
    /// Texts of added blocks, in page order.
    pub added: Vec<String>,
    /// Texts of removed blocks, in page order.
    pub removed: Vec<String>,
    /// Canonical targets of added links.
    pub links_added: Vec<String>,
    /// Canonical targets of removed links.
    pub links_removed: Vec<String>,
}

/// Compares two versions without any history of the page.
pub fn diff(old: &Version<'_>, new: &Version<'_>) -> Diff {
    let mut state = PageState::default();
    state.observe(old, Noise::ByFrequency);
    let judgement = state.observe(new, Noise::ByFrequency);
    let keys = |version: &Version<'_>| -> Vec<UnitKey> { version.units.iter().map(|unit| unit.key).collect() };
    let (old_keys, new_keys) = (keys(old), keys(new));
    let (came, went) = news_of(&old_keys, &new_keys);
    let (added, links_added) = told(new, &came);
    let (removed, links_removed) = told(old, &went);
    Diff {
        verdict: judgement.verdict,
        magnitude: judgement.magnitude,
        resemblance: judgement.resemblance,
        containment: judgement.containment,
        added,
        removed,
        links_added,
        links_removed,
    }
}

fn told(version: &Version<'_>, keys: &[UnitKey]) -> (Vec<String>, Vec<String>) {
    let mut units: Vec<_> =
        keys.iter().filter_map(|key| version.find(key.name())).filter(|unit| !unit.is_order()).collect();
    units.sort_by_key(|unit| unit.block);
    let (mut texts, mut links): (Vec<String>, Vec<String>) = Default::default();
    for unit in units {
        let (list, text) = match version.target(unit) {
            Some(target) => (&mut links, target),
            None => (&mut texts, prefix(version.text(unit), MAX_TEXT_BYTES).to_owned()),
        };
        if list.len() < MAX_GIVEN && !list.contains(&text) {
            list.push(text);
        }
    }
    (texts, links)
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
    fn texts_and_links_are_told_apart() {
        let old =
            version("<main><p>Open daily.<p>See our <a href=/x>terms of the house</a> for what that means.</main>");
        let new =
            version("<main><p>Open daily!<p>See our <a href=/y>terms of the house</a> for what that means.</main>");
        let diff = diff(&old, &new);
        assert_eq!((diff.added, diff.removed), (vec!["Open daily!".to_owned()], vec!["Open daily.".to_owned()]));
        assert_eq!(diff.links_added, ["https://a.test/y"]);
        assert_eq!(diff.links_removed, ["https://a.test/x"]);
        assert_eq!((diff.verdict, diff.magnitude), (VersionVerdict::Minor, 0.0));
    }
}

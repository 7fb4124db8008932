//! Preferences of owners: which records they keep from a use, and which texts from readers.

use clap::Args;
use document::{Body, RobotsMeta};
use messages::{FetchResult, PageChange, PageContent, Verdict};
use page::Timestamp;
use preferences::{Preferences, Use};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The uses that an output is for. Without any, nothing is left out.
#[derive(Args, Clone, Debug, Default)]
pub struct UseSelection {
    /// Leaves out pages whose owners disallow one of these uses, with commas: search, train-ai, ai-input, index, snippet, archive,
    /// translate, image-index, train-ai-images, tdm, follow. How many is printed on stderr.
    #[arg(long = "uses", value_name = "USE", value_delimiter = ',')]
    uses: Vec<Use>,
    /// Records that were left out, also by clones.
    #[arg(skip)]
    left_out: Arc<AtomicU64>,
}

impl UseSelection {
    /// The selection for these uses.
    pub(crate) fn of(uses: Vec<Use>) -> Self {
        Self { uses, left_out: Arc::default() }
    }

    /// Whether the owner of a page disallows none of the uses at a time. One that does is counted. The preferences are asked for
    /// only if there are uses.
    pub fn allows(&self, preferences: impl FnOnce() -> Preferences, at: Timestamp) -> bool {
        if self.uses.is_empty() {
            return true;
        }
        let preferences = preferences();
        let is_allowed = self.uses.iter().all(|usage| preferences.refusal(*usage, at).is_none());
        if !is_allowed {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        is_allowed
    }

    /// Whether a change may be passed on. The end of a page always is: receivers that have the page must learn of it.
    pub fn allows_change(&self, change: &PageChange) -> bool {
        let is_end = matches!(change.verdict, Verdict::Gone | Verdict::Forgotten | Verdict::Failed);
        is_end || self.allows(|| of_list(&change.preferences), change.seen_at)
    }

    /// Whether a stored copy may be passed on at a time. It may have been seen first long before.
    pub fn allows_copy(&self, copy: &PageContent, at: Timestamp) -> bool {
        self.allows(|| of_list(&copy.preferences), at)
    }

    /// Whether a fetch may be passed on, by its body too.
    pub fn allows_fetch(&self, result: &FetchResult, product_token: &str) -> bool {
        let body = || super::unpacked_body(result);
        self.allows(|| fetch_preferences(result, body().as_deref(), product_token), result.look.fetched_at)
    }

    /// Number of records that were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// The names of the uses.
    pub fn names(&self) -> Vec<&'static str> {
        self.uses.iter().map(|usage| usage.name()).collect()
    }

    /// Prints on stderr how many records were left out.
    pub fn report(&self, noun: &str) {
        let names = self.names();
        if !names.is_empty() {
            eprintln!("recrawl: {} {noun} left out, whose owners disallow {}", self.left_out(), names.join(" or "));
        }
    }
}

fn of_list(list: &[String]) -> Preferences {
    Preferences::of_list(list.iter().map(String::as_str))
}

/// The preferences on what a fetch has brought: of robots.txt, the headers and the body. A fetch without a body says nothing of the
/// `<meta>` of the page.
pub fn fetch_preferences(result: &FetchResult, body: Option<&[u8]>, product_token: &str) -> Preferences {
    let mut preferences = of_list(&result.preferences);
    let body = body.map(|body| Body::new(body, result.content_type.as_deref(), None));
    if let Some(html) = body.as_ref().and_then(Body::html) {
        preferences.merge(&Preferences::of_meta(RobotsMeta::of_html(html).iter(), product_token));
    }
    preferences
}

/// The change as it is shown to readers: without texts of the page, if its owner disallows excerpts. They count as left out.
#[must_use]
pub fn without_snippets(change: PageChange) -> PageChange {
    without_texts(change, Use::Snippet)
}

/// The change as it is shown to a model: without texts of the page, if its owner disallows that. They count as left out.
#[must_use]
pub fn without_texts_for_models(change: PageChange) -> PageChange {
    without_texts(change, Use::AiInput)
}

/// The statements of an owner who disallows at a time that models are shown the text of a stored copy.
pub fn refusal_of_models(copy: &PageContent, at: Timestamp) -> Option<String> {
    let is_refused = !copy.preferences.is_empty() && of_list(&copy.preferences).refusal(Use::AiInput, at).is_some();
    is_refused.then(|| copy.preferences.join(", "))
}

fn without_texts(change: PageChange, usage: Use) -> PageChange {
    if change.preferences.is_empty() || of_list(&change.preferences).refusal(usage, change.seen_at).is_none() {
        return change;
    }
    let units = i32::try_from(change.changes.len().max(change.added.len() + change.removed.len())).unwrap_or(i32::MAX);
    let mut change = PageChange {
        added: Vec::new(),
        removed: Vec::new(),
        changes: Vec::new(),
        left_out: change.left_out.saturating_add(units),
        ..change
    };
    for value in &mut change.values {
        (value.text_before, value.text_after) = (None, None);
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::PublishedChange;
    use messages::body::{Packing, pack};
    use messages::{FetchOutcome, FetchRequest, Look};
    use page::CanonicalUrl;

    fn of_uses(uses: &[Use]) -> UseSelection {
        UseSelection { uses: uses.to_vec(), ..UseSelection::default() }
    }

    fn change(preferences: &[&str]) -> PageChange {
        let [much, _] = PublishedChange::example_records();
        PageChange { preferences: preferences.iter().map(|text| (*text).to_owned()).collect(), ..much }
    }

    #[test]
    fn a_change_is_left_out_and_counted_if_one_of_the_uses_is_disallowed() {
        let selection = of_uses(&[Use::TrainAi, Use::Search]);
        let clone = selection.clone();
        for (preferences, expected) in [
            (&[][..], true),
            (&["train-ai=y@content-usage"], true),
            (&["ai-input=n@content-signal"], true),
            (&["train-ai=n@content-usage"], false),
            (&["train-ai=y@content-usage", "tdm=n@tdm-reservation"], false),
            (&["index=n@meta:robots"], false),
            (&["unavailable-after=2020-01-01T00:00:00Z@x-robots-tag"], false),
            (&["unavailable-after=2090-01-01T00:00:00Z@x-robots-tag"], true),
        ] {
            assert_eq!(selection.allows_change(&change(preferences)), expected, "{preferences:?}");
        }
        assert_eq!((selection.left_out(), clone.left_out()), (4, 4));
        assert!(of_uses(&[]).allows_change(&change(&["train-ai=n@content-usage"])), "no use is asked for");
        let gone = PageChange { verdict: Verdict::Gone, ..change(&["search=n@content-usage"]) };
        assert!(selection.allows_change(&gone), "it has nothing of the page");
    }

    #[test]
    fn a_fetch_is_judged_by_its_body_too() {
        let selection = of_uses(&[Use::Search]);
        let fetched = |html: &str, preferences: &[&str]| {
            let request = FetchRequest::first(CanonicalUrl::parse("http://a.test/").expect("a URL"), Timestamp::MIN);
            let look = Look::new(request, FetchOutcome::Fetched, Timestamp::from_secs(1_800_000_000));
            FetchResult {
                body: Some(pack(html.as_bytes(), Packing::Lz4)),
                content_type: Some("text/html".to_owned()),
                preferences: preferences.iter().map(|text| (*text).to_owned()).collect(),
                ..FetchResult::new(look)
            }
        };
        assert!(selection.allows_fetch(&fetched("<p>Words", &[]), "OurBot"));
        assert!(selection.allows_fetch(&fetched("<meta name=otherbot content=noindex>", &[]), "OurBot"));
        assert!(!selection.allows_fetch(&fetched("<meta name=ourbot content=noindex>", &[]), "OurBot"));
        assert!(!selection.allows_fetch(&fetched("<p>Words", &["search=n@robots.txt:content-usage"]), "OurBot"));
        assert_eq!(selection.left_out(), 2);
    }

    #[test]
    fn a_change_without_snippets_says_that_something_changed_and_not_what() {
        assert_eq!(without_snippets(change(&["index=n@meta:robots"])), change(&["index=n@meta:robots"]));
        let hidden = without_snippets(change(&["snippet=n@meta:robots"]));
        assert!(hidden.added.is_empty() && hidden.removed.is_empty() && hidden.changes.is_empty());
        assert_eq!((hidden.left_out, hidden.title.as_deref()), (2, Some("Desk lamp")));
        assert_eq!(hidden.values[0].number_after, Some(19.9));
    }
}

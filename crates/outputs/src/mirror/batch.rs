//! Updates of pages, and the documents that indexes get of them.

use crate::record::PublishedContent;
use page::HostName;
use serde::Serialize;
use std::collections::HashMap;

/// Most updates of a batch.
const MOST_UPDATES: usize = 500;
/// Bytes of text after which a batch is full. Servers refuse requests of 10 to 100 MB.
const FULL_BYTES: usize = 4 << 20;
/// About the bytes of a document besides its text.
const DOCUMENT_BYTES: usize = 1 << 10;

/// The document of a page is to be replaced, or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageUpdate {
    content: PublishedContent,
}

/// A document, as every engine gets it.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    /// The id of the page: 32 hexadecimal digits.
    id: &'a str,
    url: &'a str,
    host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<&'a str>,
    seen_at: String,
    verdict: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    truncated: bool,
    preferences: &'a [String],
}

impl PageUpdate {
    /// The update that makes an index equal to this content. A page without a text has no document.
    pub fn new(content: PublishedContent) -> Self {
        Self { content }
    }

    /// The id of the page.
    pub fn id(&self) -> &str {
        &self.content.page_id
    }

    /// The content that the index is to have.
    pub fn content(&self) -> &PublishedContent {
        &self.content
    }

    /// A number that grows with each version of the page and with its end, in microseconds since 1970. The number of the version
    /// does not serve: it begins anew with a page that was forgotten.
    pub fn order(&self) -> i64 {
        self.content.seen_at.as_micros().max(0)
    }

    /// Whether the index is to have no document of the page.
    pub fn is_deletion(&self) -> bool {
        self.content.deleted || self.content.text.is_none()
    }

    /// The document. `None` if the page is to have none.
    pub(super) fn document(&self) -> Option<Document<'_>> {
        let content = &self.content;
        let text = content.text.as_deref().filter(|_| !content.deleted)?;
        Some(Document {
            id: &content.page_id,
            url: content.url.as_str(),
            host: HostName::of(&content.url).as_str().to_owned(),
            title: content.title.as_deref(),
            text,
            language: content.language.as_deref(),
            content_type: content.content_type.as_deref(),
            published: content.published.as_deref(),
            modified: content.modified.as_deref(),
            seen_at: content.seen_at.to_string(),
            verdict: &content.verdict,
            version: content.version,
            truncated: content.truncated,
            preferences: &content.preferences,
        })
    }

    fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        length(&self.content.text) + length(&self.content.title) + DOCUMENT_BYTES
    }
}

/// The documents among updates, and the ids of the pages that are to have none.
pub(super) fn parted<'a>(updates: &[&'a PageUpdate]) -> (Vec<Document<'a>>, Vec<&'a str>) {
    let documents = updates.iter().filter_map(|update| update.document()).collect();
    let deletions = updates.iter().filter(|update| update.is_deletion()).map(|update| update.id()).collect();
    (documents, deletions)
}

/// Updates that are sent together, one for each page. Their order among themselves means nothing.
#[derive(Debug, Default)]
pub struct Batch {
    updates: Vec<PageUpdate>,
    places: HashMap<String, usize>,
    bytes: usize,
}

impl Batch {
    /// Adds an update. It takes the place of an earlier one of the same page.
    pub fn push(&mut self, update: PageUpdate) {
        self.bytes += update.bytes();
        match self.places.get(update.id()) {
            Some(place) => self.updates[*place] = update,
            None => {
                self.places.insert(update.id().to_owned(), self.updates.len());
                self.updates.push(update);
            }
        }
    }

    /// Whether it is to be sent before anything is added.
    pub fn is_full(&self) -> bool {
        self.updates.len() >= MOST_UPDATES || self.bytes >= FULL_BYTES
    }

    /// Whether it has no updates.
    pub fn is_empty(&self) -> bool {
        self.updates.is_empty()
    }

    /// The updates.
    pub fn updates(&self) -> &[PageUpdate] {
        &self.updates
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use page::{CanonicalUrl, Timestamp};

    /// A page of this name with a text, seen in this second.
    pub(in crate::mirror) fn page(name: &str, second: i64) -> PageUpdate {
        let url = CanonicalUrl::parse(&format!("https://docs.test/{name}")).expect("it is a URL");
        PageUpdate::new(PublishedContent {
            title: Some(format!("The \"{name}\"")),
            text: Some(format!("A line.\nAnother of {name}.")),
            version: Some(2),
            language: Some("en".to_owned()),
            preferences: vec!["search=y@content-usage".to_owned()],
            ..PublishedContent::bare(url, "minor".to_owned(), Timestamp::from_secs(second))
        })
    }

    /// The same page when it is gone.
    pub(in crate::mirror) fn end(name: &str, second: i64) -> PageUpdate {
        let url = page(name, second).content.url;
        let content = PublishedContent::bare(url, "gone".to_owned(), Timestamp::from_secs(second));
        PageUpdate::new(PublishedContent { deleted: true, ..content })
    }

    #[test]
    fn a_batch_has_the_last_update_of_each_page_and_is_full_by_number_or_bytes() {
        let mut batch = Batch::default();
        assert!(batch.is_empty());
        for update in [page("a", 1), page("b", 2), end("a", 3), page("c", 4), end("c", 5), page("c", 6)] {
            batch.push(update);
        }
        assert_eq!(batch.updates(), [end("a", 3), page("b", 2), page("c", 6)]);
        assert!(!batch.is_full());
        (0..497).for_each(|number| batch.push(page(&number.to_string(), 1)));
        assert!(batch.is_full());
        let mut batch = Batch::default();
        let mut long = page("long", 1);
        long.content.text = Some("x".repeat(FULL_BYTES));
        batch.push(long);
        assert!(batch.is_full());
    }

    #[test]
    fn a_page_without_a_text_has_no_document() {
        let document = serde_json::to_value(page("a", 1).document()).expect("it is JSON");
        assert_eq!(document["id"], page("a", 1).id());
        assert_eq!(
            (&document["host"], &document["seen_at"]),
            (&"docs.test".into(), &"1970-01-01T00:00:01.000Z".into())
        );
        assert_eq!((&document["version"], &document["verdict"]), (&2.into(), &"minor".into()));
        assert!(document.get("published").is_none(), "what is unknown is left out: {document}");
        let without_copy = PageUpdate::new(PublishedContent { text: None, ..page("a", 1).content });
        for update in [end("a", 1), without_copy] {
            assert!(update.is_deletion() && update.document().is_none());
        }
        let before_1970 = page("a", -5);
        assert_eq!(before_1970.order(), 0);
    }
}

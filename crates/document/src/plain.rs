//! Extracts text and links from plain text and JSON.

use crate::content_kind::ContentKind;
use crate::page_text::{MAX_LINKS, MAX_TEXT_BYTES, PageText};
use crate::text::{Gap, TextBuilder};
use serde_json::Value;

/// Reads text with each line as a block.
pub fn lines(kind: ContentKind, text: &str) -> PageText {
    let mut builder = TextBuilder::new(MAX_TEXT_BYTES);
    builder.push_lines(text);
    let (text, truncated) = builder.finish();
    PageText { text, truncated, ..PageText::empty(kind) }
}

/// Reads JSON. All of it is text. The main text is the string values, one line each; those that are addresses become
/// links instead. Invalid JSON is read as lines.
pub fn json(text: &str) -> (PageText, String) {
    let mut page = lines(ContentKind::Json, text);
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        let main_text = page.text.clone();
        return (page, main_text);
    };
    let named = |name: &str| document.get(name).and_then(Value::as_str);
    page.title = named("title").or_else(|| named("name")).unwrap_or_default().trim().to_owned();
    let mut main_text = TextBuilder::new(MAX_TEXT_BYTES);
    values(&document, &mut page, &mut main_text);
    (page, main_text.finish().0)
}

/// Recursion is safe: serde_json limits the depth of a document.
fn values(value: &Value, page: &mut PageText, main_text: &mut TextBuilder) {
    match value {
        Value::String(text) if text.starts_with("https://") || text.starts_with("http://") => {
            if page.links.len() < MAX_LINKS {
                page.links.push(text, "");
            } else {
                page.truncated = true;
            }
        }
        Value::String(text) => {
            main_text.push(text);
            main_text.separate(Gap::LINE);
        }
        Value::Array(items) => items.iter().for_each(|item| values(item, page, main_text)),
        Value::Object(members) => members.values().for_each(|member| values(member, page, main_text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_text_of_json_are_its_strings() {
        let (page, main_text) =
            json(r#"{"title": "T", "id": 7, "items": [{"url": "https://a.test/1", "text": "One  two"}]}"#);
        assert_eq!((page.title.as_str(), main_text.as_str()), ("T", "One two\nT"));
        assert_eq!(page.links.iter().map(|link| link.href).collect::<Vec<_>>(), ["https://a.test/1"]);
        let (page, main_text) = json("{\"a\":");
        assert_eq!((page.text, main_text), ("{\"a\":".to_owned(), "{\"a\":".to_owned()));
    }
}

//! Reads the dates of publication and last modification of a page.
//!
//! There are three sources, the more deliberate first: JSON-LD (`datePublished`), `<meta>` (`article:published_time`
//! and its many variants), and `<time>` or `itemprop` in the page itself.

use document::attributes::attribute;
use document::markup::StartTag;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use serde::Serialize;
use serde_json::Value;

/// The dates of a page, in RFC 3339. A date without a time means its first second; a time without an offset is UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageDates {
    pub published: Option<String>,
    pub modified: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct DateReader {
    json_ld: PageDates,
    meta: PageDates,
    marked: PageDates,
    first_time: Option<String>,
}

const PUBLISHED: [&str; 18] = [
    "article:published_time",
    "article:published",
    "article.published",
    "og:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dc.date.created",
    "dcterms.date",
    "dcterms.created",
    "dcterms.issued",
    "pubdate",
    "publish_date",
    "publish-date",
    "publishdate",
    "parsely-pub-date",
    "sailthru.date",
];
const MODIFIED: [&str; 9] = [
    "article:modified_time",
    "article:modified",
    "article.updated",
    "og:updated_time",
    "datemodified",
    "dc.date.modified",
    "dcterms.modified",
    "last-modified",
    "lastmod",
];
/// The depth to which JSON-LD is searched.
const DEEPEST: usize = 16;

impl DateReader {
    /// Reads a `<meta>`.
    pub(crate) fn meta(&mut self, tag: &StartTag<'_>) {
        let named = ["property", "name", "itemprop", "http-equiv"];
        let Some(name) = named.iter().find_map(|named| attribute(tag.attributes(), named)) else { return };
        let name = name.trim().to_ascii_lowercase();
        let place = if PUBLISHED.contains(&name.as_str()) {
            &mut self.meta.published
        } else if MODIFIED.contains(&name.as_str()) {
            &mut self.meta.modified
        } else {
            return;
        };
        if place.is_none() {
            *place = attribute(tag.attributes(), "content").and_then(|content| rfc3339(&content));
        }
    }

    /// Reads any other element that may carry a date.
    pub(crate) fn element(&mut self, tag: &StartTag<'_>) {
        let Some(written) = attribute(tag.attributes(), "datetime").or_else(|| attribute(tag.attributes(), "content"))
        else {
            return;
        };
        let property = attribute(tag.attributes(), "itemprop").unwrap_or_default();
        let classes = attribute(tag.attributes(), "class").unwrap_or_default();
        let place =
            if property.contains("datePublished") || has_attribute(tag, "pubdate") || classes.contains("published") {
                &mut self.marked.published
            } else if property.contains("dateModified") || classes.contains("updated") {
                &mut self.marked.modified
            } else if tag.name.as_bytes() == b"time" {
                &mut self.first_time
            } else {
                return;
            };
        if place.is_none() {
            *place = rfc3339(&written);
        }
    }

    /// Reads the text of a `<script type="application/ld+json">`.
    pub(crate) fn json_ld(&mut self, script: &str) {
        if let Ok(value) = serde_json::from_str::<Value>(script.trim()) {
            self.json_ld_value(&value, 0);
        }
    }

    fn json_ld_value(&mut self, value: &Value, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.json_ld_value(value, depth + 1)),
            Value::Object(members) => {
                let date = |name: &str| members.get(name).and_then(Value::as_str).and_then(rfc3339);
                let dates = &mut self.json_ld;
                dates.published = dates.published.take().or_else(|| date("datePublished"));
                dates.modified = dates.modified.take().or_else(|| date("dateModified"));
                members.values().for_each(|value| self.json_ld_value(value, depth + 1));
            }
            _ => {}
        }
    }

    pub(crate) fn finish(self) -> PageDates {
        let published = self.json_ld.published.or(self.meta.published).or(self.marked.published).or(self.first_time);
        PageDates { published, modified: self.json_ld.modified.or(self.meta.modified).or(self.marked.modified) }
    }
}

fn has_attribute(tag: &StartTag<'_>, name: &str) -> bool {
    attribute(tag.attributes(), name).is_some()
}

/// A date as pages write it, converted to RFC 3339. Accepts the usual forms of ISO 8601, and RFC 2822.
pub(crate) fn rfc3339(written: &str) -> Option<String> {
    let written = written.trim();
    // `2020/01/31` and `2020-01-31T10:00:00 +0100` differ from ISO 8601 by a character.
    let dashed = written.replacen('/', "-", 2);
    let joined = dashed.replace(" +", "+").replace(" -", "-");
    [written, &dashed, &joined].into_iter().find_map(iso).or_else(|| {
        let zoned = rfc2822::DateTimeParser::new().parse_zoned(written).ok()?;
        Some(shown(zoned.timestamp(), zoned.offset()))
    })
}

fn iso(written: &str) -> Option<String> {
    let pieces = Pieces::parse(written).ok()?;
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    let time = pieces.date().to_datetime(pieces.time().unwrap_or_default());
    Some(shown(offset.to_timestamp(time).ok()?, offset))
}

fn shown(time: Timestamp, offset: Offset) -> String {
    if offset == Offset::UTC { time.to_string() } else { time.display_with_offset(offset).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::markup::{Token, tokens};
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_as_pages_write_them() {
        let check = |written, expected| assert_eq!(rfc3339(written).as_deref(), expected, "{written}");
        check("2020-01-31", Some("2020-01-31T00:00:00Z"));
        check("2020/01/31", Some("2020-01-31T00:00:00Z"));
        check("20200131", Some("2020-01-31T00:00:00Z"));
        check(" 2020-01-31T10:20:30.5+01:00 ", Some("2020-01-31T10:20:30.5+01:00"));
        check("2020-01-31 10:20", Some("2020-01-31T10:20:00Z"));
        check("2020-01-31 10:20:00 -0500", Some("2020-01-31T10:20:00-05:00"));
        check("2020-01-31T10:20:30Z", Some("2020-01-31T10:20:30Z"));
        check("Fri, 31 Jan 2020 10:20:30 GMT", Some("2020-01-31T10:20:30Z"));
        check("yesterday", None);
        check("2020-13-01", None);
        check("", None);
    }

    fn dates(html: &str) -> (Option<String>, Option<String>) {
        let mut reader = DateReader::default();
        for token in tokens(html) {
            match token {
                Token::Start(tag) if tag.name.as_bytes() == b"meta" => reader.meta(&tag),
                Token::Start(tag) => reader.element(&tag),
                Token::Text(text, document::markup::TextKind::Script) => reader.json_ld(text),
                _ => {}
            }
        }
        let dates = reader.finish();
        (dates.published, dates.modified)
    }

    #[test]
    fn the_more_deliberate_place_wins() {
        let day = |day: u32| Some(format!("2020-01-{day:02}T00:00:00Z"));
        let json = "<script>{\"@graph\":[{\"datePublished\":\"2020-01-01\",\"dateModified\":\"2020-01-02\"}]}</script>";
        let meta = "<meta property=article:published_time content=2020-01-03><meta name=LastMod content=2020-01-04>";
        let marked = "<time datetime=2020-01-07>x</time><time itemprop=datePublished datetime=2020-01-05></time>\
                      <span itemprop=dateModified content=2020-01-06>";
        assert_eq!(dates(&format!("{marked}{meta}{json}")), (day(1), day(2)));
        assert_eq!(dates(&format!("{marked}{meta}<script>no json</script>")), (day(3), day(4)));
        assert_eq!(dates(marked), (day(5), day(6)));
        assert_eq!(dates("<time datetime=2020-01-07>x</time><p content=2020-01-08>"), (day(7), None));
    }

    proptest! {
        #[test]
        fn any_text_is_a_date_or_none(written in "[0-9]{0,4}[-/]?[0-9]{0,2}[-/]?[0-9]{0,2}[T ]?[0-9:.]{0,10}[ Z+-]?\\PC{0,6}") {
            if let Some(date) = rfc3339(&written) {
                prop_assert_eq!(rfc3339(&date), Some(date.clone()));
            }
        }
    }
}

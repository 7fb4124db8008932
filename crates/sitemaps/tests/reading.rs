//! Files of every kind, good and bad.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use proptest::prelude::*;
use sitemaps::{MAX_BYTES, MAX_ENTRIES, Sitemap, SitemapEntry, SitemapKind, read};
use std::io::Write;

fn urls(sitemap: &Sitemap) -> Vec<&str> {
    sitemap.entries.iter().map(|entry| entry.url.as_str()).collect()
}

#[test]
fn a_sitemap_has_pages_with_what_is_said_of_them() {
    let file = r#"<?xml version="1.0" encoding="UTF-8"?>
        <sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i" xmlns:news="n">
        <sm:url><sm:loc> https://a.test/?a=1&amp;b=2&c=3 </sm:loc><sm:lastmod>2026-11-21</sm:lastmod>
          <sm:changefreq>Daily</sm:changefreq><sm:priority>0.8</sm:priority>
          <image:image><image:loc>https://a.test/picture</image:loc></image:image></sm:url>
        <sm:url><sm:loc><![CDATA[https://a.test/2]]></sm:loc>
          <news:news><news:publication_date>2026-11-20T10:00:00+01:00</news:publication_date></news:news></sm:url>
        <sm:url><sm:loc>https://a.test/3</sm:loc><sm:lastmod>soon</sm:lastmod><sm:changefreq>often</sm:changefreq>
          <sm:priority>7</sm:priority></sm:url>
        <sm:url><sm:lastmod>2026</sm:lastmod></sm:url>
        </sm:urlset>"#;
    let sitemap = read(file.as_bytes());
    assert_eq!(sitemap.kind, Some(SitemapKind::Urlset));
    assert_eq!(urls(&sitemap), ["https://a.test/?a=1&b=2&c=3", "https://a.test/2", "https://a.test/3"]);
    let first = SitemapEntry {
        url: "https://a.test/?a=1&b=2&c=3".to_owned(),
        last_modified: Some("2026-11-21T00:00:00Z".to_owned()),
        last_modified_open_s: 86_400,
        change_frequency: Some("daily".to_owned()),
        priority: Some(0.8),
    };
    assert_eq!(sitemap.entries[0], first);
    assert_eq!(sitemap.entries[1].last_modified.as_deref(), Some("2026-11-20T09:00:00Z"));
    let said = sitemap.problems.join("\n");
    for word in ["soon", "often", "priority \"7\"", "an entry has no URL"] {
        assert!(said.contains(word), "{word} in {said}");
    }
}

#[test]
fn an_index_lists_sitemaps() {
    let file = b"<sitemapindex><sitemap><loc>https://a.test/1.xml.gz</loc><lastmod>2026-11</lastmod></sitemap>\
        <sitemap>\n https://a.test/2.xml\n</sitemap></sitemapindex>";
    let sitemap = read(file);
    assert_eq!(
        (sitemap.kind, urls(&sitemap)),
        (Some(SitemapKind::Index), vec!["https://a.test/1.xml.gz", "https://a.test/2.xml"])
    );
    assert_eq!(sitemap.entries[0].last_modified.as_deref(), Some("2026-11-01T00:00:00Z"));
    assert_eq!(sitemap.problems, Vec::<String>::new());
}

#[test]
fn feeds_list_their_items() {
    let rss = b"<rss><channel><link>https://a.test/</link><item><title>x</title><link>https://a.test/1</link>\
        <pubDate>Sat, 21 Nov 2026 08:00:00 GMT</pubDate></item>\
        <item><guid>https://a.test/2</guid></item></channel></rss>";
    let rss = read(rss);
    assert_eq!((rss.kind, urls(&rss)), (Some(SitemapKind::Rss), vec!["https://a.test/1", "https://a.test/2"]));
    assert_eq!(rss.entries[0].last_modified.as_deref(), Some("2026-11-21T08:00:00Z"));

    let atom = br#"<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.test/"/><entry>
        <link rel="edit" href="https://a.test/edit"/><link href="https://a.test/1?a&amp;b"/><updated>2026-11-21T08:00:00Z</updated>
        <published>2020-01-01T00:00:00Z</published></entry><entry><id>https://a.test/2</id>
        <published>2020-01-01T00:00:00Z</published></entry></feed>"#;
    let atom = read(atom);
    assert_eq!((atom.kind, urls(&atom)), (Some(SitemapKind::Atom), vec!["https://a.test/1?a&b", "https://a.test/2"]));
    let dates: Vec<_> = atom.entries.iter().map(|entry| entry.last_modified.as_deref().unwrap()).collect();
    assert_eq!(dates, ["2026-11-21T08:00:00Z", "2020-01-01T00:00:00Z"]);

    let json = br#"{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"https://a.test/1",
        "date_published":"2026-11-21T08:00:00Z"},{"id":"https://a.test/2"},{"id":"7"}]}"#;
    let json = read(json);
    assert_eq!((json.kind, urls(&json)), (Some(SitemapKind::JsonFeed), vec!["https://a.test/1", "https://a.test/2"]));
    assert_eq!(json.problems, ["item 3 has no url"]);
}

#[test]
fn lists_marks_encodings_and_gzip_are_read_through() {
    let list = read(b"\xef\xbb\xbfhttps://a.test/1\r\n\r\nHTTP://a.test/2\nnonsense\n");
    assert_eq!((list.kind, urls(&list)), (Some(SitemapKind::Text), vec!["https://a.test/1", "HTTP://a.test/2"]));
    assert!(list.problems[0].contains("line 4"));
    let latin = read(
        b"<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>https://a.test/caf\xe9</loc></url></urlset>",
    );
    assert_eq!(urls(&latin), ["https://a.test/café"]);

    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"https://a.test/1\n").unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(urls(&read(&packed)), ["https://a.test/1"]);
    assert!(read(&packed[..packed.len() - 6]).problems[0].contains("gzip"));
}

#[test]
fn what_is_none_says_why() {
    for (file, word) in [
        (&b""[..], "empty"),
        (b"  \n", "empty"),
        (b"<html><body>Not found</body></html>", "<html>"),
        (b"{\"items\":", "JSON"),
        (b"{}", "items"),
        (b"hello", "not XML, not JSON"),
        (b"<!-- nothing -->", "the XML has no element"),
    ] {
        let sitemap = read(file);
        assert!(sitemap.kind.is_none() && sitemap.entries.is_empty());
        assert!(sitemap.problems.iter().any(|problem| problem.contains(word)), "{word}: {:?}", sitemap.problems);
    }
    let cut = read(b"<urlset><url><loc>https://a.test/1</loc></url><url><loc>https://a.test/2");
    assert_eq!(urls(&cut), ["https://a.test/1"]);
    assert!(!cut.problems.is_empty());
}

#[test]
fn bombs_are_bounded() {
    // A kilobyte that unpacks to 100 MB, entities in entities, and elements without end.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..100 {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let bomb = read(&packed.finish().unwrap());
    assert!(bomb.problems.iter().any(|problem| problem.contains(&MAX_BYTES.to_string())), "{:?}", bomb.problems);
    let laughs = br#"<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><urlset><url><loc>https://a.test/&b;</loc></url></urlset>"#;
    assert_eq!(urls(&read(laughs)), ["https://a.test/&b;"]);
    assert!(read("<urlset>".repeat(100_000).as_bytes()).problems[0].contains("deep"));
    let many = "https://a.test/1\n".repeat(MAX_ENTRIES + 5);
    let many = read(many.as_bytes());
    assert_eq!(many.entries.len(), MAX_ENTRIES);
    assert!(many.problems[0].contains("rest"));
}

proptest! {
    #[test]
    fn any_bytes_come_to_something(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let sitemap = read(&bytes);
        prop_assert!(sitemap.kind.is_some() || !sitemap.problems.is_empty());
    }

    #[test]
    fn any_elements_come_to_something(
        parts in proptest::collection::vec("</?(urlset|url|loc|feed|entry|link href='x'|item|rss|lastmod)/?>|&(amp;)?|x|]]>|<!\\[CDATA\\[", 0..30)
    ) {
        let text = format!("<{}", parts.concat());
        let sitemap = read(text.as_bytes());
        prop_assert!(sitemap.kind.is_some() || !sitemap.problems.is_empty(), "{text}");
    }
}

/// All files of the conformance corpus list pages, or say why not.
#[test]
fn the_files_of_the_corpus_parse_or_fail_with_a_reason() {
    let Some(archive) = corpora::unpack("conformance/sitemaps.tar.zst") else { return };
    let mut files = 0;
    for (name, bytes) in archive {
        let sitemap = read(&bytes);
        println!("{name}: {:?}, {} entries, {:?}", sitemap.kind, sitemap.entries.len(), sitemap.problems);
        assert!(!sitemap.entries.is_empty() || !sitemap.problems.is_empty(), "{name}");
        files += 1;
    }
    assert!(files >= 13);
}

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
        is_sitemap: false,
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
fn addresses_are_relative_to_the_bases_around_them() {
    let atom = b"<feed xml:base='https://a.test/blog/'><entry xml:base='2026/'><link href='one'/></entry>\
        <entry><link href='two'/></entry><entry><link xml:base='/root/' href='three'/></entry>\
        <entry><link href='https://b.test/four'/></entry></feed>";
    let expected =
        ["https://a.test/blog/2026/one", "https://a.test/blog/two", "https://a.test/root/three", "https://b.test/four"];
    assert_eq!(urls(&read(atom)), expected);
    let rss = b"<rss xml:base='/blog/'><channel><item><link>one</link></item><item xml:base='http://['><link>two</link></item>";
    let address = page::CanonicalUrl::parse("https://a.test/feed/all").unwrap();
    let at = sitemaps::read_at(rss, Some(&address));
    assert_eq!(urls(&at), ["https://a.test/blog/one", "https://a.test/blog/two"]);
    assert_eq!(urls(&read(rss)), ["one", "two"], "the base is relative to an unknown address");
}

#[test]
fn a_long_base_does_not_multiply_a_file() {
    let base = format!("https://a.test/{}/", "x".repeat(1_900));
    let file = format!("<feed xml:base='{base}'>{}", "<entry><link href='y'/></entry>".repeat(10_000));
    let sitemap = read(file.as_bytes());
    let bytes: usize = sitemap.entries.iter().map(|entry| entry.url.len()).sum();
    assert!(bytes <= 4 * file.len() + (64 << 10) && sitemap.further_problems > 0, "{bytes}");
}

#[test]
fn entries_count_whatever_is_around_them() {
    let check = |file: &str, expected: &[(&str, bool)]| {
        let sitemap = read(file.as_bytes());
        let found: Vec<_> = sitemap.entries.iter().map(|entry| (entry.url.as_str(), entry.is_sitemap)).collect();
        assert_eq!((found, sitemap.problems), (expected.to_vec(), vec![]), "{file}");
    };
    check("<urlset><loc>/1</loc><loc>/2</loc><lastmod>2026</lastmod></urlset>", &[("/1", false), ("/2", false)]);
    check(
        "<urlset><url><loc>/1</loc></url><loc>/2</loc><url><loc>/3</loc></url></urlset>",
        &[("/1", false), ("/2", false), ("/3", false)],
    );
    check("<urlset><entry><loc>/1</loc></entry><entry><loc>/2</loc></entry></urlset>", &[("/1", false), ("/2", false)]);
    check("<urlset><sitemap><loc>/1</loc></sitemap></urlset>", &[("/1", true)]);
    check(
        "<sitemapindex><url><loc>/1</loc></url><sitemap><loc>/2</loc></sitemap></sitemapindex>",
        &[("/1", false), ("/2", true)],
    );
    check("<sitemapindex><loc>/1</loc></sitemapindex>", &[("/1", true)]);
    check("<urlset><url><loc>/1</loc><i:image><i:loc>/no</i:loc></i:image></url></urlset>", &[("/1", false)]);
    check("<urlset><i:image><i:loc>/no</i:loc></i:image></urlset>", &[]);
    check("<rss><channel><entry><link>/1</link></entry></channel></rss>", &[("/1", false)]);
    check("<feed><item><link href='/1'/></item></feed>", &[("/1", false)]);
}

#[test]
fn dates_and_ids_of_other_things_do_not_count() {
    let film = read(
        b"<urlset><url><loc>/1</loc><v:video><v:publication_date>2026</v:publication_date></v:video></url></urlset>",
    );
    assert_eq!(film.entries[0].last_modified, None);
    let id = |word: &str| {
        let file =
            format!("<rss><channel><item><title>t</title><guid{word}>http://a.test/1</guid></item></channel></rss>");
        urls(&read(file.as_bytes())).len()
    };
    assert_eq!([id(""), id(" isPermaLink='true'"), id(" isPermaLink=\"False\"")], [1, 1, 0]);
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

//! Inputs of ours, of the kinds of the reports.

use crate::site::answer;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const SENTENCES: &str = "<p>The ferry leaves the northern pier at seven every morning but on the first of May.</p>\
    <p>Those who want to take a bicycle along should be there a quarter of an hour earlier.</p>";

pub(super) fn html(head: &str, body: &str) -> Vec<u8> {
    format!("<!doctype html><html><head><title>Ferry</title>{head}</head><body>{body}{SENTENCES}</body></html>").into()
}

pub(super) fn page_with_coding(coding: &str) -> Vec<u8> {
    answer(&format!("200 OK\r\ncontent-type: text/html\r\ncontent-encoding: {coding}"), html("", "<a href=/x>X</a>"))
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

fn packed(body: &[u8]) -> Vec<u8> {
    answer("200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip", body)
}

/// Cut within a paragraph.
pub(super) fn two_members() -> Vec<u8> {
    let page = html("", "<a href=/first>1</a>");
    let (first, second) = page.split_at(page.len() - 60);
    packed(&[gzip(first), gzip(&[second, b"<a href=/last>2</a>"].concat())].concat())
}

pub(super) fn without_trailer() -> Vec<u8> {
    let whole = gzip(&html("", "<a href=/x>X</a>"));
    packed(&whole[..whole.len() - 8])
}

/// "привет" in the query and "путь" in the path, in windows-1251.
pub(super) fn windows_1251() -> Vec<u8> {
    let links = b"<a href='/s?q=\xef\xf0\xe8\xe2\xe5\xf2'>A</a><a href='/\xef\xf3\xf2\xfc'>B</a>";
    [b"<title>t</title><meta charset=windows-1251>", &links[..], SENTENCES.as_bytes()].concat()
}

/// The declaration stands behind two kilobytes, the text in ISO 8859-15.
pub(super) fn late_charset() -> Vec<u8> {
    let style = format!("<style>{}</style><meta charset=iso-8859-15>", "b{color:red}\n".repeat(200));
    [style.as_bytes(), b"<title>t</title><p>100 \xa4 \xbcuvre \xb8\xb8</p>", SENTENCES.as_bytes()].concat()
}

pub(super) fn canonical(target: &str, link: &str) -> Vec<u8> {
    html(&format!("<link rel=canonical href=\"{target}\">"), &format!("<a href={link}>on</a>"))
}

pub(super) fn urlset(entries: &str) -> Vec<u8> {
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>").into()
}

pub(super) fn rss(further: &str, items: &str) -> Vec<u8> {
    format!("<rss version=\"2.0\"{further}><channel><title>t</title>{items}</channel></rss>").into()
}

pub(super) fn dated(entries: &[(&str, &str)]) -> String {
    let entry =
        |(path, date): &(&str, &str)| format!("<url><loc>http://map.test{path}</loc><lastmod>{date}</lastmod></url>");
    entries.iter().map(entry).collect()
}

/// In the order of the dates that are right.
const NEARLY_DATES: [&str; 7] = [
    "Mon, 25 Jan 2026 1:35:20 -0800",
    "Thu, 02 Sep 2021 20:0:0 Z",
    "Tue, 02 Jun 2026 08:00:00 +00:00",
    "Tuesday, 02 Jun 2026 08:00:00 GMT",
    "Tue, 02 June 2026 08:00:00 GMT",
    "Tue, 02 Jun 2026 08:00:00",
    "Wed, 02 Sept 2026 08:00:00 GMT",
];

pub(super) fn nearly_dated_items() -> String {
    let item = |(number, date): (usize, &&str)| {
        format!("<item><link>http://feed.test/{number}</link><pubDate>{date}</pubDate></item>")
    };
    NEARLY_DATES.iter().enumerate().map(item).collect()
}

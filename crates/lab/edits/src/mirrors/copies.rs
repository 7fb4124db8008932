//! Copies of real pages under another host name, with the differences that real mirrors show.

use super::RealPage;
use super::markup::{map_links, map_texts, without_elements};
use crate::draw::Draw;
use page::CanonicalUrl;
use std::collections::BTreeMap;

/// A page made of a real one.
pub(crate) struct MadePage {
    pub(crate) body: Vec<u8>,
    pub(crate) content_type: &'static str,
}

/// A way to copy a page. `None` where the page does not allow it.
pub(crate) struct CopyKind {
    pub(crate) name: &'static str,
    /// Whether the copy says the same as the page.
    pub(crate) is_mirror: bool,
    pub(crate) make: fn(&RealPage, &CanonicalUrl, Draw) -> Option<MadePage>,
}

const UTF_8: &str = "text/html; charset=utf-8";
/// Links and words that a mirror has of its own.
const OWN_LINKS: usize = 12;

pub(crate) const COPIES: &[CopyKind] = &[
    copy("as it is", |page, _, _| made(page.html.clone())),
    copy("links absolute, to the mirror", |page, mirror, _| absolute(page, mirror)),
    copy("links absolute, to the original", |page, _, _| absolute(page, &page.address)),
    copy("menu and notice of the mirror added", |page, mirror, _| made(in_frame(&page.html, mirror))),
    copy("header, menu and footer replaced", |page, mirror, _| {
        made(in_frame(&without_elements(&page.html, &["header", "nav", "footer"]), mirror))
    }),
    copy("one link in ten missing", |page, _, draw| made(with_links_missing(page, 10, draw)?)),
    copy("one link in four missing", |page, _, draw| made(with_links_missing(page, 4, draw)?)),
    copy("an earlier version", |page, _, _| made(page.earlier.clone()?)),
    copy("read in another charset", |page, _, _| {
        let body = page.html.clone().into_bytes();
        (!page.html.is_ascii()).then_some(MadePage { body, content_type: "text/html; charset=windows-1252" })
    }),
    copy("a name replaced throughout", |page, _, _| made(with_name_replaced(page)?)),
    copy("comments of its own", |page, _, draw| made(with_comments(page, draw))),
    CopyKind {
        name: "the same links, other words",
        is_mirror: false,
        make: |page, _, _| made(map_texts(&page.html, in_other_words)),
    },
];

const fn copy(name: &'static str, make: fn(&RealPage, &CanonicalUrl, Draw) -> Option<MadePage>) -> CopyKind {
    CopyKind { name, is_mirror: true, make }
}

fn made(html: String) -> Option<MadePage> {
    Some(MadePage { body: html.into_bytes(), content_type: UTF_8 })
}

/// All links resolved against an address, as programs that save pages write them.
fn absolute(page: &RealPage, address: &CanonicalUrl) -> Option<MadePage> {
    made(map_links(&page.html, |_, link| {
        let (reference, fragment) = link.split_at(link.find('#').unwrap_or(link.len()));
        let is_relative = !reference.is_empty() && !reference.contains(':');
        let target = is_relative.then(|| address.join(&htmlless(reference)).ok()).flatten();
        target.map_or_else(|| Some(link.to_owned()), |target| Some(format!("{}{fragment}", target.as_str())))
    }))
}

/// A reference as a browser reads it from an attribute.
fn htmlless(reference: &str) -> String {
    reference.replace("&amp;", "&")
}

/// The page between a menu and a notice of the mirror.
fn in_frame(html: &str, mirror: &CanonicalUrl) -> String {
    let links: String =
        (0..OWN_LINKS).map(|number| format!("<li><a href=\"/about/{number}\">Part {number}</a></li>")).collect();
    let host = mirror.host();
    let menu = format!("<nav><a href=\"/\">{}</a><ul>{links}</ul></nav>", host.as_str());
    let notice = format!(
        "<footer><p>This copy is kept by the friends of {} and is renewed every night. Please report broken pages to \
         the <a href=\"/desk\">desk of the mirror</a>, not to the authors.</p></footer>",
        host.as_str()
    );
    let lower = html.to_ascii_lowercase();
    let open = lower.find("<body").and_then(|at| Some(at + lower[at..].find('>')? + 1)).unwrap_or(0);
    let close = lower.rfind("</body").filter(|close| *close >= open).unwrap_or(html.len());
    [&html[..open], &menu, &html[open..close], &notice, &html[close..]].concat()
}

fn with_links_missing(page: &RealPage, one_in: usize, draw: Draw) -> Option<String> {
    let mut missing = 0;
    let html = map_links(&page.html, |number, link| {
        let is_missing = draw.nth(number).below(one_in) == 0;
        missing += usize::from(is_missing);
        (!is_missing).then(|| link.to_owned())
    });
    (missing > 0).then_some(html)
}

/// The most frequent name of the page is another: a mirror under a brand of its own.
fn with_name_replaced(page: &RealPage) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    map_texts(&page.html, |text| {
        let words = text.split(|sign: char| !sign.is_alphanumeric());
        let names = words.filter(|word| word.chars().count() >= 3 && word.starts_with(char::is_uppercase));
        names.for_each(|name| *counts.entry(name.to_owned()).or_default() += 1);
        text.to_owned()
    });
    let (name, _) = counts.into_iter().filter(|(_, count)| *count >= 5).max_by_key(|(_, count)| *count)?;
    Some(map_texts(&page.html, |text| text.replace(&name, "Quillmark")))
}

/// Readers of the mirror say something below the page: a fifth of its length.
fn with_comments(page: &RealPage, draw: Draw) -> String {
    let mut length = 0;
    map_texts(&page.html, |text| {
        length += text.len();
        text.to_owned()
    });
    let words =
        ["copy", "thanks", "works", "here", "again", "since", "update", "why", "never", "read", "again", "good"];
    let mut comments = String::new();
    for number in 0..length / 5 / 60 {
        let mut draw = draw.nth(number);
        let said: Vec<&str> = (0..11).filter_map(|_| draw.pick(&words).copied()).collect();
        comments += &format!("<p>{}</p>", said.join(" "));
    }
    let close = page.html.to_ascii_lowercase().rfind("</body").unwrap_or(page.html.len());
    [&page.html[..close], &comments, &page.html[close..]].concat()
}

/// Each word is written backwards, so that the text shares no words with the page and has its shape.
fn in_other_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = Vec::new();
    for sign in text.chars() {
        if sign.is_alphabetic() {
            word.push(sign);
        } else {
            out.extend(word.drain(..).rev());
            out.push(sign);
        }
    }
    out.extend(word.into_iter().rev());
    out
}

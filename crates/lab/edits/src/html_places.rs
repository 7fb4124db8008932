//! Finds the places of an HTML page.
//!
//! A place counts unless an element around it says that it is furniture: by its name, its role, or a word of its class
//! or id. That is no rule of the detector's, on purpose: the benchmark must not agree with it by construction.

use crate::places::{Place, Places, Spot};
use document::attributes::{attribute, attributes_of};
use document::markup::{StartTag, TextKind, Token, tokens};
use document::tag_name::TagName;
use std::ops::Range;

/// The shortest paragraph, and the longest cell, in bytes of text.
const MIN_PARAGRAPH: usize = 40;
const MAX_CELL: usize = 300;
/// The shortest paragraph behind which a block may stand.
const MIN_ANCHOR: usize = 80;
/// The fewest items of a list or rows of a table.
const MIN_GROUP: usize = 4;

/// Words of a class or an id that name furniture.
const FURNITURE: &[&str] = &[
    "nav",
    "navbar",
    "navigation",
    "menu",
    "footer",
    "cookie",
    "cookies",
    "banner",
    "sidebar",
    "breadcrumb",
    "breadcrumbs",
    "consent",
    "modal",
    "popup",
    "share",
    "social",
    "widget",
    "promo",
    "related",
    "toc",
    "pagination",
    "skip",
    "search",
    "login",
    "newsletter",
    "subscribe",
    "ad",
    "ads",
    "hidden",
    "sr",
    "tooltip",
    "dropdown",
    "toolbar",
    "header",
];

struct Element {
    name: TagName,
    outer: Range<usize>,
    inner: Range<usize>,
    parent: usize,
    /// Inside furniture, or furniture itself.
    framed: bool,
    /// Inside an element that no block may be put into.
    nested: bool,
    in_article: bool,
    in_link: bool,
    has_list: bool,
    text: usize,
    link_text: usize,
    href: Option<Range<usize>>,
}

struct TextNode {
    range: Range<usize>,
    element: usize,
    behind: usize,
}

struct Scan<'a> {
    html: &'a str,
    elements: Vec<Element>,
    texts: Vec<TextNode>,
    open: Vec<usize>,
    /// The end of the last token.
    cursor: usize,
    behind: usize,
    title: Option<Range<usize>>,
}

pub(crate) fn html_places(html: &str) -> Places {
    let root = Element {
        name: TagName::UNKNOWN,
        outer: 0..html.len(),
        inner: 0..html.len(),
        parent: 0,
        framed: false,
        nested: false,
        in_article: false,
        in_link: false,
        has_list: false,
        text: 0,
        link_text: 0,
        href: None,
    };
    let mut scan =
        Scan { html, elements: vec![root], texts: Vec::new(), open: vec![0], cursor: 0, behind: 0, title: None };
    for token in tokens(html) {
        match token {
            Token::Text(text, kind) => scan.text(text, kind),
            Token::Start(tag) => scan.start(tag),
            Token::End(name) => scan.end(name),
        }
    }
    scan.pop_to(1, html.len(), html.len());
    scan.places()
}

impl Scan<'_> {
    fn text(&mut self, text: &str, kind: TextKind) {
        let start = text.as_ptr() as usize - self.html.as_ptr() as usize;
        let range = start..start + text.len();
        self.cursor = range.end;
        let element = self.top();
        if kind == TextKind::RcData && self.elements[element].name.as_bytes() == b"title" && self.title.is_none() {
            self.title = Some(range);
        } else if kind == TextKind::Data && text.contains(char::is_alphanumeric) {
            let length = text.trim().len();
            self.texts.push(TextNode { range, element, behind: self.behind });
            self.behind += length;
            let in_link = self.elements[element].in_link;
            for &open in &self.open {
                self.elements[open].text += length;
                self.elements[open].link_text += usize::from(in_link) * length;
            }
        }
    }

    fn top(&self) -> usize {
        *self.open.last().expect("the root stays open")
    }

    fn start(&mut self, tag: StartTag<'_>) {
        let place = tag.attributes_place();
        let start = self.html[..place.start].rfind('<').unwrap_or(place.start);
        self.cursor = place.end + 1;
        let name = tag.name.as_bytes();
        self.close_implied(name, start);
        let parent = self.top();
        let outer = &self.elements[parent];
        let framed = outer.framed || is_furniture(&tag, outer.in_article);
        let parent_name = outer.name.as_bytes();
        let nests = matches!(
            parent_name,
            b"li" | b"td" | b"th" | b"a" | b"dt" | b"label" | b"figure" | b"summary" | b"details"
        );
        let element = Element {
            name: tag.name,
            outer: start..self.cursor,
            inner: self.cursor..self.cursor,
            parent,
            framed,
            nested: outer.nested || nests,
            in_article: outer.in_article || name == b"article",
            in_link: outer.in_link || name == b"a",
            has_list: false,
            text: 0,
            link_text: 0,
            href: if name == b"a" { self.href(&tag) } else { None },
        };
        self.elements.push(element);
        if matches!(name, b"ul" | b"ol" | b"table" | b"dl") {
            for &open in &self.open {
                self.elements[open].has_list = true;
            }
        }
        if !tag.name.is_void() && !tag.is_self_closing() {
            self.open.push(self.elements.len() - 1);
        }
    }

    /// The place of a link's target, if that is an address of a page and written without references.
    fn href(&self, tag: &StartTag<'_>) -> Option<Range<usize>> {
        let (_, value) = attributes_of(tag.attributes()).find(|(name, _)| name.eq_ignore_ascii_case("href"))?;
        let start = value.as_ptr() as usize - self.html.as_ptr() as usize;
        let leads = value.len() > 3 && !value.contains(['#', '&', '?']) && !value.contains("mailto:");
        (leads && !value.starts_with("javascript")).then_some(start..start + value.len())
    }

    fn close_implied(&mut self, name: &[u8], at: usize) {
        let (ends, stops): (&[&[u8]], &[&[u8]]) = match name {
            b"li" => (&[b"li"], &[b"ul", b"ol", b"menu"]),
            b"dt" | b"dd" => (&[b"dt", b"dd"], &[b"dl"]),
            b"td" | b"th" => (&[b"td", b"th"], &[b"tr", b"table"]),
            b"tr" => (&[b"tr"], &[b"table"]),
            b"tbody" | b"thead" | b"tfoot" => (&[b"tbody", b"thead", b"tfoot"], &[b"table"]),
            b"option" => (&[b"option"], &[b"select"]),
            b"p" | b"div" | b"ul" | b"ol" | b"table" | b"h1" | b"h2" | b"h3" | b"h4" | b"section" | b"pre" | b"dl" => {
                (&[b"p"], &[b"div", b"td", b"li", b"section", b"dd", b"button"])
            }
            _ => return,
        };
        for depth in (1..self.open.len()).rev() {
            let open = self.elements[self.open[depth]].name.as_bytes();
            if ends.contains(&open) {
                return self.pop_to(depth, at, at);
            }
            if stops.contains(&open) {
                return;
            }
        }
    }

    fn end(&mut self, name: TagName) {
        let start = self.html[self.cursor..].find("</").map_or(self.html.len(), |length| self.cursor + length);
        self.cursor = self.html[start..].find('>').map_or(self.html.len(), |length| start + length + 1);
        let depth = (1..self.open.len()).rev().find(|&depth| self.elements[self.open[depth]].name == name);
        if let Some(depth) = depth {
            self.pop_to(depth, start, self.cursor);
        }
    }

    fn pop_to(&mut self, depth: usize, inner_end: usize, outer_end: usize) {
        for (popped, &index) in self.open[depth..].iter().enumerate() {
            self.elements[index].inner.end = inner_end;
            self.elements[index].outer.end = if popped == 0 { outer_end } else { inner_end };
        }
        self.open.truncate(depth);
    }

    fn places(self) -> Places {
        let mut places = Places { title: self.title.clone(), ..Places::default() };
        for element in self.elements.iter().skip(1).filter(|element| element.outer.end > element.inner.start) {
            let name = element.name.as_bytes();
            match name {
                b"main" | b"article" => places.beside = places.beside.max(Some(element.outer.end)),
                b"body" => places.end = Some(element.inner.end),
                _ => {}
            }
            if element.framed {
                continue;
            }
            let is_prose = 2 * element.link_text < element.text;
            let place = match name {
                b"p" if element.text >= MIN_PARAGRAPH && is_prose => Place::Paragraph,
                b"h1" | b"h2" | b"h3" | b"h4" if is_prose => Place::Heading,
                b"li" if !element.has_list && is_prose => Place::Item,
                b"td" if !element.has_list && is_prose && element.text <= MAX_CELL => Place::Cell,
                b"caption" | b"figcaption" if is_prose => Place::Caption,
                _ => continue,
            };
            let inside = |text: &TextNode| element.inner.contains(&text.range.start);
            let from = self.texts.partition_point(|text| text.range.start < element.inner.start);
            let texts: Vec<&TextNode> = self.texts[from..].iter().take_while(|text| inside(text)).collect();
            let Some(first) = texts.first() else { continue };
            let behind = first.behind;
            let plain = |text: &&&TextNode| {
                let of = &self.elements[text.element];
                !of.in_link && !of.framed
            };
            let texts = texts.iter().filter(plain).map(|text| text.range.clone()).collect();
            if place == Place::Paragraph && !element.nested && element.text >= MIN_ANCHOR {
                places.anchors.push(element.outer.end);
            }
            places.spots.push(Spot { place, texts, behind });
        }
        places.lists = self.groups(&[b"ul", b"ol"], b"li");
        places.tables = self.groups(&[b"tbody", b"table"], b"tr");
        places.targets = self.targets();
        places
    }

    /// The children of each list or table, if they are enough, and are not for the most part links.
    fn groups(&self, parents: &[&[u8]], child: &[u8]) -> Vec<Vec<Range<usize>>> {
        let mut groups: Vec<(usize, Vec<Range<usize>>)> = Vec::new();
        for element in self.elements.iter().skip(1) {
            let fits = element.name.as_bytes() == child && !element.framed && element.text > 8;
            if !fits || 2 * element.link_text >= element.text || element.outer.end <= element.inner.start {
                continue;
            }
            if !parents.contains(&self.elements[element.parent].name.as_bytes()) || element.has_list {
                continue;
            }
            match groups.iter_mut().rev().take(8).find(|(parent, _)| *parent == element.parent) {
                Some((_, group)) => group.push(element.outer.clone()),
                None => groups.push((element.parent, vec![element.outer.clone()])),
            }
        }
        groups.into_iter().map(|(_, group)| group).filter(|group| group.len() >= MIN_GROUP).collect()
    }

    fn targets(&self) -> Vec<Range<usize>> {
        let in_prose = |element: &&Element| {
            let mut outer = &self.elements[element.parent];
            while !matches!(outer.name.as_bytes(), b"p" | b"li" | b"td" | b"div" | b"body" | b"dd") && outer.parent != 0
            {
                outer = &self.elements[outer.parent];
            }
            outer.name.as_bytes() == b"p" && 2 * outer.link_text < outer.text
        };
        let counted = self.elements.iter().filter(|element| !element.framed && element.text > 0);
        counted.filter(in_prose).filter_map(|element| element.href.clone()).collect()
    }
}

fn is_furniture(tag: &StartTag<'_>, in_article: bool) -> bool {
    let name = tag.name.as_bytes();
    let by_name = match name {
        b"header" => !in_article,
        b"nav" | b"footer" | b"aside" | b"form" | b"dialog" | b"button" | b"select" | b"template" | b"svg"
        | b"object" | b"canvas" | b"noscript" | b"iframe" | b"label" | b"summary" => true,
        _ => false,
    };
    if by_name || matches!(name, b"html" | b"body" | b"main" | b"article") {
        return by_name;
    }
    let text = tag.attributes();
    let is_word = |word: &str| FURNITURE.contains(&word);
    attributes_of(text).any(|(name, value)| match name.to_ascii_lowercase().as_str() {
        "class" | "id" => {
            value.to_ascii_lowercase().split(|character: char| !character.is_ascii_alphanumeric()).any(is_word)
        }
        "hidden" => true,
        "aria-hidden" => value == "true",
        "style" => value.contains("none") || value.contains("hidden"),
        _ => false,
    }) || attribute(text, "role").is_some_and(|role| {
        ["navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "complementary", "button"]
            .contains(&role.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_what_a_reader_counts() {
        let long = "We keep what you give us for as long as the law asks, and no longer than that; then it goes.";
        let html = format!(
            "<title>Terms</title><nav><p>{long}</p></nav><div class='cookie-box'><p>{long}</div><main><h1>Rules</h1><p>{long} \
             <a href=/more>More</a><p>{long}<ul><li>alpha beta<li>gamma delta<li>epsilon too<li>zeta and eta</ul>\
             <table><tr><td>A<td>12</table></main><footer>x</footer>"
        );
        let places = html_places(&html);
        let count = |place| places.spots_of(place).count();
        assert_eq!((count(Place::Paragraph), count(Place::Heading)), (2, 1));
        assert_eq!((count(Place::Item), count(Place::Cell)), (4, 2));
        assert_eq!(places.title.map(|range| &html[range]), Some("Terms"));
        assert_eq!(places.targets.iter().map(|range| &html[range.clone()]).collect::<Vec<_>>(), ["/more"]);
        let items: Vec<&str> = places.lists[0].iter().map(|range| &html[range.clone()]).collect();
        assert_eq!(items, ["<li>alpha beta", "<li>gamma delta", "<li>epsilon too", "<li>zeta and eta"]);
        assert_eq!(places.anchors.len(), 2);
        assert!(html[places.anchors[0]..].starts_with("<p>"), "{}", &html[places.anchors[0]..]);
        assert!(places.beside.is_some_and(|at| html[..at].ends_with("</main>")));
    }
}

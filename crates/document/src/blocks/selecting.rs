//! Reads the blocks of a page by a selection: follows the page's elements, and reports the current place to the reader of
//! the blocks.

use crate::blocks::block::{Blocks, StatedForm};
use crate::blocks::fact_owner::FactOwner;
use crate::blocks::microdata::PageFacts;
use crate::blocks::reader::BlockReader;
use crate::markup::{StartTag, TakeTokens, TextKind};
use crate::select::{OpenElements, OwnedFact, Selected, Selection};
use crate::tag_name::TagName;
use std::ops::Range;
use std::sync::OnceLock;
use wide_bytes::Wide;

pub(super) struct SelectingReader<'a, 's> {
    html: &'a str,
    selection: &'s Selection,
    elements: OpenElements<'a, 's>,
    reader: BlockReader<'a>,
}

impl<'a> TakeTokens<'a> for SelectingReader<'a, '_> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        if kind == TextKind::Data {
            self.elements.text(&self.html[place.clone()]);
            self.reader.turn(self.elements.selected());
        }
        self.reader.text(wide, place, kind);
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        let was_watched = self.elements.selected().watched;
        self.elements.start(tag);
        let selected = self.elements.selected();
        self.reader.turn(selected);
        self.reader.start(wide, tag);
        if selected.watched && !was_watched {
            self.reader.begin_watching();
        }
        self.elements.end_void();
        self.reader.turn(self.elements.selected());
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        self.reader.end(name);
        self.elements.end(name);
        self.reader.turn(self.elements.selected());
    }
}

impl<'a, 's> SelectingReader<'a, 's> {
    pub(super) fn new(html: &'a str, selection: &'s Selection, address: Option<&'a str>) -> Self {
        let reader = BlockReader::new(html).at(address);
        Self { html, selection, elements: OpenElements::new(selection), reader }
    }

    /// Ends the page. Only now it is known which of its things is the main one, whose facts the names of facts select.
    pub(super) fn finish(self) -> Blocks {
        let (mut reader, selection) = (self.reader, self.selection);
        reader.end_page();
        let PageFacts { list, things, .. } = &mut reader.facts;
        for fact in list.iter_mut() {
            // The element of a fact may be selected by the name of the fact, which says nothing yet.
            fact.selected.watched &= fact.selected.fact_part.is_none();
            let named = OwnedFact { property: fact.property(), owner: FactOwner::Main, thing: fact.thing, things };
            fact.selected.ignored |= selection.ignores(&named);
        }
        let as_facts = std::mem::take(&mut reader.selected_as_fact);
        let mut blocks = Blocks { found: self.elements.found, ..reader.with_facts() };
        if selection.has_facts() {
            select_facts(&mut blocks, selection, &as_facts);
        }
        blocks
    }
}

/// Watches the facts that the names of a selection mean. `as_facts` are the blocks that only such names select so far.
fn select_facts(blocks: &mut Blocks, selection: &Selection, as_facts: &[(usize, u16)]) {
    let mut owners = blocks.owners().to_vec();
    let Blocks { list, stated, things, found, .. } = blocks;
    selection.forget_facts(found);
    let has_main = selection.with_main(stated.iter().zip(&owners).map(|(stated, owner)| (stated.property(), *owner)));
    for (stated, owner) in stated.iter().zip(&mut owners) {
        let named = OwnedFact { property: stated.property(), owner: *owner, thing: stated.thing, things };
        let block = &mut list[stated.block];
        match stated.form {
            StatedForm::Data(_) => {
                let part = selection.watches_fact(&named, &has_main, found);
                block.watched |= part.is_some();
                block.watch_part = part.or(block.watch_part.filter(|_| block.watched));
            }
            // The selector of its element is that of all things; other selectors hold for any.
            StatedForm::Shown => {
                let is_as_fact = as_facts.binary_search_by_key(&stated.block, |(block, _)| *block).is_ok();
                if is_as_fact {
                    let part = selection.watches_fact(&named, &has_main, found);
                    block.watched &= part.is_some();
                    block.watch_part = part;
                }
            }
        }
        if selection.chooses(&named) {
            *owner = FactOwner::Chosen;
        }
    }
    let is_stated = |block: usize| stated.binary_search_by_key(&block, |stated| stated.block).is_ok();
    for (_, part) in as_facts.iter().filter(|(block, _)| !is_stated(*block)) {
        found[usize::from(*part)] += 1;
    }
    blocks.owners = OnceLock::from(owners);
}

impl BlockReader<'_> {
    /// Enters a place with this selection. Watched parts have blocks of their own.
    #[inline]
    pub(super) fn turn(&mut self, selected: Selected) {
        if selected == self.selected {
            return;
        }
        if selected.watched != self.selected.watched {
            self.flush();
            self.watched_from = self.open.len();
        }
        self.selected = selected;
        self.skip_or_not();
    }

    /// The element of the last tag is watched, and the elements around it are not.
    pub(super) fn begin_watching(&mut self) {
        self.watched_from = self.open.len();
        self.skip_or_not();
    }

    pub(super) fn skip_or_not(&mut self) {
        let is_hidden = match self.selected.watched {
            true => self.open.iter().skip(self.watched_from).any(|open| open.hides),
            false => self.hidden,
        };
        self.skipped = is_hidden || self.selected.ignored;
    }
}

#[cfg(test)]
mod tests {
    use crate::Body;
    use crate::blocks::Blocks;
    use crate::select::{PartUse, Selection};
    use proptest::prelude::*;

    fn selection(watch: &[&str], ignore: &[&str]) -> Selection {
        let mut selection = Selection::default();
        watch.iter().for_each(|part| selection.add(PartUse::Watch, part).expect("the part is right"));
        ignore.iter().for_each(|part| selection.add(PartUse::Ignore, part).expect("the part is right"));
        selection
    }

    fn read(kind: &str, body: &str, selection: &Selection) -> Blocks {
        Body::new(body.as_bytes(), Some(kind), None).with_selection(selection).blocks()
    }

    /// The texts, watched ones in brackets, and how often each part was found.
    fn reported(kind: &str, body: &str, selection: &Selection) -> (String, Vec<u32>) {
        let blocks = read(kind, body, selection);
        let text = |block| match blocks.text(block) {
            text if block.watched => format!("[{text}]"),
            text => text.to_owned(),
        };
        (blocks.list.iter().map(text).collect::<Vec<_>>().join("|"), blocks.found.clone())
    }

    #[test]
    fn what_is_watched_has_blocks_of_its_own() {
        let check = |watch: &[&str], html: &str, expected: (&str, &[u32])| {
            let (text, found) = reported("text/html", html, &selection(watch, &[]));
            assert_eq!((text.as_str(), found.as_slice()), expected, "{html}");
        };
        check(&[".p"], "<p>Only <b class=p>5 €</b> a piece", ("Only|[5 €]|a piece", &[1]));
        check(&[".p"], "<p class=p>Only <b>5 €</b><p>more", ("[Only 5 €]|more", &[1]));
        check(&[".p"], "<ul><li>a<li class=p>b<ul><li>c</ul>d<li>e</ul>", ("a|[b]|[c]|[d]|e", &[1]));
        check(&[".p"], "<p>a<p hidden>b<p hidden class=p>c<div hidden>d<i class=p>e</i></div>f", ("a|[c]|[e]|f", &[2]));
        check(&[".p"], "<div class=p>a<i hidden>b</i><canvas>c</canvas><p>d</div>", ("[a]|[d]", &[1]));
        check(&[".p"], "<svg><text class=p>c</text><text>d</text></svg>", ("[c]|d", &[1]));
        check(&[".p"], "<div hidden>a<img class=p src=/b.png></div>", ("[]", &[1]));
        check(&["img"], "<p>a<img src=/b.png>c", ("a|[]|c", &[1]));
        check(&["title", "meta"], "<title>t</title><meta name=build content=7><p>x", ("x|[t]|[build: 7]", &[1, 1]));
        check(&["b", "#no"], "<p>a<b>b</b>", ("a|[b]", &[1, 0]));
        check(&["input"], "<p>a<input value=7>b", ("a|[7]|b", &[1]));
    }

    #[test]
    fn what_is_ignored_is_not_read_and_wins() {
        let check = |watch: &[&str], ignore: &[&str], html: &str, expected: &str| {
            assert_eq!(reported("text/html", html, &selection(watch, ignore)).0, expected, "{html}");
        };
        check(&[], &["i"], "<p>a <i>b</i> c<p>d", "a c|d");
        check(&[], &[".x"], "<title class=x>t</title><div class=x><p>a<a href=/b>c</a><img src=d.png></div>e", "e");
        check(&["p"], &["i"], "<p>a <i>b</i> c", "[a c]");
        check(&["b"], &["p"], "<p>a<b>b</b></p>c", "c");
        check(
            &[],
            &["fact:price"],
            "<meta itemprop=price content=5><meta itemprop=version content=1>x",
            "x|version: 1",
        );
    }

    #[test]
    fn facts_are_watched_by_name() {
        let html = "<script type=application/ld+json>{\"name\":\"A\",\"price\":5,\"availability\":\"InStock\"}</script>\
                    <p>Now <b itemprop=price>6 €</b><meta property=og:price:amount content=7><title>T</title>";
        let (text, found) = reported("text/html", html, &selection(&["fact:price"], &[]));
        assert_eq!(text, "Now|[6 €]|[A price: 5]|A availability: InStock|[og:price:amount: 7]|T");
        assert_eq!(found, [3]);
        assert_eq!(reported("text/html", html, &selection(&["fact:title", "fact:date"], &[])).1, [1, 0]);
    }

    #[test]
    fn values_are_watched_by_pointer() {
        let json = "{\"a\":{\"b\":1,\"c/d\":[2,{\"e\":3}]},\"f\":4}";
        let check = |watch: &[&str], ignore: &[&str], expected: (&str, &[u32])| {
            let (text, found) = reported("application/json", json, &selection(watch, ignore));
            assert_eq!((text.as_str(), found.as_slice()), expected, "{watch:?} {ignore:?}");
        };
        check(&["/a/b"], &[], ("[a: b: 1]|a: c/d: 2|a: c/d: e: 3|f: 4", &[1]));
        check(&["/a/c~1d/1"], &[], ("a: b: 1|a: c/d: 2|[a: c/d: e: 3]|f: 4", &[1]));
        check(&["/a/*/*/e", "/x"], &[], ("a: b: 1|a: c/d: 2|[a: c/d: e: 3]|f: 4", &[1, 0]));
        check(&["/a"], &["/a/c~1d"], ("[a: b: 1]|f: 4", &[1, 1]));
        check(&["#a"], &[], ("a: b: 1|a: c/d: 2|a: c/d: e: 3|f: 4", &[0]));
        let blocks = read("application/json", "{broken", &selection(&["/a"], &[]));
        assert!(blocks.is_watched && blocks.found == [0], "invalid JSON is read as lines, of which none is watched");
    }

    #[test]
    fn hostile_pages_are_read_in_linear_time() {
        let selectors =
            [".a .b > .c ~ .d + .e", "div div div div div", "[x*=y]:not(.z)", "li:nth-child(2n+1) b", "#q, p, *"];
        let selection = selection(&selectors, &["i i i"]);
        let pieces =
            ["<div class='a b'>", "<b>", "<p>", "<i>", "</div>", "<table><td>", "<svg><g/>", "<a href=x>", "</b>x"];
        for piece in pieces {
            let html = piece.repeat(300_000 / piece.len());
            drop(read("text/html", &html, &selection));
        }
        let names = format!("<div class='{}'>", "a b c ".repeat(50_000)).repeat(2);
        drop(read("text/html", &names, &selection));
        drop(read("text/html", &format!("<p {}>", "x=y ".repeat(100_000)), &selection));
    }

    proptest! {
        #[test]
        fn watching_moves_no_text_and_selecting_nothing_changes_nothing(
            soup in "(<(div|p|b|i|a href=x|table|tr|td|li|ul|title|select|option|br|form|h1|span itemprop=price)( class=w)?>|\
                     </(div|p|b|i|a|table|tr|td|li|ul|title|select|form|h1|span|body|br)>|x|yz |<br/>){0,40}"
        ) {
            let plain = Blocks::of_html(&soup);
            let nothing = Blocks::of_selected_html(&soup, &selection(&["#none"], &[]));
            prop_assert_eq!(plain.all_text(), nothing.all_text());
            prop_assert_eq!(plain.list.len(), nothing.list.len());
            let watched = Blocks::of_selected_html(&soup, &selection(&[".w"], &[]));
            let characters = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(characters(plain.all_text()), characters(watched.all_text()));
            prop_assert!(watched.found[0] > 0 || watched.list.iter().all(|block| !block.watched));
        }
    }
}

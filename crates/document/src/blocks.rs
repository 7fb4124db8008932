//! Cuts an HTML page into blocks: the smallest pieces that are laid out on their own. Each has its text, its links, its
//! place in the tree, and the part of the page it is in.
//!
//! Wrongly nested markup is treated as browsers do where that moves text from one block to another, and no further.

mod block;
pub(crate) mod fact_owner;
mod facts;
mod fields;
mod kinds;
mod mentions;
mod microdata;
#[cfg(test)]
mod owner_tests;
mod owners;
mod parted;
mod pieces;
mod reader;
mod same_page;
mod selecting;
mod shown;
mod tags;
pub(crate) mod things;

pub use crate::blocks::block::{Block, BlockElement, BlockRole, Blocks, StatedForm, StatedValue};
pub use crate::blocks::fact_owner::FactOwner;
pub use crate::blocks::facts::ValueKind;
pub use crate::blocks::fields::{CHECKED, STRUCK};
pub use crate::blocks::tags::{ALT_END, ALT_START};
pub use crate::blocks::things::ThingKey;

use crate::blocks::reader::BlockReader;
use crate::blocks::selecting::SelectingReader;
use crate::markup::{TakeTokens, hand_tokens};
use crate::select::{Selected, Selection};
use std::ops::Range;

impl Blocks {
    /// Reads the blocks of an HTML page.
    pub fn of_html(html: &str) -> Self {
        Self::of_html_at(html, None)
    }

    /// Reads the blocks of an HTML page that was fetched from this address.
    pub(crate) fn of_html_at(html: &str, address: Option<&str>) -> Self {
        let mut reader = BlockReader::new(html).at(address);
        hand_tokens(html, &mut reader);
        reader.finish()
    }

    /// Reads the blocks of an HTML page by a selection.
    pub fn of_selected_html(html: &str, selection: &Selection) -> Self {
        Self::of_selected_html_at(html, selection, None)
    }

    /// Reads the blocks of an HTML page that was fetched from this address by a selection.
    pub(crate) fn of_selected_html_at(html: &str, selection: &Selection, address: Option<&str>) -> Self {
        let mut reader = SelectingReader::new(html, selection, address);
        hand_tokens(html, &mut reader);
        reader.finish()
    }

    /// Reads the blocks of an HTML page, and hands its tokens to another reader in the same pass.
    pub(crate) fn and_other_of_html<'a, R: TakeTokens<'a>>(
        html: &'a str,
        address: Option<&'a str>,
        other: R,
    ) -> (Self, R) {
        let mut readers = (BlockReader::new(html).at(address), other);
        hand_tokens(html, &mut readers);
        (readers.0.finish(), readers.1)
    }

    /// Builds blocks from the lines of a text. Lines without an empty line between them are the rows of one list.
    pub fn of_lines(text: &str) -> Self {
        let mut reader = BlockReader::new("");
        let mut is_in_list = false;
        for line in text.lines() {
            let is_empty = line.trim().is_empty();
            if !is_empty && !is_in_list {
                reader.list_of_pieces();
            }
            is_in_list = !is_empty;
            reader.piece(None, line);
        }
        let mut blocks = reader.finish();
        let Self { text, list, .. } = &mut blocks;
        for block in list {
            block.heading_rank = markdown_rank(&text[block.text.clone()]);
        }
        blocks
    }

    /// Builds blocks from separate pieces of text, for formats other than HTML. A piece may have a hash that names its
    /// place.
    pub fn of_pieces<'a>(pieces: impl IntoIterator<Item = (Option<u64>, &'a str)>) -> Self {
        Self::of_selected_pieces(pieces.into_iter().map(|(path, text)| (path, text, Selected::default())))
    }

    /// Builds blocks from rows of pieces, each with the hash that names its place.
    pub(crate) fn of_rows(rows: &[Vec<(u64, String)>]) -> Self {
        let mut reader = BlockReader::new("");
        for row in rows {
            reader.row_of_pieces();
            row.iter().for_each(|(path, text)| reader.piece(Some(*path), text));
        }
        reader.finish()
    }

    /// Builds blocks from pieces, each with its place, its text, and the uses of the place.
    pub(crate) fn of_selected_pieces<'a>(pieces: impl IntoIterator<Item = (Option<u64>, &'a str, Selected)>) -> Self {
        let mut reader = BlockReader::new("");
        for (path, text, selected) in pieces {
            reader.turn(selected);
            reader.piece(path, text);
        }
        reader.turn(Selected::default());
        reader.finish()
    }

    /// Builds blocks from values of data, of which some ranges are elements of a list.
    pub(crate) fn of_values(values: Vec<PlacedValue>, elements: &[Range<usize>]) -> Self {
        let mut reader = BlockReader::new("");
        // By the number of a value: the number of its block, which it may not have behind the size limit.
        let mut numbers = vec![0];
        for PlacedValue { path, text, value_start, kind, canonical, selected } in values {
            reader.turn(selected);
            reader.value(path, (&text, value_start), kind, canonical);
            numbers.push(reader.blocks.list.len());
        }
        reader.turn(Selected::default());
        let elements = elements.iter().map(|values| numbers[values.start]..numbers[values.end]);
        let elements = elements.filter(|blocks| blocks.len() > 1).collect();
        Self { elements, ..reader.finish() }
    }
}

/// A value of data with its place.
pub(crate) struct PlacedValue {
    pub(crate) path: u64,
    /// The keys that lead to it, and the value.
    pub(crate) text: String,
    /// Where the value begins in the text.
    pub(crate) value_start: usize,
    pub(crate) kind: ValueKind,
    /// The value in the form of all equal ones, if it is written in another.
    pub(crate) canonical: Option<String>,
    pub(crate) selected: Selected,
}

/// The rank of a heading as Markdown writes it: `## Prices`. 0 for other lines.
fn markdown_rank(line: &str) -> u8 {
    let signs = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&signs) && line[signs..].starts_with(' ') { signs as u8 } else { 0 }
}

/// The texts of a page's blocks.
#[cfg(test)]
fn texts(html: &str) -> Vec<String> {
    let blocks = Blocks::of_html(html);
    blocks.list.iter().map(|block| blocks.text(block).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_what_is_laid_out_on_its_own() {
        let check = |html, expected: &[&str]| assert_eq!(texts(html), expected, "{html}");
        check("<p>a <b>b</b>c<p>d<br>e<div>f</div>g", &["a bc", "d", "e", "f", "g"]);
        check("<ul><li>a<li>b<ul><li>c</ul>d</ul>", &["a", "b", "c", "d"]);
        check("<table><tr><td>a<td>b<tr><td>c</table>", &["a", "b", "c"]);
        check("a<script>'<p>no'</script>b<!-- <p>no --><style>no</style> c", &["ab c"]);
        check("<x-a><template shadowrootmode=open><p>b<template>no</template></template></x-a><p>c", &["b", "c"]);
        check("<div hidden>no<p>no</div>a<span style='display: none'>no</span>b", &["ab"]);
        check("<svg><title>no</title><style>no</style><text>2.35 m</text></svg> 1 &lt; 2 <3", &["2.35 m 1 < 2 <3"]);
        check(
            "<title>A&amp;B</title><select><option>a<option>b</select><input value=c>d",
            &["a", "b", "c", "d", "A&B"],
        );
        check("<input type=hidden value=no><input type=submit value=Buy><img alt=no src=/a.png>", &["Buy", ""]);
        check("", &[]);
    }

    #[test]
    fn blocks_know_their_links_and_their_part_of_the_page() {
        let blocks = Blocks::of_html(
            "<base href=/b/><nav><a href=/n>N</a></nav><main><p>See <a href='/x?a=1&amp;b=2'>this</a>.\
             <h2><a href=#h>Head</a></h2><aside>x</aside></main>",
        );
        let reported: Vec<_> = blocks
            .list
            .iter()
            .map(|block| {
                (
                    blocks.links(block).map(|link| blocks.href(link)).collect(),
                    block.is_links(),
                    block.part.main,
                    block.part.chrome,
                )
            })
            .collect();
        assert_eq!(
            reported,
            [
                ("/n".to_owned(), true, false, true),
                ("/x?a=1&b=2".to_owned(), false, true, false),
                ("#h".to_owned(), false, true, false),
                (String::new(), false, true, true),
            ]
        );
        assert_eq!(blocks.base.as_deref(), Some("/b/"));
    }

    #[test]
    fn deep_and_unclosed_markup_ends() {
        assert_eq!(texts(&format!("{}x", "<div>".repeat(100_000))), ["x"]);
        assert_eq!(texts(&format!("{}x", "<p hidden>".repeat(10_000))).len(), 0);
        assert_eq!(texts(&"<!-- ".repeat(20_000)).len(), 0);
        assert_eq!(texts(&format!("{}x", "</div>".repeat(100_000))), ["x"]);
    }

    #[test]
    fn what_fields_and_embedded_files_show_is_read() {
        let check = |html, expected: &[&str]| assert_eq!(texts(html), expected, "{html}");
        check("<button disabled>Buy</button>", &["Buy (disabled)"]);
        check("<button aria-disabled=true><div>Buy</div></button><p>x", &["Buy (disabled)", "x"]);
        check("<div role=button aria-disabled=TRUE>Buy</div>", &["Buy (disabled)"]);
        check("<button disabled aria-label='Add &amp; pay'><svg></svg></button><p>x", &["Add & pay (disabled)", "x"]);
        check("<button aria-label=no>Buy</button>", &["Buy"]);
        check(
            "<select disabled><option disabled>S<option selected>M<option></select>",
            &["(disabled)", "S (disabled)", "M (selected)"],
        );
        check(
            "<p><input type=radio checked> Post <input type=radio disabled> Courier",
            &["(checked) Post (disabled) Courier"],
        );
        check(
            "<input placeholder='a &lt; b'><input type=tel value=1 disabled><input type=password value=no>",
            &["a < b", "1 (disabled)"],
        );
        check("<p>a<textarea placeholder=b>c &amp; <i></textarea>d", &["a", "b", "c & <i>", "d"]);
        check("<fieldset disabled><legend>L</legend></fieldset>", &["(disabled)", "L"]);
        check("<p>Taken <meter value=3 max=8>no bar</meter> <progress value=5></progress>", &["Taken 3 of 8 no bar 5"]);
        check("<p>Was <s>$20</s> <del>$15</del> $9", &["Was ~~$20~~ ~~$15~~ $9"]);
        check(
            "<p>On <time datetime=2026-05-03></time> or <time datetime=2026-05-04>soon</time>",
            &["On 2026-05-03 or soon"],
        );
        check(
            "<p>a<span style='visibility: hidden'>no</span><s hidden>no</s><progress hidden value=4></progress>b",
            &["ab"],
        );
        let targets = |html: &str| {
            let blocks = Blocks::of_html(html);
            (0..blocks.link_count()).map(|link| blocks.href(link).to_owned()).collect::<Vec<_>>()
        };
        let check = |html, expected: &[&str]| assert_eq!(targets(html), expected, "{html}");
        check(
            "<iframe src=/f></iframe><video src=/v><source src=/s></video><audio src=/a></audio>",
            &["/f", "/v", "/s", "/a"],
        );
        check("<object data=/o>no</object><embed src=/e><map><area href=/m></map>", &["/o", "/e", "/m"]);
        check("<form action='/x?a&amp;b'></form><form action></form>", &["/x?a&b"]);
        check(
            "<iframe src=/no width=1 height=1></iframe><iframe hidden src=/no></iframe><p hidden><embed src=/no>",
            &[],
        );
        check("<img src=/a.png alt=' b '><img alt=c><img src=/d.png alt=''>", &["/a.png “b”", " “c”", "/d.png"]);
    }

    #[test]
    fn what_the_head_says_to_those_who_list_the_page_is_a_fact() {
        let check = |html: &str, expected: &[&str]| assert_eq!(facts(html), expected, "{html}");
        check("<meta name=Description content='Lamps &amp; more'>", &["description: Lamps & more"]);
        check("<meta name=robots content='NOINDEX,follow'>", &["robots: noindex"]);
        check("<meta name=robots content='index, follow, max-snippet:-1'><meta name=author content=no>", &[]);
    }

    #[test]
    fn headings_of_markdown_have_a_rank() {
        let ranks: Vec<u8> =
            Blocks::of_lines("# A\n\n## B\n#c\n####### d").list.iter().map(|block| block.heading_rank).collect();
        assert_eq!(ranks, [1, 2, 0, 0]);
    }

    #[test]
    fn what_is_too_long_to_be_reported_is_noticed() {
        let page =
            |end: &str| format!("<title>T</title><table>{}<tr><td>{end}</table>", "<tr><td>1<td>2<td>3".repeat(20_000));
        let last = |end: &str| texts(&page(end)).split_off(50_000);
        let (one, other) = (last("in stock"), last("sold out"));
        assert_eq!((one.len(), &one[0]), (2, &"T".to_owned()));
        assert_ne!(one[1], other[1]);
        let long = |end: &str| texts(&format!("<title>T</title><p>{}<p>{end}", "a word ".repeat(400_000)));
        assert_eq!(long("x")[1], "T");
        assert_ne!(long("x")[2], long("y")[2]);
        assert!(long("x")[2].starts_with("the rest of the page, too long to be listed: "));
    }

    fn facts(html: &str) -> Vec<String> {
        let blocks = Blocks::of_html(html);
        let facts = blocks.list.iter().filter(|block| block.part.fact);
        facts.map(|block| blocks.text(block).to_owned()).collect()
    }

    #[test]
    fn what_is_not_shown_is_a_fact_and_what_is_shown_is_text() {
        let check = |html: &str, expected: &[&str]| assert_eq!(facts(html), expected, "{html}");
        check("<p>Price <span itemprop=price>19,90</span>", &[]);
        check("<p>Price <span property=price content=19.90></span>", &["price: 19.90"]);
        check("<p>Price <span itemprop=price content=19.90>19,90 €</span>", &[]);
        check("<p>Price <span itemprop=price content=19.90>on request</span>", &["price: 19.90"]);
        check(
            "<p><meta itemprop=price content=19.90><link itemprop=availability href='http://schema.org/InStock'>",
            &["price: 19.90", "availability: InStock"],
        );
        check("<time itemprop=datePublished datetime=2026-01-02>2 January 2026</time>", &[]);
        check("<time itemprop='x datePublished' datetime=2026-01-02>3 days ago</time>", &["datePublished: 2026-01-02"]);
        check("<data itemprop=softwareVersion value=1.2.3>newest</data>", &["softwareVersion: 1.2.3"]);
        check("<span itemprop=color content=red>r</span><p itemprop>x", &[]);
    }

    #[test]
    fn a_page_says_when_it_was_modified_and_that_is_no_fact() {
        let check = |html: &str, expected: Option<&str>| {
            let blocks = Blocks::of_html(html);
            assert_eq!((blocks.modified.as_deref(), blocks.list.len()), (expected, 1), "{html}");
        };
        let date = "2026-11-25T04:00:00Z";
        check(&format!("<meta property=article:modified_time content={date}><p>a"), Some(date));
        check(&format!("<p>a <meta itemprop=dateModified content='{date}'>"), Some(date));
        check(&format!("<p>a <time itemprop=dateModified datetime={date}>now</time>"), Some(date));
        let json = format!("{{\"@graph\": [{{\"dateModified\": \"{date}\"}}, {{\"dateModified\": \"2020\"}}]}}");
        check(&format!("<script type=application/ld+json>{json}</script><p>a"), Some(date));
        check("<p>a <time datetime=2020>then</time>", None);
        check(&format!("<meta itemprop=dateModified content='{}'><p>a", "x".repeat(65)), None);
    }

    #[test]
    fn facts_have_the_name_of_their_thing_where_there_are_several() {
        let item = |name: &str, price: &str| {
            format!(
                "<div itemscope itemtype=//schema.org/Product><h2 itemprop=name>{name}</h2><div itemprop=offers itemscope>\
                 <meta itemprop=price content={price}></div></div>"
            )
        };
        assert_eq!(facts(&item("Lamp", "10")), ["price: 10"]);
        assert_eq!(
            facts(&format!("{}{}", item("Lamp", "10"), item("Table", "20"))),
            ["Lamp price: 10", "Table price: 20"]
        );
    }
}

//! A version of a page as a set of units, the smallest things that can be added or removed.
//!
//! A unit is the text of a block, or one link together with the text of its block. The two are separate, so that a link
//! that differs at every fetch cannot hide an edit of its paragraph. A cell belongs to its row, and a text that occurs
//! twice is two units; apart from that, a unit that only moves on the page makes no difference.

use crate::classed_text::ClassedText;
use crate::elements::{element_of, name_and_slot, send_element};
use crate::image_words::image_words;
use crate::region::{PagePart, parts};
use crate::rows::Rows;
use crate::sections;
use crate::shingle::{DEFAULT_SHINGLE_WIDTH, ShingleSet, Shingler};
use crate::span_hashes::first_words;
use crate::spread_sort::{grouped, merged, sorted_evenly_spread};
use crate::targets::{LinkBase, TargetHashes};
use crate::unit_texts::{STRUCTURED_DATA, TextKind, UnitTexts, UnitTextsBuilder};
use chance::splitmix64;
use document::ContentDigest;
use document::blocks::{Block, Blocks, CHECKED};
use document::passage_hash;
use document::{Body, PageText};
use page::UrlRules;
use std::ops::Range;

/// Makes the name of a watched text differ from that of the same text elsewhere.
const WATCHED: u64 = 0x0077_6174_6368;

/// About how long the target of a link is, as written.
const LINK_BYTES: usize = 32;

/// One fetched version of a page, read and ready to be compared.
#[derive(Debug)]
pub struct Version<'r> {
    pub(crate) digest: ContentDigest,
    /// Sorted by name, each name once.
    pub(crate) units: Vec<Unit>,
    /// Length in bytes of the region's text, without the page's title and structured data.
    pub(crate) region_bytes: usize,
    /// When it was seen, in UNIX seconds.
    pub(crate) seen_at_s: Option<i64>,
    blocks: Blocks,
    in_region: Vec<bool>,
    classed: ClassedText,
    rows: Rows,
    base: LinkBase<'r>,
}

/// The text of a block, or one of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) key: UnitKey,
    /// Index of its block.
    pub(crate) block: u32,
    /// The number of the link; unused for a text. [`Unit::LIST`] and [`Unit::CELLS`] for the order of a list or of the
    /// cells of a row.
    link: u32,
}

impl Unit {
    const LIST: u32 = u32::MAX;
    const CELLS: u32 = u32::MAX - 1;
    /// The text of a unit that is a whole element of JSON.
    const ELEMENT: u32 = u32::MAX - 2;
}

/// The stored form of a unit: 40 bits of name, 21 bits of slot, whether it is a link, and its part of the page.
/// In a page of 1,000 units, two share a name once in two million pages. Two slots may share a number, which makes
/// changes in both a little easier to miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UnitKey(pub(crate) u64);

impl UnitKey {
    pub(crate) const NAME_SHIFT: u32 = 24;
    /// The bits of a link in the frame. Such links are never reported, so the bits are free.
    const ORDER: u64 = 4;

    fn new(name: u64, slot: u64, is_link: bool, part: PagePart) -> Self {
        let name = splitmix64(name) >> Self::NAME_SHIFT << Self::NAME_SHIFT;
        Self(
            name | ((splitmix64(slot) >> (64 - 21)) << 3)
                | (u64::from(is_link && part != PagePart::Frame) << 2)
                | part as u64,
        )
    }

    /// The key of the nth repetition of the unit on the page.
    fn repeated(self, nth: u64) -> Self {
        let name = splitmix64(self.name() ^ splitmix64(nth)) >> Self::NAME_SHIFT << Self::NAME_SHIFT;
        Self(name | (self.0 & ((1 << Self::NAME_SHIFT) - 1)))
    }

    /// Hash of the unit's content.
    pub(crate) fn name(self) -> u64 {
        self.0 >> Self::NAME_SHIFT
    }

    /// Hash of the unit's place, by which its value is followed from version to version.
    pub(crate) fn slot(self) -> u32 {
        (self.0 as u32 & ((1 << Self::NAME_SHIFT) - 1)) >> 3
    }

    /// The key of the order of a list, or of the cells of a row. Beside the region, only what changed in its place counts:
    /// the same in another order.
    fn of_order(name: u64, slot: u64) -> Self {
        Self(Self::new(name, slot, false, PagePart::Frame).0 | Self::ORDER)
    }

    /// Whether this is the order of other units.
    pub(crate) fn is_order(self) -> bool {
        self.0 & 7 == Self::ORDER
    }

    pub(crate) fn is_link(self) -> bool {
        self.0 & 4 == 4 && !self.is_order()
    }

    pub(crate) fn in_region(self) -> bool {
        self.part() == PagePart::Region
    }

    pub(crate) fn part(self) -> PagePart {
        if self.is_order() {
            return PagePart::Beside;
        }
        [PagePart::Frame, PagePart::Region, PagePart::Beside, PagePart::Links][(self.0 & 3) as usize]
    }
}

impl<'r> Version<'r> {
    /// Reads a body, given its `Content-Type` header, the address it was fetched from, and the rules that say which
    /// addresses are one page. Never fails.
    pub fn new(body: &[u8], content_type: Option<&str>, address: Option<&str>, urls: &'r UrlRules) -> Self {
        Self::of_body(&Body::new(body, content_type, address), urls)
    }

    /// Builds the version from a body. The rules say which addresses are one page.
    pub fn of_body(body: &Body<'_>, urls: &'r UrlRules) -> Self {
        Self::of_blocks(body, body.blocks(), urls)
    }

    /// Builds the version and the text of the body together, which is cheaper than one after the other.
    pub fn and_text(body: &Body<'_>, urls: &'r UrlRules) -> (Self, PageText) {
        let (blocks, page) = body.blocks_and_text();
        (Self::of_blocks(body, blocks, urls), page)
    }

    /// Builds the version from a body and its blocks, for those who read them together with something else.
    pub fn of_blocks(body: &Body<'_>, blocks: Blocks, urls: &'r UrlRules) -> Self {
        let (digest, address) = (body.digest(), body.address());
        let parts = parts(&blocks);
        let in_region: Vec<bool> = parts.iter().map(|part| *part == PagePart::Region).collect();
        let base = LinkBase::new(address, blocks.base.as_deref(), urls);
        let classed = ClassedText::new(&blocks);
        let slots = text_slots(&blocks, classed.text(&blocks).as_bytes(), classed.places());
        let rows = Rows::of(&blocks);
        let units = units(&blocks, (classed.names(), &slots), &rows, &parts, &base);
        let region_bytes = blocks
            .list
            .iter()
            .zip(&in_region)
            .filter(|(block, inside)| **inside && (!block.part.fact || block.watched))
            .map(|(block, _)| block.byte_length())
            .sum();
        Self { digest, units, region_bytes, seen_at_s: None, blocks, in_region, classed, rows, base }
    }

    /// The version, seen at a time in UNIX seconds. A date that is the day of each look is then no news.
    pub fn seen_at(self, unix_s: i64) -> Self {
        Self { seen_at_s: Some(unix_s), ..self }
    }

    /// The address the page declares for itself (`<link rel=canonical>`), as written.
    pub fn canonical(&self) -> Option<&str> {
        self.blocks.canonical.as_deref()
    }

    /// The rules that say which addresses are one page.
    pub(crate) fn url_rules(&self) -> &'r UrlRules {
        self.base.rules()
    }

    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Whether parts of the page are watched, so that only they count.
    pub(crate) fn is_watched(&self) -> bool {
        self.blocks.is_watched
    }

    /// Whether the version is a feed, whose items leave when others arrive.
    pub(crate) fn is_feed(&self) -> bool {
        self.blocks.is_feed
    }

    /// The w-shingles ([`DEFAULT_SHINGLE_WIDTH`]) of the region's text, with classes replaced. A body that is no text
    /// has its digest as the only one.
    pub(crate) fn shingles(&self) -> ShingleSet {
        if self.blocks.is_opaque {
            let [a, b, c, d, ..] = self.digest;
            return ShingleSet::from_hashes(&[u32::from_le_bytes([a, b, c, d])]);
        }
        let texts = self.classed.texts(&self.blocks, &self.in_region);
        let mut shingler = Shingler::default();
        ShingleSet::from_hashes(shingler.shingles(texts, DEFAULT_SHINGLE_WIDTH))
    }

    pub(crate) fn region(&self) -> impl Iterator<Item = &Block> {
        self.blocks.list.iter().zip(&self.in_region).filter(|(_, inside)| **inside).map(|(block, _)| block)
    }

    /// Texts of the units outside the frame.
    pub(crate) fn unit_texts(&self) -> UnitTexts {
        let blocks = &self.blocks;
        let mut heading = "";
        let headings = blocks.list.iter().map(|block| {
            if block.heading_rank > 0 {
                heading = blocks.text(block);
                return "";
            }
            heading
        });
        let headings: Vec<&str> = headings.collect();
        let ordered = self.units.iter().filter(|unit| unit.key.is_order() && unit.link == Unit::LIST);
        let lists = ordered.map(|unit| self.rows.list_of(blocks, unit.block as usize)).collect();
        let orders = self.rows.reported_orders(blocks, lists);
        let units = self.in_page_order();
        // An estimate: places come on top, and the frame is left out.
        let bytes = blocks.all_text().len() + LINK_BYTES * blocks.link_count();
        let sections = sections::headings(blocks);
        let mut heading_numbers = vec![0; blocks.list.len()];
        let mut numbers = vec![0; self.units.len()];
        let mut texts = UnitTextsBuilder::with_room(&self.base, units.len(), bytes);
        let mut cells = String::new();
        for (unit, place) in units.iter().map(|place| (&self.units[*place as usize], *place as usize)) {
            let (index, block) = (unit.block as usize, &blocks.list[unit.block as usize]);
            let (kind, text, above) = if unit.key.is_link() {
                let kind = if blocks.is_image(unit.link as usize) { TextKind::Words } else { TextKind::Reference };
                let above = Some(blocks.text(block)).filter(|text| !text.is_empty()).unwrap_or(headings[index]);
                (kind, blocks.href(unit.link as usize), above)
            } else if unit.key.is_order() && unit.link == Unit::CELLS {
                self.rows.send_cells(blocks, index, &mut cells);
                let row = self.rows.key_in(index).map(|key| blocks.text(&blocks.list[key]));
                (TextKind::Words, &*cells, row.unwrap_or(headings[index]))
            } else if unit.key.is_order() {
                let list = self.rows.list_of(blocks, index);
                let order = orders.binary_search_by_key(&list, |(list, _)| *list).map(|found| &*orders[found].1);
                (TextKind::Words, order.unwrap_or_default(), headings[index])
            } else if unit.link == Unit::ELEMENT
                && let Some(element) = element_of(blocks, index)
            {
                send_element(blocks, element, &mut cells);
                (TextKind::Words, &*cells, headings[index])
            } else {
                let row = self.rows.key_of(index).map(|key| blocks.text(&blocks.list[key]));
                let above = if block.part.fact { STRUCTURED_DATA } else { headings[index] };
                let kind = if row.is_some() { TextKind::Cell } else { TextKind::Words };
                (kind, blocks.text(block), row.unwrap_or(above))
            };
            let section = sections[index].map_or(0, |heading| heading_numbers[heading]);
            numbers[place] = texts.push(kind, (unit.key, unit.block, section), text, above);
            if block.heading_rank > 0 && !unit.key.is_link() && !unit.key.is_order() {
                heading_numbers[index] = numbers[place];
            }
        }
        // The units are sorted by name already.
        let kept = self.units.iter().zip(numbers).filter(|(_, number)| *number > 0);
        texts.finish_with(kept.map(|(unit, number)| (unit.key.name(), number - 1)).collect())
    }

    /// The units outside the frame, block by block: texts, then links, each by name.
    fn in_page_order(&self) -> Vec<u32> {
        let units = (0..).zip(&self.units).filter(|(_, unit)| unit.key.part() != PagePart::Frame);
        let group = |place: &u32| {
            let unit = &self.units[*place as usize];
            2 * unit.block as usize + usize::from(unit.key.is_link())
        };
        grouped(units.map(|(place, _)| place).collect(), 2 * self.blocks.list.len(), group)
    }

    /// The texts of the region, block by block.
    pub(crate) fn region_texts(&self) -> impl Iterator<Item = &str> {
        self.region().map(|block| self.blocks.text(block))
    }

    /// The unit of this name, if there is one.
    pub(crate) fn find(&self, name: u64) -> Option<&Unit> {
        self.units.binary_search_by_key(&name, |unit| unit.key.name()).ok().map(|index| &self.units[index])
    }
}

fn units(
    blocks: &Blocks,
    (names, slots): (&[u64], &[u64]),
    rows: &Rows,
    parts: &[PagePart],
    base: &LinkBase<'_>,
) -> Vec<Unit> {
    let mut units = Vec::with_capacity(blocks.list.len() + blocks.link_count());
    let mut targets = TargetHashes::new(base);
    for (index, (block, part)) in blocks.list.iter().zip(parts).enumerate() {
        if let Some(element) = element_of(blocks, index) {
            if index == element.start {
                let (name, slot) = name_and_slot(blocks, element, names);
                let name = if block.watched { splitmix64(name ^ WATCHED) } else { name };
                let key = UnitKey::new(name, slot, false, *part);
                units.push(Unit { key, block: index as u32, link: Unit::ELEMENT });
            }
            continue;
        }
        let (name, slot) = rows.in_row(blocks, index, names, slots);
        // What is watched is never taken for the same text elsewhere on the page.
        let name = if block.watched { splitmix64(name ^ WATCHED) } else { name };
        let block_index = index as u32;
        if block.byte_length() > 0 {
            let key = UnitKey::new(name, slot, false, *part);
            units.push(Unit { key, block: block_index, link: 0 });
        }
        for (nth, link) in blocks.links(block).enumerate() {
            let href = blocks.href(link);
            let target = if blocks.is_image(link) { image_words(href) } else { targets.of(href) };
            let Some(target) = target else { continue };
            let slot = if block.is_links() { block.path } else { splitmix64(slot ^ (1 + nth as u64)) };
            let name = splitmix64(name) ^ target.rotate_left(1);
            let key = UnitKey::new(name, slot, true, *part);
            units.push(Unit { key, block: block_index, link: link as u32 });
        }
    }
    let lists = rows.orders(blocks, (names, slots), parts).into_iter().map(|order| (order, Unit::LIST));
    let cells = rows.cell_orders(blocks, (names, slots), parts).into_iter().map(|order| (order, Unit::CELLS));
    units.extend(lists.chain(cells).map(|(order, link)| {
        let key = UnitKey::of_order(order.name, order.slot);
        Unit { key, block: order.block as u32, link }
    }));
    // Of units with one name, those in the region come first, in page order.
    let order = |unit: &Unit| unit.key.name() << UnitKey::NAME_SHIFT | u64::from(!unit.key.in_region());
    let mut units = sorted_evenly_spread(units, order);
    let repeated = take_repetitions(&mut units);
    if !repeated.is_empty() {
        units = merged(&units, &sorted_evenly_spread(repeated, order), order);
        units.dedup_by_key(|unit| unit.key.name());
    }
    units
}

/// Takes the second and each further unit of one name, and gives it a name of its own.
fn take_repetitions(units: &mut Vec<Unit>) -> Vec<Unit> {
    let mut repeated = Vec::new();
    let mut last = (None, 0);
    units.retain(|unit| {
        let name = unit.key.name();
        if last.0 != Some(name) {
            last = (Some(name), 0);
            return true;
        }
        last.1 += 1;
        repeated.push(Unit { key: unit.key.repeated(last.1), ..*unit });
        false
    });
    repeated
}

/// The slot of each text: the hash of its place and its first words without their digits, or of the place alone in
/// lists of links and named blocks.
fn text_slots(blocks: &Blocks, text: &[u8], places: &[Range<usize>]) -> Vec<u64> {
    let is_worded = |block: &Block| !block.is_links() && !block.is_named && !block.part.control;
    let worded = blocks.list.iter().zip(places).filter(|(block, _)| is_worded(block));
    let mut first_words = first_words(text, worded.map(|(_, place)| after_mark(text, place))).into_iter();
    let mut characters = Vec::new();
    let slot = |(block, place): (&Block, &Range<usize>)| {
        let Some(words) = is_worded(block).then(|| first_words.next()).flatten() else { return block.path };
        let start = after_mark(text, place).start;
        let bytes = &text[start..start + words.length];
        let hash = if words.has_digit { hash_without_digits(bytes, &mut characters) } else { passage_hash(bytes) };
        splitmix64(block.path ^ hash)
    };
    blocks.list.iter().zip(places).map(slot).collect()
}

/// The place of a text without the mark of a choice: whether it is made does not move it.
fn after_mark(text: &[u8], place: &Range<usize>) -> Range<usize> {
    let mark = if text[place.clone()].starts_with(CHECKED.as_bytes()) { CHECKED.len() + 1 } else { 0 };
    (place.start + mark).min(place.end)..place.end
}

/// The hash of words. A word with a digit counts without its ASCII digits and punctuation, so that `1,234` and `999` are one
/// word. The buffer is reused.
fn hash_without_digits(words: &[u8], characters: &mut Vec<u8>) -> u64 {
    characters.clear();
    for word in words.split(|byte| *byte == b' ') {
        let has_digit = word.iter().any(u8::is_ascii_digit);
        characters.extend(word.iter().filter(|byte| !has_digit || byte.is_ascii_alphabetic() || !byte.is_ascii()));
        characters.push(b' ');
    }
    passage_hash(characters)
}

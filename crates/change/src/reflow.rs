//! The same words in another shape: white space that came or went, lines that were wrapped anew, a paragraph that was cut
//! in two. Only the words that differ are a change.
//!
//! The texts of one version are compared word by word with those that the other has in their place, across the ends of
//! texts.

use crate::seams::{Seam, are_a_spelling, says_the_same, seams};
use crate::unit_texts::{MAX_UNIT_BYTES, ShownUnit, UnitTexts};
use crate::version::UnitKey;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The most words that are compared in one place, and on a page.
const MAX_WORDS: usize = 2_000;
const MAX_WORDS_OF_PAGE: usize = 20_000;
/// Among at least this many words, a single word that stayed shows where a text was cut.
const MANY_WORDS: usize = 16;
/// If a smaller share of the words stayed, the texts were replaced.
const MIN_SAME: f64 = 0.6;

/// The texts of two versions that differ only in their shape.
#[derive(Debug, Default)]
pub(crate) struct Reflow {
    old: Side,
    new: Side,
}

/// The units of one version, by name.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// Units that say the same in another shape.
    same: BTreeSet<u64>,
    /// Units of which only a part differs.
    parts: BTreeMap<u64, Range<usize>>,
}

impl Side {
    /// Whether the other version says the same as this unit.
    pub(crate) fn is_same(&self, key: &UnitKey) -> bool {
        self.same.contains(&key.name())
    }

    fn has_shaped_anew(&self, text: Option<&ShownUnit<'_>>) -> bool {
        text.is_some_and(|text| self.is_same(&text.key) || self.parts.contains_key(&text.key.name()))
    }

    /// The part of a unit's text that differs.
    pub(crate) fn part<'a>(&self, key: UnitKey, text: &'a str) -> &'a str {
        self.parts.get(&key.name()).and_then(|part| text.get(part.clone())).unwrap_or(text).trim()
    }
}

impl Reflow {
    /// Compares the texts that only one of two versions has.
    pub(crate) fn between(old: &UnitTexts, new: &UnitTexts) -> Self {
        let mut reflow = Self::default();
        let mut went = runs(old, &old.shared_with(new));
        let is_whole = |unit: &ShownUnit<'_>| unit.text.len() + 4 <= MAX_UNIT_BYTES;
        let pairs = runs(new, &new.shared_with(old)).into_iter().filter_map(|(behind, came)| {
            let went = went.remove(&behind)?;
            went.texts.iter().chain(&came.texts).all(is_whole).then_some((went, came))
        });
        let pairs: Vec<(Run<'_>, Run<'_>)> = pairs.collect();
        let mut same: Vec<Vec<SameText>> = pairs.iter().map(|(went, came)| went.same_as(came)).collect();
        let seams: Vec<&Seam> = same.iter().flatten().flat_map(|text| &text.seams).collect();
        if are_a_spelling(&seams) {
            same.iter_mut().for_each(|texts| texts.retain(|text| text.seams.is_empty()));
        }
        let mut words_left = MAX_WORDS_OF_PAGE;
        for ((went, came), same) in pairs.iter().zip(&same) {
            reflow.compare((went, came), same, &mut words_left);
        }
        reflow
    }

    pub(crate) fn old_side(&self) -> &Side {
        &self.old
    }

    pub(crate) fn new_side(&self) -> &Side {
        &self.new
    }

    fn compare(&mut self, (went, came): (&Run<'_>, &Run<'_>), same: &[SameText], words_left: &mut usize) {
        if !same.is_empty() {
            for SameText { number, .. } in same {
                self.old.same.insert(went.texts[*number].key.name());
                self.new.same.insert(came.texts[*number].key.name());
            }
        } else if went.texts.len() + came.texts.len() > 2 {
            let (old, new) = (Words::of(&went.texts), Words::of(&came.texts));
            let words = old.words.len() + new.words.len();
            if words > MAX_WORDS || words > *words_left || words == 0 {
                return;
            }
            *words_left -= words;
            self.align(&old, &new);
        }
        self.leave_out_links(went, came);
    }

    /// Finds what differs between two lists of texts, if one is cut in other places than the other.
    fn align(&mut self, old: &Words<'_>, new: &Words<'_>) {
        let alignment = Alignment::of(old, new);
        let Some(cuts) = alignment.cuts(old, new) else { return };
        for piece in cuts.windows(2) {
            let (went, came) = (piece[0][0]..piece[1][0], piece[0][1]..piece[1][1]);
            if !alignment.is_same(&went, &came) {
                old.note(&went, &mut self.old.parts);
                new.note(&came, &mut self.new.parts);
            }
        }
        for (words, side) in [(old, &mut self.old), (new, &mut self.new)] {
            let names = words.units.iter().map(|unit| unit.key.name());
            side.same.extend(names.filter(|name| !side.parts.contains_key(name)));
        }
    }

    /// The links of texts that were shaped anew are the same if their targets are.
    fn leave_out_links(&mut self, went: &Run<'_>, came: &Run<'_>) {
        let mut waiting: BTreeMap<&str, VecDeque<u64>> = BTreeMap::new();
        for new in came.links.iter().filter(|link| self.new.has_shaped_anew(came.text_of(link))) {
            waiting.entry(new.text).or_default().push_back(new.key.name());
        }
        for old in &went.links {
            if self.old.has_shaped_anew(went.text_of(old))
                && let Some(new) = waiting.get_mut(old.text).and_then(VecDeque::pop_front)
            {
                self.old.same.insert(old.key.name());
                self.new.same.insert(new);
            }
        }
    }
}

/// The units that only one version has, behind a text that both have.
#[derive(Default)]
struct Run<'a> {
    texts: Vec<ShownUnit<'a>>,
    links: Vec<ShownUnit<'a>>,
}

/// A text of two runs that differs in white space and typeset signs only.
struct SameText {
    /// Its number in both runs.
    number: usize,
    /// The words that one of the two joins.
    seams: Vec<Seam>,
}

impl Run<'_> {
    /// The texts that say the same as those in the same place. None if texts came or went.
    fn same_as(&self, other: &Run<'_>) -> Vec<SameText> {
        if self.texts.len() != other.texts.len() {
            return Vec::new();
        }
        let pairs = self.texts.iter().zip(&other.texts).enumerate();
        let same = pairs.filter(|(_, (old, new))| says_the_same(old.text, new.text));
        same.map(|(number, (old, new))| SameText { number, seams: seams(old.text, new.text) }).collect()
    }

    /// The first text of the block that a link is in.
    fn text_of(&self, link: &ShownUnit<'_>) -> Option<&ShownUnit<'_>> {
        // Texts are in page order.
        let first = self.texts.partition_point(|text| text.block < link.block);
        self.texts.get(first).filter(|text| text.block == link.block)
    }
}

/// The runs of a version by the name of the text before them; 0 at the start.
fn runs<'a>(texts: &'a UnitTexts, shared: &[bool]) -> BTreeMap<u64, Run<'a>> {
    let mut runs: BTreeMap<u64, Run<'a>> = BTreeMap::new();
    let mut behind = 0;
    for ((key, _), is_shared) in texts.places().zip(shared).filter(|((key, _), _)| !key.is_order()) {
        match (is_shared, key.is_link()) {
            (true, false) => behind = key.name(),
            (true, true) => {}
            (false, is_link) => {
                let run = runs.entry(behind).or_default();
                let units = if is_link { &mut run.links } else { &mut run.texts };
                units.extend(texts.find(key.name()));
            }
        }
    }
    runs
}

/// The words of several texts, punctuation included and white space left out.
struct Words<'a> {
    units: &'a [ShownUnit<'a>],
    words: Vec<&'a str>,
    /// For each word, its unit and where it begins in the unit's text.
    places: Vec<(usize, usize)>,
    /// The number of the first word of each unit, and the count of all words.
    starts: Vec<usize>,
}

impl<'a> Words<'a> {
    fn of(units: &'a [ShownUnit<'a>]) -> Self {
        let mut all = Self { units, words: Vec::new(), places: Vec::new(), starts: Vec::new() };
        for (number, unit) in units.iter().enumerate() {
            all.starts.push(all.words.len());
            let words = unit.text.split_word_bound_indices().filter(|(_, word)| *word != " ");
            for (at, word) in words.take(MAX_WORDS + 1) {
                all.words.push(word);
                all.places.push((number, at));
            }
            if all.words.len() > MAX_WORDS {
                break;
            }
        }
        all.starts.push(all.words.len());
        all
    }

    fn is_start(&self, word: usize) -> bool {
        self.starts.binary_search(&word).is_ok()
    }

    /// Adds words to the parts of their units.
    fn note(&self, words: &Range<usize>, parts: &mut BTreeMap<u64, Range<usize>>) {
        for word in words.clone() {
            let (unit, at) = self.places[word];
            let end = at + self.words[word].len();
            let part = parts.entry(self.units[unit].key.name()).or_insert(at..end);
            *part = part.start.min(at)..part.end.max(end);
        }
    }
}

/// Which words of two lists are the same.
struct Alignment {
    /// For each old word, the new one, and the other way round.
    to_new: Vec<Option<usize>>,
    to_old: Vec<Option<usize>>,
}

impl Alignment {
    fn of(old: &Words<'_>, new: &Words<'_>) -> Self {
        let (mut to_new, mut to_old) = (vec![None; old.words.len()], vec![None; new.words.len()]);
        for step in capture_diff_slices(Algorithm::Patience, &old.words, &new.words) {
            if let DiffOp::Equal { old_index, new_index, len } = step {
                for nth in 0..len {
                    to_new[old_index + nth] = Some(new_index + nth);
                    to_old[new_index + nth] = Some(old_index + nth);
                }
            }
        }
        Self { to_new, to_old }
    }

    /// Whether two pieces consist of the same words.
    fn is_same(&self, old: &Range<usize>, new: &Range<usize>) -> bool {
        old.len() == new.len() && old.clone().zip(new.clone()).all(|(old, new)| self.to_new[old] == Some(new))
    }

    /// The places at which the texts of either side are cut, as numbers of old and new words, from start to end. `None` if
    /// few words are the same, or if both are cut in the same places.
    fn cuts(&self, old: &Words<'_>, new: &Words<'_>) -> Option<Vec<[usize; 2]>> {
        let same = self.to_new.iter().flatten().count();
        let longer = old.words.len().max(new.words.len());
        let mut has_inner = false;
        let mut cuts = vec![[0, 0], [old.words.len(), new.words.len()]];
        for start in old.starts.iter().copied() {
            let (at, is_inner) = Self::across(&self.to_new, start, new);
            has_inner |= is_inner;
            cuts.extend(at.map(|at| [start, at]));
        }
        for start in new.starts.iter().copied() {
            let (at, is_inner) = Self::across(&self.to_old, start, old);
            has_inner |= is_inner;
            cuts.extend(at.map(|at| [at, start]));
        }
        cuts.sort_unstable();
        cuts.dedup();
        // A cut behind another one on one side is not before it on the other.
        let mut last = 0;
        cuts.retain(|[_, new]| {
            let rises = *new >= last;
            last = last.max(*new);
            rises
        });
        (has_inner && same as f64 >= MIN_SAME * longer as f64).then_some(cuts)
    }

    /// Where the place before a word is on the other side, and whether that is within a text.
    fn across(map: &[Option<usize>], word: usize, other: &Words<'_>) -> (Option<usize>, bool) {
        let behind = word.checked_sub(1).and_then(|before| map[before]).map(|at| at + 1);
        let before = map.get(word).copied().flatten();
        let is_start = |at: &Option<usize>| at.is_some_and(|at| other.is_start(at));
        match [before, behind].into_iter().find(is_start) {
            Some(at) => (at, false),
            // Beside a word that differs, the place is sure among many words only.
            None => (
                before.or(behind),
                before.or(behind).is_some() && (before == behind || other.words.len() >= MANY_WORDS),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Diff, Version, VersionVerdict, diff};
    use page::UrlRules;

    fn compared(kind: &str, old: &str, new: &str) -> Diff {
        static URLS: UrlRules = UrlRules::none();
        let version = |text: &str| Version::new(text.as_bytes(), Some(kind), Some("https://a.test/"), &URLS);
        diff(&version(old), &version(new))
    }

    fn reported(kind: &str, old: &str, new: &str) -> Vec<(String, String)> {
        let changes = compared(kind, old, new).record.changes.into_iter();
        changes.map(|unit| (unit.before.unwrap_or_default(), unit.after.unwrap_or_default())).collect()
    }

    fn is_quiet(kind: &str, old: &str, new: &str) -> bool {
        compared(kind, old, new).verdict == VersionVerdict::Cosmetic
    }

    #[test]
    fn white_space_alone_is_no_change() {
        let old = "<main><h1>Boats</h1> <p> <span>Adults</span> <span>5 coins</span> </p> <p>Ask <b>us</b> <a href=/c>now</a></p> <p>End";
        let new = "<main><h1>Boats</h1><p><span>Adults</span><span>5 coins</span></p><p>Ask <b>us</b><a href=/c>now</a></p><p>End";
        assert!(is_quiet("text/html", old, new));
        assert!(!is_quiet("text/html", old, &new.replace("/c", "/d")));
        assert_eq!(
            reported("text/html", old, &new.replace('5', "6")),
            [("Adults 5 coins", "Adults6 coins")].map(owned)
        );
        assert!(!is_quiet("text/html", "<p>Table 1 23<p>End", "<p>Table 12 3<p>End"));
        let name = "<p>Rock Harbour rents boats.<h2>Terms</h2><p>Write to Rock Harbour.";
        assert!(!is_quiet("text/html", name, &name.replace("k H", "kH")), "another spelling of one name");
        assert!(is_quiet("text/html", name, &name.replace("k H", "kH").replace("to R", "toR")));
    }

    fn owned((one, other): (&str, &str)) -> (String, String) {
        (one.to_owned(), other.to_owned())
    }

    #[test]
    fn lines_that_are_wrapped_anew_are_no_change() {
        let old = "Rules\n\nGuests stay until noon. The key is\nleft at the desk. Dogs are welcome on\nthe lead.\n\nNo fire.\n";
        let new = "Rules\n\nGuests stay until\nnoon. The key is left at the desk.\nDogs are welcome on the lead.\n\nNo fire.\n";
        assert!(is_quiet("text/plain", old, new));
        assert!(is_quiet("text/plain", old, &new.replace("until\nnoon", "until noon")));
        assert_eq!(
            reported("text/plain", old, &new.replace("Dogs", "Cats")),
            [("Dogs are welcome on", "Cats are welcome on")].map(owned)
        );
        assert!(is_quiet(
            "text/plain",
            "一\n\n本店九点开始营业，\n欢迎光临。\n\n二",
            "一\n\n本店九点开始\n营业，欢迎光临。\n\n二"
        ));
    }

    #[test]
    fn of_a_paragraph_that_is_cut_only_the_edited_words_are_reported() {
        let page = |text: &str| format!("<main><h1>Terms</h1>{text}<p>Ask at the desk.</main>");
        let (start, refund) = ("You may cancel at any time by letter.", "We refund you within thirty days.");
        let one = page(&format!("<p>{start} {refund}"));
        let two = page(&format!("<p>{start}<p>{refund}"));
        assert!(is_quiet("text/html", &one, &two) && is_quiet("text/html", &two, &one));
        let edited = two.replace("thirty", "sixty");
        assert_eq!(reported("text/html", &one, &edited), [(refund, "We refund you within sixty days.")].map(owned));
        assert_eq!(reported("text/html", &edited, &one), [("We refund you within sixty days.", refund)].map(owned));
        let inserted = page(&format!("<p>{start}<p>Write to the house.<p>{refund}"));
        assert_eq!(reported("text/html", &one, &inserted), [("", "Write to the house.")].map(owned));
    }

    #[test]
    fn cells_are_not_taken_for_words_that_moved() {
        let table = |cells: &str| format!("<table><tr><td>Boat<td>Free<tr>{cells}</table>");
        assert!(!is_quiet("text/html", &table("<td>Swan<td>1<td>23"), &table("<td>Swan<td>12<td>3")));
        assert!(!is_quiet("text/html", &table("<td>Swan<td>yes<td>no"), &table("<td>Swan<td>no<td>yes")));
    }
}

//! Learns the Chinese words that the segmenter's dictionary lacks, from how often their pieces stand together.
//!
//! A sequence of adjacent pieces with two to four Han characters, of which one at least is a single character, is a word
//! if it stands in [`LEAST_COUNT`] places and
//! * if all pieces are single: wherever it is divided, the halves meet ten times as often as chance has it (the mutual
//!   information by which words of Chinese have been found since Sproat & Shih 1990);
//! * otherwise: half of the occurrences of each single piece are in it. A verb before a noun of the dictionary (去机场) meets
//!   other nouns as well; the end of a word that the dictionary half knows (自驾|游) does not.
//!
//! A sequence that nearly always stands within a longer word is not a word of its own.

use crate::phrases::{adjacent_pieces, is_han};
use crate::stop_words;
use crate::words::Segmenter;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The fewest places in which a word stands.
const LEAST_COUNT: u32 = 3;
const MAX_CHARACTERS: usize = 4;
/// How much more often than by chance the halves of a word meet.
const COHESION: f64 = 10.0;
/// The share of the places of a single piece beside a known word that is in the word.
const SHARE_OF_PIECE: f64 = 0.5;
/// The share of the places of a part that is in the longer word.
const SHARE_OF_PART: f64 = 0.8;
/// The most sequences counted. The rarest are forgotten first.
const MAX_SEQUENCES: usize = 1 << 17;
/// The most adjacent pieces that are looked at together.
const MAX_PIECES: usize = 1024;

/// Counts sequences of pieces.
#[derive(Clone, Debug, Default)]
pub struct PhraseLearner {
    pieces: u64,
    counts: HashMap<String, Sequence>,
}

#[derive(Clone, Debug)]
struct Sequence {
    count: u32,
    /// The lengths of the pieces in bytes. A sequence that is cut otherwise elsewhere keeps the first.
    pieces: Vec<usize>,
}

impl PhraseLearner {
    /// Counts the sequences of a text, in time linear in it.
    pub fn add(&mut self, segmenter: &dyn Segmenter, text: &str) {
        adjacent_pieces(segmenter, text, MAX_PIECES, &mut |pieces| {
            for run in pieces.split(|piece| !may_be_part(&text[piece.clone()])) {
                self.pieces += run.len() as u64;
                (0..run.len()).for_each(|first| self.add_sequences(text, &run[first..]));
            }
            if self.counts.len() > MAX_SEQUENCES {
                self.forget_rarest();
            }
        });
    }

    /// Keeps half of the sequences at most, so that this is rare however long a text is.
    fn forget_rarest(&mut self) {
        let mut least = 1;
        while self.counts.len() > MAX_SEQUENCES / 2 {
            self.counts.retain(|_, sequence| sequence.count > least);
            least *= 2;
        }
    }

    /// Counts the sequences that begin with the first of these pieces, and the piece itself.
    fn add_sequences(&mut self, text: &str, run: &[Range<usize>]) {
        let Some(start) = run.first().map(|piece| piece.start) else { return };
        for last in 0..run.len().min(MAX_CHARACTERS) {
            let word = &text[start..run[last].end];
            if last > 0 && word.chars().nth(MAX_CHARACTERS).is_some() {
                return;
            }
            let lengths = || run[..=last].iter().map(Range::len).collect();
            match self.counts.get_mut(word) {
                Some(sequence) => sequence.count = sequence.count.saturating_add(1),
                None => {
                    self.counts.insert(word.to_owned(), Sequence { count: 1, pieces: lengths() });
                }
            }
        }
    }

    /// The words found, in alphabetical order.
    pub fn finish(&self) -> Vec<String> {
        let frequent = self.counts.iter().filter(|(word, sequence)| self.is_word(word, sequence));
        let found: BTreeMap<&str, u32> = frequent.map(|(word, sequence)| (word.as_str(), sequence.count)).collect();
        // The most places of a longer word, by part. A word has few characters, so it has few parts.
        let mut longer: HashMap<&str, u32> = HashMap::new();
        for (word, count) in &found {
            for part in parts_of(word) {
                let most = longer.entry(part).or_default();
                *most = (*most).max(*count);
            }
        }
        let is_part = |part: &str, count: u32| {
            longer.get(part).is_some_and(|of_word| f64::from(*of_word) >= SHARE_OF_PART * f64::from(count))
        };
        found.iter().filter(|(word, count)| !is_part(word, **count)).map(|(word, _)| (*word).to_owned()).collect()
    }

    fn is_word(&self, word: &str, sequence: &Sequence) -> bool {
        if sequence.pieces.len() < 2 || sequence.count < LEAST_COUNT {
            return false;
        }
        let ends = sequence.pieces.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let count = |part: &str| self.counts.get(part).map_or(0.0, |sequence| f64::from(sequence.count));
        let together = f64::from(sequence.count);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let pieces: Vec<&str> = starts.zip(&ends).filter_map(|(start, end)| word.get(start..*end)).collect();
        let is_single = |piece: &&str| piece.chars().nth(1).is_none();
        if !pieces.iter().all(is_single) {
            let mut single = pieces.iter().filter(|piece| is_single(piece)).peekable();
            return single.peek().is_some() && single.all(|piece| together >= SHARE_OF_PIECE * count(piece));
        }
        let mut halves = ends.iter().filter_map(|end| word.split_at_checked(*end)).filter(|(_, rest)| !rest.is_empty());
        halves.all(|(one, other)| {
            let by_chance = count(one) * count(other) / self.pieces as f64;
            together >= COHESION * by_chance
        })
    }
}

/// Whether a piece may be part of a word: Han, and no stop word.
/// The sequences of characters within a word, without the word itself.
fn parts_of(word: &str) -> impl Iterator<Item = &str> {
    let bounds: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
    let last = bounds.len() - 1;
    let pairs = (0..last).flat_map(move |start| (start + 1..=last).map(move |end| (start, end)));
    pairs.filter(move |pair| *pair != (0, last)).map(move |(start, end)| &word[bounds[start]..bounds[end]])
}

fn may_be_part(piece: &str) -> bool {
    piece.chars().all(is_han) && !stop_words::contains(piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IcuSegmenter;
    use proptest::prelude::*;

    fn learned(texts: &[&str]) -> Vec<String> {
        let mut learner = PhraseLearner::default();
        texts.iter().for_each(|text| learner.add(&IcuSegmenter::default(), text));
        learner.finish()
    }

    const TEXTS: [&str; 6] = [
        "国际航班晚点，旅客在机场等候。景区今天开放，门票免费。",
        "由于天气原因，多个航班取消。古镇的门票需要预订，景区提供导游。",
        "航班信息请咨询航空公司。古镇离机场不远，适合周末旅行。",
        "我们去机场接朋友，然后去酒店休息。景区的门票在网上出售。",
        "他去学校上课，她去医院看病，你去公司开会。邮轮停靠港口。",
        "邮轮旅行很受欢迎，乘坐邮轮可以参观古镇。",
    ];

    #[test]
    fn words_that_the_dictionary_lacks_are_learned_from_a_few_places() {
        assert_eq!(learned(&TEXTS), ["古镇", "景区", "航班", "邮轮", "门票"]);
        assert!(learned(&TEXTS[..2]).is_empty(), "two places are too few");
    }

    #[test]
    fn a_verb_before_known_words_is_no_part_of_them() {
        let texts = ["打车去机场。", "坐车去机场。", "他去机场。", "去学校。", "去医院。", "去公司。", "去酒店。"];
        assert!(learned(&texts).is_empty(), "{:?}", learned(&texts));
    }

    #[test]
    fn a_page_without_punctuation_takes_linear_time() {
        assert!(learned(&["航".repeat(1 << 16).as_str()]).len() <= 3);
    }

    proptest! {
        #[test]
        fn any_text_teaches_words_that_stand_in_it(text in "(航|班|轮|机场|景|区|的|a| |。){0,60}") {
            for word in learned(&[&text]) {
                prop_assert!(text.matches(word.as_str()).count() > 0);
                prop_assert!((2..=MAX_CHARACTERS).contains(&word.chars().count()));
            }
        }
    }
}

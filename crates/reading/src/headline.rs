//! Finds the title of a page that does not declare one.
//!
//! The first heading is the title: `<h1>` before others. A page without headings may have a line that looks like one. The
//! published rule (Li, Zhao & Yu, section 3.5.2) has three steps:
//!
//! 1. The text begins with the first paragraph of some length.
//! 2. The title is the line before it that stands out from it by size, centring or colour; emphasis counts here, too. The
//!    largest is taken, among equals the one with most of the other signs.
//! 3. The place is adjusted by parameters and by statistics of the words. A line whose words come again in the text is
//!    better than one whose words do not, such as a date or the name of the newspaper; among equals the nearest to the text
//!    is taken. A line beside the title that is set alike and comes again in the text is the title's other half.

use crate::main_text::{beside, hidden, is_mostly_link};
use crate::text_blocks::{BlockKind, TextBlock, blocks};
use crate::text_style::{TextStyle, styles};
use crate::tree::Tree;
use std::collections::HashSet;

/// Characters of the text whose words are compared with those of lines before it.
const COMPARED_CHARACTERS: usize = 4000;
/// Shorter words of scripts with spaces are in any text.
const LEAST_WORD_CHARACTERS: usize = 4;

/// The parameters of the rule. Lengths are in columns, as a fixed-width font has them and GBK has bytes: a Chinese character
/// is two, so that a paragraph needs half as many of them. White space does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TitleRules {
    /// The shortest block with which the text of a page begins. Headings and lists of links do not count.
    pub paragraph_columns: usize,
    /// Longer blocks are no titles.
    pub longest_columns: usize,
    /// How many lines away from the one that stands out most the title may be.
    pub adjusted_lines: usize,
    /// The share of a line's words that come again in the text, from which the line may be the title in place of one whose
    /// words do not, or the other half of the title.
    pub shared_words: f64,
}

impl Default for TitleRules {
    fn default() -> Self {
        Self { paragraph_columns: 60, longest_columns: 150, adjusted_lines: 2, shared_words: 0.5 }
    }
}

/// The title by the published rule alone, whatever the head of the page says.
pub fn published_title(html: &str, rules: &TitleRules) -> Option<String> {
    Candidates::find(&Tree::of(html), rules).outstanding(rules)
}

/// The title of a page that declares none: its first heading, or else a line that looks like one.
pub(crate) fn headline(tree: &Tree<'_>) -> Option<String> {
    let rules = TitleRules::default();
    let candidates = Candidates::find(tree, &rules);
    let first = |is_it: fn(u8) -> bool| candidates.all.iter().find(|it| it.style.heading.is_some_and(is_it));
    let heading = first(|level| level == 1).or_else(|| first(|_| true));
    heading.map(|candidate| candidate.text.clone()).or_else(|| candidates.outstanding(&rules))
}

/// A block that may be a title.
struct Candidate {
    text: String,
    style: TextStyle,
    /// Its place among the blocks of the page.
    place: usize,
}

/// Blocks that may be a title, in order.
struct Candidates {
    all: Vec<Candidate>,
    /// How many of them are before the first paragraph.
    before_text: usize,
    /// How the first paragraph is set.
    text_style: TextStyle,
    /// Words of the text from the first paragraph on.
    text_words: HashSet<String>,
}

impl Candidates {
    fn find(tree: &Tree<'_>, rules: &TitleRules) -> Self {
        let (blocks, hints) = blocks(tree);
        let left_out = beside(tree, &blocks, &hints, &hidden(tree, &blocks, &hints));
        let styles = styles(tree, &blocks);
        let is_paragraph = |(block, left_out): (&TextBlock, &bool)| {
            !left_out
                && block.kind != BlockKind::Heading
                && columns(&block.text) >= rules.paragraph_columns
                && !is_mostly_link(block)
        };
        let text_start = blocks.iter().zip(&left_out).position(is_paragraph).unwrap_or(blocks.len());
        let mut found = Self {
            all: Vec::new(),
            before_text: 0,
            text_style: styles.get(text_start).cloned().unwrap_or_default(),
            text_words: HashSet::new(),
        };
        let mut compared = 0;
        for block in blocks.iter().skip(text_start) {
            if compared < COMPARED_CHARACTERS {
                found.text_words.extend(words(&block.text, COMPARED_CHARACTERS - compared));
                compared += block.characters;
            }
        }
        for (place, (block, style)) in blocks.into_iter().zip(styles).enumerate() {
            let may_be = style.heading.is_some() || !is_mostly_link(&block);
            if !left_out[place] && may_be && columns(&block.text) <= rules.longest_columns {
                found.before_text += usize::from(place < text_start);
                found.all.push(Candidate { text: block.text, style, place });
            }
        }
        found
    }

    /// The candidate before the text that stands out most, adjusted.
    fn outstanding(&self, rules: &TitleRules) -> Option<String> {
        let before = &self.all[..self.before_text];
        let shared: Vec<f64> = before.iter().map(|it| self.shared_words(&it.text)).collect();
        let outstanding = || (0..before.len()).filter(|&at| before[at].style.stands_out(&self.text_style));
        let signs = |at: usize| before[at].style.signs(&self.text_style);
        let order = |one: &usize, other: &usize| {
            let (one, other) = (*one, *other);
            before[one].style.size.total_cmp(&before[other].style.size).then(signs(one).cmp(&signs(other)))
        };
        let better = |one: &usize, other: &usize| order(one, other).then(shared[*one].total_cmp(&shared[*other]));
        let mut title = outstanding().max_by(better)?;
        if shared[title] == 0.0 {
            let near = |at: &usize| {
                shared[*at] >= rules.shared_words
                    && before[*at].place.abs_diff(before[title].place) <= rules.adjusted_lines
            };
            title = outstanding().filter(near).max_by(better).unwrap_or(title);
        }
        Some(self.with_other_half(title, &shared, rules))
    }

    /// The text of a candidate, with a line before or after it that is its other half.
    fn with_other_half(&self, title: usize, shared: &[f64], rules: &TitleRules) -> String {
        let candidate = &self.all[title];
        let is_half = |at: &usize| {
            let other = &self.all[*at];
            other.style == candidate.style
                && other.place.abs_diff(candidate.place) == 1
                && shared[*at].min(shared[title]) >= rules.shared_words
                && columns(&other.text) + columns(&candidate.text) <= rules.longest_columns
        };
        let before = title.checked_sub(1).filter(is_half).map(|at| &self.all[at]);
        let after = Some(title + 1).filter(|at| *at < self.before_text && before.is_none()).filter(is_half);
        let lines = before.into_iter().chain([candidate]).chain(after.map(|at| &self.all[at]));
        lines.map(|candidate| candidate.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The share of a line's words that come again in the text.
    fn shared_words(&self, line: &str) -> f64 {
        let words = words(line, usize::MAX);
        let again = words.iter().filter(|word| self.text_words.contains(*word)).count();
        if words.is_empty() { 0.0 } else { again as f64 / words.len() as f64 }
    }
}

/// The length of a text in columns, without white space.
fn columns(text: &str) -> usize {
    let of = |character: char| if is_wide(character) { 2 } else { 1 };
    text.chars().filter(|character| !character.is_whitespace()).map(of).sum()
}

/// Whether a character takes two columns: Han, kana, hangul and full-width forms.
fn is_wide(character: char) -> bool {
    matches!(character, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{FF01}'..='\u{FF60}'
        | '\u{20000}'..='\u{323AF}')
}

/// The words among the first characters of a text: those of some length, and pairs of neighbours of scripts without spaces.
fn words(text: &str, most_characters: usize) -> HashSet<String> {
    let end = text.char_indices().nth(most_characters).map_or(text.len(), |(place, _)| place);
    let mut words = HashSet::new();
    for run in text[..end].split(|character: char| !character.is_alphanumeric()) {
        let characters: Vec<char> = run.chars().flat_map(char::to_lowercase).collect();
        let pairs = characters.windows(2).filter(|pair| pair.iter().all(|character| is_wide(*character)));
        words.extend(pairs.map(|pair| pair.iter().collect()));
        if characters.len() >= LEAST_WORD_CHARACTERS && !characters.iter().any(|character| is_wide(*character)) {
            words.insert(characters.into_iter().collect());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str =
        "<p>The committee met on Monday and decided, after some debate, that nothing would be done at all.</p>";
    const CHINESE: &str = "<p>市环保局昨天公布了今年第一季度的空气质量报告，结果好于去年同期水平。</p>";

    fn title_of(html: &str) -> Option<String> {
        published_title(html, &TitleRules::default())
    }

    #[test]
    fn the_published_rule_takes_what_stands_out_before_the_text() {
        let check = |before: &str, expected: Option<&str>| {
            let page = format!("<title>no</title>{before}{TEXT}<p><font size=7>Behind</font></p>");
            assert_eq!(title_of(&page).as_deref(), expected, "{before}");
        };
        check("<p>One</p><p><font size=5>Two</font></p><p>Three</p>", Some("Two"));
        check("<p style='font-size: 24px'>One</p><div><span style=FONT-SIZE:2em>Two</span></div>", Some("Two"));
        check("<p><big>One</big></p><p><big><b>Two</b></big></p><p><big>Three</big></p>", Some("Two"));
        check("<p><b>One</b></p><p><strong>Two</strong></p>", Some("Two"));
        check("<h3>One</h3><p style='font-size:x-large'>Two</p>", Some("Two"));
        check("<nav><h1>Menu</h1></nav><p><big><a href=/>Home</a></big></p><p><b>One</b></p>", Some("One"));
        check("<p>One</p><p style=font-weight:700>Two</p>", Some("Two"));
        check("<b style=font-weight:normal>One</b>", None);
        check("<p><font size=2>One</font></p>", None);
        check("", None);
        assert_eq!(title_of("<p><font size=+2>Alone</font>").as_deref(), Some("Alone"));
    }

    #[test]
    fn centring_and_colour_are_signs_of_a_title() {
        let check = |before: &str, expected: Option<&str>| {
            assert_eq!(title_of(&format!("{before}{TEXT}")).as_deref(), expected, "{before}");
        };
        check("<p align=center>One</p><p>Two</p>", Some("One"));
        check("<center>One</center><p>Two</p>", Some("One"));
        check("<p>Two</p><div align=CENTER><p>One</p></div>", Some("One"));
        check("<p style='text-align: center'>One</p><p>Two</p>", Some("One"));
        check("<center><p align=left>One</p></center>", None);
        check("<p><font color=red>One</font></p><p>Two</p>", Some("One"));
        check("<p><span style='color:#c00'>One</span></p><p>Two</p>", Some("One"));
        check("<p><font color=black>One</font></p>", None);
        check("<p align=center>One</p><p align=center><font color=blue>Two</font></p><p><b>Three</b></p>", Some("Two"));
        check("<p align=center>One</p><p><font size=4>Two</font></p>", Some("Two"));
    }

    #[test]
    fn what_is_set_like_the_text_does_not_stand_out() {
        let page = |inside: &str| format!("{inside}One</p>{}", TEXT.replace("<p>", inside));
        assert_eq!(title_of(&page("<p align=center>")), None);
        assert_eq!(title_of(&page("<p style=color:navy>")), None);
        assert_eq!(title_of(&page("<p style=font-size:20px>")), None);
        assert_eq!(title_of(&format!("<p style=font-size:18px>One</p>{TEXT}")).as_deref(), Some("One"));
    }

    #[test]
    fn a_chinese_paragraph_may_be_half_as_long() {
        let page = format!("<p align=center>空气质量好转</p>{CHINESE}<p align=center><font size=7>版权所有</font></p>");
        assert_eq!(title_of(&page).as_deref(), Some("空气质量好转"));
        let longer = TitleRules { paragraph_columns: 200, ..TitleRules::default() };
        assert_eq!(published_title(&page, &longer).as_deref(), Some("版权所有"));
    }

    #[test]
    fn a_line_that_the_text_repeats_is_better_than_one_that_it_does_not() {
        let line = |text: &str| format!("<p align=center>{text}</p>");
        let page = format!("{}{}{CHINESE}", line("一季度空气质量报告公布"), line("2002年3月5日 新华网"));
        assert_eq!(title_of(&page).as_deref(), Some("一季度空气质量报告公布"));
        // The name of the newspaper is larger, but the text says nothing of it.
        let page = format!("<p><font size=6>人民晚报</font></p>{}{CHINESE}", line("一季度空气质量报告公布"));
        assert_eq!(title_of(&page).as_deref(), Some("一季度空气质量报告公布"));
        let far = format!("{}<p>a</p><p>b</p><p><font size=6>人民晚报</font></p>{CHINESE}", line("空气质量报告"));
        assert_eq!(title_of(&far).as_deref(), Some("人民晚报"));
    }

    #[test]
    fn a_title_of_two_lines_is_whole() {
        let page = "<p align=center>Committee after some debate</p><p align=center>decided nothing on Monday</p>";
        let title = title_of(&format!("{page}{TEXT}"));
        assert_eq!(title.as_deref(), Some("Committee after some debate decided nothing on Monday"));
        let other = "<p align=center>Committee after some debate</p><p align=center>From our correspondent</p>";
        assert_eq!(title_of(&format!("{other}{TEXT}")).as_deref(), Some("Committee after some debate"));
    }

    #[test]
    fn headings_come_first_and_h1_before_others() {
        let check = |html: &str, expected: Option<&str>| {
            assert_eq!(headline(&Tree::of(html)).as_deref(), expected, "{html}");
        };
        check(&format!("<p><font size=7>Big</font></p>{TEXT}<h2>Two</h2><h1>One</h1>"), Some("One"));
        check(&format!("<h3><a href=/>Linked</a></h3>{TEXT}<h2>Two</h2>"), Some("Linked"));
        check(&format!("<h1 hidden>No</h1><p><b>Bold</b></p>{TEXT}"), Some("Bold"));
        check(TEXT, None);
    }

    #[test]
    fn deep_pages_have_sizes() {
        let page = format!("{}x", "<big><div style=font-size:200%><h1>".repeat(10_000));
        assert_eq!(title_of(&page).as_deref(), Some("x"));
    }

    proptest! {
        #[test]
        fn any_soup_has_a_title_or_none(
            soup in "(<h1>|<center>|<font (size|color)=|<p style='(font-size|color):|[0-9]|-|%|#|em|px|e9|>|'| |a|帆船|<b>|</b>|</p>){0,40}"
        ) {
            title_of(&soup);
        }
    }
}

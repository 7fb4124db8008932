//! The file of a focus: TOML that people read, write and change.
//!
//! ```toml
//! format = 1
//! name = "sailing"
//! segmenter = "icu4x-dictionary-2"      # which program cut the terms; absent in a file written by hand
//! threshold = { en = 0.2, zh = 0.25 }   # relevance from which a page is about the focus; 0.3 if absent; or one number
//! examples = ["https://a.example/1"]    # pages it was learned from
//! seeds = ["https://a.example/"]        # where a crawl for it may begin
//!
//! [terms]                               # by language
//! zh = ["帆船", "龙骨"]                  # all of the same weight
//! [terms.en]
//! boat = 0.62
//! mainsail = 0.4
//!
//! [near]                                # words near to terms, which count in links
//! "帆船" = ["游艇", "帆板"]               # of similarity 0.75
//! boat = { yacht = 0.9, ferry = 0.6 }
//! ```
//!
//! Terms written by hand are cut as the words of a page are: one of two words is two terms. A Chinese one without spaces is
//! one term, whatever the dictionary knows. Learned terms are taken as they are, and only if the segmenter is the one that
//! cut them.

mod near;

use crate::focus::{Focus, LanguageTerms};
use crate::phrases::WrittenWords;
use crate::relevance::DEFAULT_THRESHOLD;
use crate::vector::FocusVector;
use crate::words::{Segmenter, terms};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The version of the format.
pub(crate) const FORMAT: i64 = 1;
/// The most terms of a language in a file. Comparing a page takes time linear in them.
const MAX_TERMS: usize = 2000;
/// The most languages of a focus.
const MAX_LANGUAGES: usize = 32;

/// A fault in the file of a focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FocusFault {
    /// The line, counted from 1.
    pub line: usize,
    /// The reason why the line is refused, and the correction to make.
    pub problem: String,
}

/// Why a file is no focus: all its faults, by line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FocusFileError {
    /// The faults, sorted by line.
    pub faults: Vec<FocusFault>,
}

impl fmt::Display for FocusFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> =
            self.faults.iter().map(|fault| format!("line {}: {}", fault.line, fault.problem)).collect();
        f.write_str(&lines.join("\n"))
    }
}

pub fn read_focus(text: &str, segmenter: &dyn Segmenter) -> Result<Focus, FocusFileError> {
    let mut reader = TopicReader { text, segmenter, faults: Vec::new() };
    let focus = reader.read();
    reader.faults.sort_by_key(|fault| fault.line);
    if reader.faults.is_empty() { Ok(focus) } else { Err(FocusFileError { faults: reader.faults }) }
}

/// Thresholds as a file gives them.
enum Thresholds {
    All(f64),
    /// By language, with the place in the file.
    ByLanguage(BTreeMap<String, (f64, Range<usize>)>),
}

type Value<'a> = Spanned<DeValue<'a>>;

struct TopicReader<'a> {
    text: &'a str,
    segmenter: &'a dyn Segmenter,
    faults: Vec<FocusFault>,
}

impl TopicReader<'_> {
    fn read(&mut self) -> Focus {
        let mut focus = Focus::new("", self.segmenter.version());
        let (document, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            self.fault(error.span().unwrap_or_default(), format!("{}; the file is TOML", error.message()));
        }
        if !self.faults.is_empty() {
            return focus;
        }
        let table = document.get_ref();
        let mut thresholds = Thresholds::All(DEFAULT_THRESHOLD);
        let mut near = None;
        let is_learned = table.contains_key("segmenter");
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "format" => self.format(value),
                "name" => focus.name = self.string(value, "name"),
                "segmenter" => self.segmenter(value),
                "threshold" => thresholds = self.thresholds(value),
                "examples" => focus.examples = self.strings(value, "examples"),
                "seeds" => focus.seeds = self.strings(value, "seeds"),
                "terms" => focus.languages = self.languages(value, is_learned),
                "near" => near = Some(value),
                other => self.fault(
                    key.span(),
                    format!("{other} is no key of a focus; there are format, name, segmenter, threshold, examples, seeds, terms and near"),
                ),
            }
        }
        for (key, missing) in
            [("format", "format = 1"), ("name", "name = \"…\""), ("terms", "[terms.en] and words below it")]
        {
            if !table.contains_key(key) {
                self.fault(0..0, format!("{key} is missing; write {missing}"));
            }
        }
        self.set_thresholds(&mut focus, thresholds);
        if let Some(near) = near {
            self.near_words(&mut focus, near, is_learned);
        }
        focus
    }

    fn fault(&mut self, place: Range<usize>, problem: String) {
        let line = 1 + self.text.bytes().take(place.start).filter(|byte| *byte == b'\n').count();
        self.faults.push(FocusFault { line, problem });
    }

    fn format(&mut self, value: &Value<'_>) {
        if !matches!(value.get_ref(), DeValue::Integer(number) if number.as_str() == FORMAT.to_string()) {
            self.fault(value.span(), format!("this program reads format = {FORMAT}"));
        }
    }

    fn segmenter(&mut self, value: &Value<'_>) {
        let (version, ours) = (self.string(value, "segmenter"), self.segmenter.version());
        if !version.is_empty() && version != ours {
            let problem = format!("the terms were cut by {version:?}, this program cuts words by {ours:?}");
            let step = "learn the focus again from its examples, or delete the line if the terms are written by hand";
            self.fault(value.span(), format!("{problem}; {step}"));
        }
    }

    fn thresholds(&mut self, value: &Value<'_>) -> Thresholds {
        let DeValue::Table(table) = value.get_ref() else { return Thresholds::All(self.threshold(value)) };
        let mut of_language = |(language, value): (&Spanned<Cow<'_, str>>, &Value<'_>)| {
            (language.get_ref().to_string(), (self.threshold(value), language.span()))
        };
        Thresholds::ByLanguage(table.iter().map(&mut of_language).collect())
    }

    fn threshold(&mut self, value: &Value<'_>) -> f64 {
        let threshold = number(value.get_ref()).filter(|threshold| *threshold > 0.0 && *threshold <= 1.0);
        threshold.unwrap_or_else(|| {
            self.fault(value.span(), "threshold is a number above 0 and up to 1, or { en = 0.2, … }".to_owned());
            DEFAULT_THRESHOLD
        })
    }

    fn set_thresholds(&mut self, focus: &mut Focus, thresholds: Thresholds) {
        match thresholds {
            Thresholds::All(threshold) => focus.languages.values_mut().for_each(|terms| terms.threshold = threshold),
            Thresholds::ByLanguage(thresholds) => {
                for (language, (threshold, place)) in thresholds {
                    match focus.languages.get_mut(&language) {
                        Some(terms) => terms.threshold = threshold,
                        None => self.fault(
                            place,
                            format!("there is no [terms.{language}]; write it, or leave the threshold out"),
                        ),
                    }
                }
            }
        }
    }

    fn string(&mut self, value: &Value<'_>, what: &str) -> String {
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => text.to_string(),
            _ => {
                self.fault(value.span(), format!("{what} is a text in quotes that is not empty"));
                String::new()
            }
        }
    }

    fn strings(&mut self, value: &Value<'_>, what: &str) -> Vec<String> {
        match value.get_ref() {
            DeValue::Array(values) => {
                values.iter().map(|value| self.string(value, &format!("each of {what}"))).collect()
            }
            _ => {
                self.fault(value.span(), format!("{what} is a list of addresses: [\"https://…\"]"));
                Vec::new()
            }
        }
    }

    fn languages(&mut self, value: &Value<'_>, is_learned: bool) -> BTreeMap<String, LanguageTerms> {
        let DeValue::Table(languages) = value.get_ref() else {
            self.fault(value.span(), "terms are tables by language; write [terms.en] and words below it".to_owned());
            return BTreeMap::new();
        };
        if languages.is_empty() || languages.len() > MAX_LANGUAGES {
            self.fault(value.span(), format!("terms are of 1 to {MAX_LANGUAGES} languages"));
        }
        let mut terms = BTreeMap::new();
        for (language, value) in languages {
            let vector = self.vector(language.get_ref(), value, is_learned);
            terms.insert(language.get_ref().to_string(), LanguageTerms { threshold: DEFAULT_THRESHOLD, vector });
        }
        terms
    }

    fn vector(&mut self, language: &str, value: &Value<'_>, is_learned: bool) -> FocusVector {
        let weighted: Vec<(Cow<'_, str>, Range<usize>, Option<f64>)> = match value.get_ref() {
            DeValue::Table(table) => {
                let entry = |(term, weight): (&Spanned<Cow<'_, str>>, &Value<'_>)| {
                    (Cow::Owned(term.get_ref().to_string()), term.span(), number(weight.get_ref()))
                };
                table.iter().map(entry).collect()
            }
            DeValue::Array(list) => {
                let entry = |term: &Value<'_>| (Cow::Owned(self.string(term, "each term")), term.span(), Some(1.0));
                list.iter().map(entry).collect()
            }
            _ => {
                self.fault(value.span(), format!("terms.{language} is a table of weights or a list of words"));
                return FocusVector::default();
            }
        };
        if weighted.is_empty() || weighted.len() > MAX_TERMS {
            self.fault(value.span(), format!("terms.{language} has {} terms; give 1 to {MAX_TERMS}", weighted.len()));
        }
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        for (term, place, weight) in weighted.into_iter().take(MAX_TERMS) {
            let Some(weight) = weight.filter(|weight| weight.is_finite() && *weight > 0.0) else {
                self.fault(place, format!("the weight of {term:?} is a number above 0"));
                continue;
            };
            let mut add = |term: &str| {
                let known = weights.entry(term.to_owned()).or_default();
                *known = known.max(weight);
            };
            self.terms_of(&term, place, is_learned).iter().for_each(|term| add(term));
        }
        FocusVector::new(weights, MAX_TERMS)
    }

    /// The terms of words in a file: one for a learned term, and several for a text of several words.
    fn terms_of(&mut self, text: &str, place: Range<usize>, is_learned: bool) -> Vec<String> {
        if is_learned {
            return vec![text.to_owned()];
        }
        let mut found = Vec::new();
        terms(&WrittenWords(self.segmenter), text, &mut |term, _| found.push(term.to_owned()));
        if found.is_empty() && !text.is_empty() {
            self.fault(place, format!("{text:?} stands in pages of any focus; leave it out, or write a longer word"));
        }
        found
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(number) => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

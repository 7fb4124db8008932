//! The near words in the file of a focus.

use super::{TopicReader, Value, number};
use crate::focus::Focus;
use crate::near_words::{LISTED_SIMILARITY, MAX_NEAR_WORDS};
use std::ops::Range;
use toml::de::DeValue;

impl TopicReader<'_> {
    /// Reads `[near]`, once the terms are known.
    pub(super) fn near_words(&mut self, focus: &mut Focus, value: &Value<'_>, is_learned: bool) {
        let DeValue::Table(table) = value.get_ref() else {
            let form = "near is a table of terms; write [near] and lines such as boat = [\"yacht\"] below it";
            return self.fault(value.span(), form.to_owned());
        };
        for (term, near) in table {
            let of = self.terms_of(term.get_ref(), term.span(), is_learned);
            let is_term = |of: &String| focus.languages.values().any(|terms| terms.vector.weight(of) > 0.0);
            if of.is_empty() {
                continue;
            }
            if !of.iter().all(is_term) {
                let problem = format!("{:?} is no term of the focus", term.get_ref());
                self.fault(term.span(), format!("{problem}; write it below [terms], or leave its near words out"));
                continue;
            }
            for (word, place, similarity) in self.similar_words(near) {
                for word in self.terms_of(&word, place.clone(), is_learned) {
                    if !of.iter().all(|of| focus.near.add(&word, of, similarity)) {
                        let problem = format!("there are more than {MAX_NEAR_WORDS} near words; leave some out");
                        return self.fault(place, problem);
                    }
                }
            }
        }
    }

    /// The near words of a term with their places and similarities.
    fn similar_words(&mut self, value: &Value<'_>) -> Vec<(String, Range<usize>, f64)> {
        let mut words = Vec::new();
        match value.get_ref() {
            DeValue::Array(list) => {
                let listed =
                    list.iter().map(|word| (self.string(word, "each near word"), word.span(), LISTED_SIMILARITY));
                words.extend(listed.filter(|(word, ..)| !word.is_empty()));
            }
            DeValue::Table(table) => {
                for (word, similarity) in table {
                    let (name, place) = (word.get_ref(), word.span());
                    match number(similarity.get_ref()).filter(|number| *number > 0.0 && *number <= 1.0) {
                        Some(similarity) => words.push((name.to_string(), place, similarity)),
                        None => {
                            self.fault(place, format!("the similarity of {name:?} is a number above 0 and up to 1"))
                        }
                    }
                }
            }
            _ => {
                let problem = "near words are a list, [\"yacht\"], or a table of similarities, { yacht = 0.9 }";
                self.fault(value.span(), problem.to_owned());
            }
        }
        words
    }
}

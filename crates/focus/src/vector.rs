//! The vector of a focus: its terms with their weights.

use std::collections::BTreeMap;

/// Terms that a learned focus keeps in each language, as published.
pub const FOCUS_TERMS: usize = 200;

/// Terms with positive weights, whose squares sum to 1. Empty for a focus without terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FocusVector {
    weights: BTreeMap<String, f64>,
    largest: f64,
}

impl FocusVector {
    /// Keeps the `most` terms of largest weight, and scales them to length 1. Among equals the first in the alphabet are
    /// kept. Weights that are not positive numbers are left out.
    pub fn new(weights: impl IntoIterator<Item = (String, f64)>, most: usize) -> Self {
        let mut terms: Vec<(String, f64)> =
            weights.into_iter().filter(|(_, weight)| weight.is_finite() && *weight > 0.0).collect();
        terms.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        terms.truncate(most);
        // Scaled by the largest first, so that no square is out of range.
        let scale = terms.first().map_or(1.0, |first| first.1);
        let length = terms.iter().map(|(_, weight)| (weight / scale).powi(2)).sum::<f64>().sqrt();
        let weights: BTreeMap<String, f64> =
            terms.into_iter().map(|(term, weight)| (term, weight / scale / length)).collect();
        let largest = weights.values().copied().fold(0.0, f64::max);
        Self { weights, largest }
    }

    /// The weight of a term; 0 for one that is not the focus's.
    pub fn weight(&self, term: &str) -> f64 {
        self.weights.get(term).copied().unwrap_or(0.0)
    }

    /// How close a term is to the focus, from 0 to 1: its weight relative to the focus's largest. The published system
    /// took it from a thesaurus: 1 for synonyms, half or more for near words, less for far ones.
    pub fn closeness(&self, term: &str) -> f64 {
        if self.largest > 0.0 { self.weight(term) / self.largest } else { 0.0 }
    }

    /// The terms with their weights, in alphabetical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.weights.iter().map(|(term, weight)| (term.as_str(), *weight))
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(weights: &[(&str, f64)], most: usize) -> FocusVector {
        FocusVector::new(weights.iter().map(|(term, weight)| ((*term).to_owned(), *weight)), most)
    }

    #[test]
    fn the_best_terms_are_kept_at_length_one() {
        let kept = vector(&[("a", 3.0), ("b", 4.0), ("c", 1.0), ("d", -9.0), ("e", f64::NAN)], 2);
        assert_eq!(kept.iter().collect::<Vec<_>>(), [("a", 0.6), ("b", 0.8)]);
        assert_eq!((kept.closeness("b"), kept.closeness("a"), kept.closeness("c")), (1.0, 0.6 / 0.8, 0.0));
        assert!(vector(&[("a", 0.0)], 5).is_empty());
        assert_eq!(vector(&[], 5).closeness("a"), 0.0);
    }

    proptest! {
        #[test]
        fn any_weights_give_length_one(weights in proptest::collection::vec(proptest::num::f64::ANY, 0..30)) {
            let named = weights.iter().enumerate().map(|(index, weight)| (format!("t{index}"), *weight));
            let vector = FocusVector::new(named, 10);
            let length: f64 = vector.iter().map(|(_, weight)| weight * weight).sum();
            prop_assert!(vector.len() <= 10 && (vector.is_empty() || (length - 1.0).abs() < 1e-9), "{length}");
        }
    }
}

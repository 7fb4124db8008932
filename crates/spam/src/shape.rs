//! Signals, their scores, and what they come to together.

use importance::trust::trusted_weight;
use std::fmt;

/// Score from which a page or site counts as spam where that is a matter of yes or no.
const SPAM_FROM: f64 = 0.5;

/// A statistic that spam is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Share of the sites linking here that are linked back.
    LinkExchange,
    /// Share of the sites linked back that a neighbour exchanges links with, too.
    DenseGroup,
    /// Share of the sites linking here whose links lead to the same sites.
    AlikeSites,
    /// Sites that have pages with exactly this number of links, over the number that is expected.
    CommonDegree,
    /// Share of the phrases of five words that the text has said before.
    RepeatedPhrases,
    /// Share of the words that are the commonest one.
    CommonestWord,
    /// Bytes of the text over its bytes when compressed.
    Compressible,
}

/// How a value becomes a score.
struct Scale {
    /// Values up to this one are usual: their score is 0.
    usual: f64,
    /// Values from this one on have the full score.
    full: f64,
    /// The full score. Below 1 for signals that honest pages show now and then.
    most: f64,
}

impl Signal {
    const fn scale(self) -> Scale {
        let (usual, full, most) = match self {
            // Few sites get most of their links from sites that they link themselves.
            Self::LinkExchange => (0.5, 0.9, 0.7),
            // Of a clique all, of sites that exchange links by chance hardly any.
            Self::DenseGroup => (0.25, 0.6, 1.0),
            Self::AlikeSites => (0.4, 0.8, 1.0),
            // A popular template gives many sites pages of one degree.
            Self::CommonDegree => (5.0, 15.0, 0.5),
            Self::RepeatedPhrases => (0.6, 0.9, 1.0),
            Self::CommonestWord => (0.15, 0.3, 1.0),
            // Of the pages that were compressed to a quarter and less, 70 % were spam (Ntoulas et al., figure 8).
            Self::Compressible => (4.0, 8.0, 0.7),
        };
        Scale { usual, full, most }
    }

    /// The largest score of the signal alone.
    pub(crate) const fn most_score(self) -> f64 {
        self.scale().most
    }

    /// The score of a value: 0 up to what is usual, then rising in proportion.
    fn score(self, value: f64) -> f64 {
        let Scale { usual, full, most } = self.scale();
        most * ((value - usual) / (full - usual)).clamp(0.0, 1.0)
    }
}

/// A signal with an unusual value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspicion {
    pub signal: Signal,
    /// The value measured, in the unit of the signal.
    pub value: f64,
    /// From 0 to 1.
    pub score: f64,
}

/// The signals of a page or site together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpamShape {
    suspicions: Vec<Suspicion>,
}

impl SpamShape {
    /// Adds what a signal measured. A usual value adds nothing. `confidence` from 0 to 1 lowers the score.
    pub(crate) fn add(&mut self, signal: Signal, value: f64, confidence: f64) {
        let score = signal.score(value) * confidence.clamp(0.0, 1.0);
        if score > 0.0 {
            self.suspicions.push(Suspicion { signal, value, score });
        }
    }

    /// The same judgement with another one of the page or its site.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.suspicions.extend(other.suspicions);
        self
    }

    /// The signals with unusual values.
    pub fn suspicions(&self) -> &[Suspicion] {
        &self.suspicions
    }

    /// From 0 to 1: 1 - Π (1 - s) over the scores s, as of signs that err independently.
    pub fn score(&self) -> f64 {
        1.0 - self.suspicions.iter().map(|one| 1.0 - one.score).product::<f64>()
    }

    /// Whether it counts as spam where that is a matter of yes or no: from a score of .5.
    pub fn is_spam(&self) -> bool {
        self.score() >= SPAM_FROM
    }

    /// A weight, lowered by the score as by spam mass: a tenth of it or of an ordinary page's weight remains
    /// ([`importance::trust::trusted_weight`]).
    pub fn weight(&self, weight: f64) -> f64 {
        trusted_weight(weight, self.score())
    }
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.value;
        match self.signal {
            Signal::LinkExchange => write!(f, "{percent:.0} % of the sites that link here are linked back"),
            Signal::DenseGroup => {
                write!(f, "{percent:.0} % of the sites that exchange links with it do so with each other")
            }
            Signal::AlikeSites => write!(f, "{percent:.0} % of the sites that link here have the same links"),
            Signal::CommonDegree => {
                write!(f, "{:.0} times as many sites as expected have pages with as many links", self.value)
            }
            Signal::RepeatedPhrases => write!(f, "{percent:.0} % of its phrases repeat earlier ones"),
            Signal::CommonestWord => write!(f, "{percent:.0} % of its words are the same one"),
            Signal::Compressible => write!(f, "its text is {:.1} times as long as its compressed form", self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Signal; 7] = [
        Signal::LinkExchange,
        Signal::DenseGroup,
        Signal::AlikeSites,
        Signal::CommonDegree,
        Signal::RepeatedPhrases,
        Signal::CommonestWord,
        Signal::Compressible,
    ];

    #[test]
    fn usual_values_are_no_suspicion_and_each_that_is_has_a_reason() {
        for signal in ALL {
            let Scale { usual, full, most } = signal.scale();
            let mut shape = SpamShape::default();
            shape.add(signal, usual, 1.0);
            assert_eq!((shape.suspicions(), shape.score()), (&[][..], 0.0), "{signal:?}");
            shape.add(signal, (usual + full) / 2.0, 1.0);
            assert!((shape.score() - most / 2.0).abs() < 1e-12, "{signal:?} {}", shape.score());
            assert!(shape.suspicions()[0].to_string().len() > 20);
        }
    }

    #[test]
    fn two_half_suspicions_are_three_quarters_of_one() {
        let half = |signal: Signal| {
            let mut shape = SpamShape::default();
            shape.add(signal, f64::MAX, 0.5 / signal.scale().most);
            shape
        };
        let both = half(Signal::DenseGroup).with(half(Signal::RepeatedPhrases));
        assert!((both.score() - 0.75).abs() < 1e-12 && both.is_spam());
        assert!((both.weight(8.0) - 2.1).abs() < 1e-12, "{}", both.weight(8.0));
    }

    proptest! {
        #[test]
        fn scores_are_bounded_and_rise_with_each_suspicion(
            values in prop::collection::vec((0usize..7, 0.0f64..100.0), 0..9),
        ) {
            let (mut shape, mut before) = (SpamShape::default(), 0.0);
            for (signal, value) in values {
                shape.add(ALL[signal], value, 1.0);
                prop_assert!((0.0..=1.0).contains(&shape.score()) && shape.score() >= before);
                before = shape.score();
                prop_assert!(shape.weight(3.0) <= 3.0 && shape.weight(3.0) > 0.0);
            }
        }
    }
}

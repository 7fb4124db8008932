//! Small curves of the numbers that watch rules have seen, from the newest changes.

use messages::{ChangeLine, NumberOrText};
use serde::Serialize;
use std::collections::BTreeMap;

/// Points of a curve: the last ones.
const POINTS: usize = 30;
/// Size of the picture.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 28.0;
/// Room for the ends of the line.
const MARGIN: f64 = 3.0;

/// The numbers of a page that a rule watches, by page and subject.
#[derive(Default)]
pub(super) struct Curves(BTreeMap<(String, String), Vec<f64>>);

/// A curve as a picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Curve {
    /// Points of a polyline.
    line: String,
    /// The numbers in words.
    label: String,
}

impl Curves {
    /// The curves of changes, the newest first.
    pub(super) fn of(newest: &[ChangeLine]) -> Self {
        let mut curves = Self::default();
        for change in newest.iter().rev() {
            for value in &change.values {
                let numbers = curves.0.entry((change.url.clone(), value.watch.clone())).or_default();
                if let (Some(NumberOrText::Number(before)), true) = (&value.before, numbers.is_empty()) {
                    numbers.push(*before);
                }
                if let Some(NumberOrText::Number(after)) = &value.after {
                    numbers.push(*after);
                }
            }
        }
        curves
    }

    /// The curve of a subject on a page, if there are two numbers of it. The numbers of a trigger have the name of the thing that it
    /// is about, with which it begins.
    pub(super) fn get(&self, url: &str, subject: &str) -> Option<Curve> {
        let of = |subject: &str| self.0.get(&(url.to_owned(), subject.to_owned()));
        let numbers = of(subject).or_else(|| of(subject.split_whitespace().next()?))?;
        curve(&numbers[numbers.len().saturating_sub(POINTS)..])
    }
}

fn curve(numbers: &[f64]) -> Option<Curve> {
    let finite: Vec<f64> = numbers.iter().copied().filter(|number| number.is_finite()).collect();
    if finite.len() < 2 {
        return None;
    }
    let (low, high) =
        finite.iter().fold((f64::MAX, f64::MIN), |(low, high), number| (low.min(*number), high.max(*number)));
    let range = if high > low { high - low } else { 1.0 };
    let point = |(place, number): (usize, &f64)| {
        let x = MARGIN + place as f64 / (finite.len() - 1) as f64 * (WIDTH - 2.0 * MARGIN);
        let y = MARGIN + (high - number) / range * (HEIGHT - 2.0 * MARGIN);
        format!("{x:.1},{y:.1}")
    };
    let shown: Vec<String> = finite.iter().map(|number| short(*number)).collect();
    Some(Curve {
        line: finite.iter().enumerate().map(point).collect::<Vec<_>>().join(" "),
        label: format!("its last values: {}", shown.join(", ")),
    })
}

/// A number in few signs, whatever a page says.
fn short(number: f64) -> String {
    let shown = number.to_string();
    if shown.len() > 15 { format!("{number:.3e}") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_from_edge_to_edge_and_needs_two_numbers() {
        assert_eq!(curve(&[24.9, 19.9, 22.4]).unwrap().line, "3.0,3.0 60.0,25.0 117.0,14.0");
        assert_eq!(curve(&[24.9, 19.9]).unwrap().label, "its last values: 24.9, 19.9");
        assert_eq!(curve(&[5.0, 5.0]).unwrap().line, "3.0,3.0 117.0,3.0");
        assert_eq!((curve(&[1.0]), curve(&[1.0, f64::NAN])), (None, None));
        assert_eq!(curve(&[1.0, 1e300]).unwrap().label, "its last values: 1, 1.000e300");
    }

    #[test]
    fn a_trigger_has_the_curve_of_the_thing_it_is_about_and_others_have_their_own() {
        let numbers = |subject: &str| (("http://a.test/".to_owned(), subject.to_owned()), vec![7.0, 5.0]);
        let curves = Curves([numbers("price"), numbers(".stock b")].into());
        let has = |subject: &str| curves.get("http://a.test/", subject).is_some();
        assert!(has("price") && has("price below 20") && has(".stock b"));
        assert!(!has(".stock") && !has(".stock a") && curves.get("http://b.test/", "price").is_none());
    }
}

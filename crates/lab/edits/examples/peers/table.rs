//! The answers of all rules beside the labels.

use crate::magnitude::{ESTIMATES, MagnitudeErrors};
use crate::python::Answers;
use crate::{DIGESTS, INSCRIPTIS, RuleFindings};
use archives::{Archive, JudgedChange, LabelScore};

/// A collection and what was said of it.
pub(crate) struct Collection {
    pub(crate) source: String,
    pub(crate) archive: Archive,
    pub(crate) said: Vec<RuleFindings>,
    pub(crate) answers: Answers,
    pub(crate) errors: MagnitudeErrors,
}

impl Collection {
    fn differs(&self, said: &RuleFindings, rule: usize) -> bool {
        let [old, new] = said.digests.map(|digests| digests[rule]);
        let text = |digest| self.answers.texts.get(&digest).copied().unwrap_or(digest);
        if rule == INSCRIPTIS { text(old) != text(new) } else { old != new }
    }

    /// The resemblance to the version before by datasketch; 1 when the text is the same.
    fn datasketch(&self, said: &RuleFindings) -> f64 {
        said.pair.map_or(1.0, |pair| self.answers.pairs[pair].resemblance)
    }

    fn score(&self, rule: impl Fn(&RuleFindings) -> bool) -> anyhow::Result<LabelScore> {
        let lines: Vec<JudgedChange> =
            self.said.iter().map(|said| JudgedChange { meaningful: rule(said), ..said.line }).collect();
        Ok(LabelScore::of(&self.archive, &lines)?)
    }

    /// The threshold of resemblance below which calling a version changed gives the best F1, in steps of 1/128.
    fn best_threshold(&self) -> anyhow::Result<f64> {
        let mut best = (-1.0, 1.0);
        for step in 1..=128 {
            let threshold = f64::from(step) / 128.0;
            let f1 = f1(&self.score(|said| self.datasketch(said) < threshold)?);
            if f1 >= best.0 {
                best = (f1, threshold);
            }
        }
        Ok(best.1)
    }
}

fn f1(score: &LabelScore) -> f64 {
    2.0 * score.hits as f64 / (2 * score.hits + score.false_alarms + score.misses).max(1) as f64
}

pub(crate) fn print(collections: &[Collection]) -> anyhow::Result<()> {
    let names: Vec<String> =
        collections.iter().map(|collection| format!(" {} P / R / F1 |", collection.source)).collect();
    println!("| rule |{}\n|---|{}", names.concat(), "---|".repeat(collections.len()));
    for (index, name) in DIGESTS.iter().enumerate() {
        row(name, collections, |collection, said, _| collection.differs(said, index))?;
    }
    row("datasketch, resemblance < 1", collections, |collection, said, _| collection.datasketch(said) < 1.0)?;
    // Each collection is scored with the threshold that is best on the one after it.
    let thresholds = collections.iter().map(Collection::best_threshold).collect::<Result<Vec<f64>, _>>()?;
    let carried = |index: usize| thresholds[(index + 1) % thresholds.len()];
    row("datasketch, threshold of the other collection", collections, |collection, said, index| {
        collection.datasketch(said) < carried(index)
    })?;
    row("this detector", collections, |_, said, _| said.line.meaningful)?;
    println!("\nbest thresholds of datasketch, in the order of the columns: {thresholds:?}\n");
    for (index, name) in ESTIMATES.iter().enumerate() {
        let errors = collections.iter().map(|collection| {
            let MagnitudeErrors { pairs, sums, largest } = &collection.errors;
            format!(" {:.4} / {:.3} of {pairs} |", sums[index] / (*pairs).max(1) as f64, largest[index])
        });
        println!("| {name} |{}", errors.collect::<String>());
    }
    Ok(())
}

fn row(
    name: &str,
    collections: &[Collection],
    rule: impl Fn(&Collection, &RuleFindings, usize) -> bool,
) -> anyhow::Result<()> {
    print!("| {name} |");
    for (index, collection) in collections.iter().enumerate() {
        let score = collection.score(|said| rule(collection, said, index))?;
        print!(" {:.3} / {:.3} / {:.3} |", score.precision(), score.recall(), f1(&score));
    }
    println!();
    Ok(())
}

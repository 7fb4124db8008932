//! Series that Prometheus would have recorded of running processes, in the notation of promtool's unit tests of rules.

use crate::monitoring::ScrapedSeries;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The namespace that Prometheus would have found the pods in.
const NAMESPACE: &str = "recrawl";

/// One look at all pods.
#[derive(Clone, Debug, Default)]
pub struct Scrape(BTreeMap<String, f64>);

/// Scrapes on a grid of steps. A step without one is a missed scrape.
pub struct Recording {
    began: Instant,
    /// Real time between two scrapes.
    scrape_interval: Duration,
    scrapes: Vec<(usize, Scrape)>,
}

impl Scrape {
    /// Adds what a pod shows, with the labels that Prometheus adds.
    pub fn add(&mut self, pod: &str, shown: &[ScrapedSeries]) {
        for series in shown {
            let mut labels = format!("namespace=\"{NAMESPACE}\", pod=\"{pod}\"");
            for (name, value) in &series.labels {
                write!(labels, ", {name}=\"{value}\"").expect("a text takes more");
            }
            self.0.insert(format!("{}{{{labels}}}", series.name), series.value);
        }
    }
}

impl Recording {
    /// A recording that begins now, with so much real time between two scrapes.
    pub fn every(scrape_interval: Duration) -> Self {
        Self { began: Instant::now(), scrape_interval, scrapes: Vec::new() }
    }

    /// The step whose scrape is due, if it is.
    pub fn due(&self) -> Option<usize> {
        let now = (self.began.elapsed().as_secs_f64() / self.scrape_interval.as_secs_f64()) as usize;
        self.scrapes.last().is_none_or(|(last, _)| now > *last).then_some(now)
    }

    /// Records the scrape of a step.
    pub fn add(&mut self, step: usize, scrape: Scrape) {
        self.scrapes.push((step, scrape));
    }

    /// The last step that has been recorded.
    pub fn last_step(&self) -> usize {
        self.scrapes.last().map_or(0, |(step, _)| *step)
    }

    /// A case of promtool. The `watched` alerts are silent until the step `caused_at`. Those of `fire`, given with their
    /// stages, fire `held` steps after the last scrape, and no others of the watched, and for no other stage.
    pub fn rule_test(
        &self,
        claim: &str,
        step_minutes: usize,
        caused_at: usize,
        held: usize,
        watched: &[&str],
        fire: &[(&str, &str)],
    ) -> String {
        let names = watched.join("|");
        let firing = format!("count by (alertname, stage) (ALERTS{{alertname=~\"{names}\", alertstate=\"firing\"}})");
        let (before, end) = (caused_at * step_minutes, (self.last_step() + held) * step_minutes);
        let expected = fire.iter().map(|(alert, stage)| {
            format!("          - {{labels: '{{alertname=\"{alert}\", stage=\"{stage}\"}}', value: 1}}\n")
        });
        [
            format!("  - name: \"{claim}\"\n    interval: {step_minutes}m\n    input_series:\n"),
            self.input_series(held),
            "    promql_expr_test:\n".to_owned(),
            format!("      - {{expr: '{firing}', eval_time: {before}m, exp_samples: []}}\n"),
            format!("      - expr: '{firing}'\n        eval_time: {end}m\n        exp_samples:\n"),
            expected.collect(),
        ]
        .concat()
    }

    /// All series as `input_series` of promtool. Those that still came at the end stay `held` steps longer as they were;
    /// the others are stale from the first scrape that lacks them, as Prometheus has it when a pod does not answer.
    fn input_series(&self, held: usize) -> String {
        let names: BTreeSet<_> = self.scrapes.iter().flat_map(|(_, scrape)| scrape.0.keys()).collect();
        names.into_iter().fold(String::new(), |mut text, name| {
            let values = packed(&self.values_of(name, held));
            writeln!(text, "      - {{series: '{name}', values: '{values}'}}").expect("a text takes more");
            text
        })
    }

    fn values_of(&self, name: &str, held: usize) -> Vec<String> {
        let (mut values, mut is_there) = (Vec::new(), false);
        for (step, scrape) in &self.scrapes {
            values.resize(*step, "_".to_owned());
            let value = scrape.0.get(name);
            values.push(match value {
                // A tenth of a second of the web is a millisecond here.
                Some(value) => ((value * 10.0).round() / 10.0).to_string(),
                None if is_there => "stale".to_owned(),
                None => "_".to_owned(),
            });
            is_there = value.is_some();
        }
        let last = values.last().filter(|_| is_there).cloned();
        values.extend(last.into_iter().flat_map(|last| std::iter::repeat_n(last, held)));
        values
    }
}

/// Repeated values are written once: `1x3` is four of them, `_x3` three missing ones.
fn packed(values: &[String]) -> String {
    let runs = values.chunk_by(|one, next| one == next && one != "stale");
    let shown = runs.map(|run| match (run[0].as_str(), run.len()) {
        (value, 1) => value.to_owned(),
        ("_", count) => format!("_x{count}"),
        (value, count) => format!("{value}x{}", count - 1),
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitoring::scraped;

    #[test]
    fn what_was_scraped_is_written_as_promtool_reads_it() {
        let mut recording = Recording::every(Duration::from_secs(1));
        let shown = [(0, "a 1\n", "b{stage=\"x\"} 0.25\n"), (1, "a 1\n", ""), (2, "a 1\n", ""), (5, "a 2\n", "")];
        for (step, one, other) in shown {
            let mut scrape = Scrape::default();
            scrape.add("p", &scraped(one));
            scrape.add("q", &scraped(other));
            recording.add(step, scrape);
        }
        let expected = [
            r#"      - {series: 'a{namespace="recrawl", pod="p"}', values: '1x2 _x2 2x3'}"#,
            r#"      - {series: 'b{namespace="recrawl", pod="q", stage="x"}', values: '0.3 stale _x4'}"#,
        ];
        assert_eq!(recording.input_series(3).lines().collect::<Vec<_>>(), expected);
        assert_eq!(recording.last_step(), 5);
    }
}

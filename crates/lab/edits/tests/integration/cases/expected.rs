//! The right value of a case, and the fault of one that has another.

use super::player::{LookReport, Request};

/// The right value of a case.
pub(super) enum Expected {
    /// A pair of which nothing is reported.
    Quiet,
    /// A pair of which something is reported.
    Reported(News),
    /// The same, and no line says the same before and after.
    ReportedWithoutEqualLines,
    /// A history.
    History(History),
    /// A history in which each further file is reported, in these words: at its first look, or at the next if it came between two close
    /// looks.
    EachFile(fn(usize) -> String),
    /// A history with a look at another page in this one's place: nothing is reported, or some lines that are short.
    Wall { most_reports: usize, most_lines: usize },
    /// A history of which only the triggers count: the looks at which they may fire, each once.
    Triggers(&'static [(usize, usize, &'static str)]),
    /// A table of prices and the numbers that a trigger sees.
    Prices,
    /// A table of texts, triggers, and whether they hold.
    Phrases,
}

/// One thing that is reported once.
#[derive(Clone, Copy)]
pub(super) struct News {
    /// The first and the last look at which it may be reported.
    pub(super) looks: (usize, usize),
    /// Words of the change.
    pub(super) says: &'static [&'static str],
    /// Words that are no part of it.
    pub(super) never: &'static [&'static str],
    pub(super) most_lines: usize,
    /// The trigger that fires with it.
    pub(super) trigger: Option<&'static str>,
}

impl News {
    pub(super) const fn at(from: usize, to: usize, says: &'static [&'static str]) -> Self {
        Self { looks: (from, to), says, never: &[], most_lines: usize::MAX, trigger: None }
    }

    /// The fault of a report of it.
    fn fault(&self, report: &LookReport) -> Option<String> {
        let text = report.text();
        let missing = self.says.iter().find(|words| !text.contains(**words)).map(|words| format!("without {words:?}"));
        let unwanted = self.never.iter().find(|words| text.contains(**words)).map(|words| format!("with {words:?}"));
        let long = (report.lines() > self.most_lines).then(|| format!("{} lines", report.lines()));
        let silent = self.trigger.filter(|trigger| !report.triggers.iter().any(|it| it == trigger));
        let silent = silent.map(|trigger| format!("trigger {trigger:?} does not fire"));
        let fault = missing.or(unwanted).or(long).or(silent)?;
        Some(format!("reported {fault}: {text}"))
    }
}

/// The course of a history.
#[derive(Clone, Copy)]
pub(super) struct History {
    /// The first look from which on only news are reported. Noise may be reported before.
    pub(super) quiet_from: usize,
    /// The most reports of noise before.
    pub(super) most_noise: usize,
    pub(super) news: &'static [News],
}

/// The fault of a pair, of which the last look counts.
pub(super) fn fault_of_pair(expected: &Expected, reports: &[LookReport]) -> Option<String> {
    let report = reports.last().expect("a pair has two looks");
    match expected {
        Expected::Quiet => report.is_reported.then(|| format!("reported: {}", report.text())),
        _ if !report.is_reported => Some("not reported".to_owned()),
        Expected::Reported(news) => news.fault(report),
        _ => {
            let equal = report.changes.iter().find(|unit| unit.before == unit.after);
            equal.map(|unit| format!("reported the same before and after: {:?}", unit.after))
        }
    }
}

/// The fault of a history.
pub(super) fn fault_of_history(expected: &Expected, requests: &[Request], reports: &[LookReport]) -> Option<String> {
    let reported: Vec<&LookReport> = reports.iter().filter(|report| report.is_reported).collect();
    match expected {
        Expected::History(history) => history.fault(&reported),
        Expected::EachFile(words) => {
            let firsts = (1..requests.len())
                .filter(|&number| !requests[..number].iter().any(|earlier| earlier.file == requests[number].file));
            let missing = |(nth, number): (usize, usize)| {
                let is_reported =
                    |report: &&LookReport| report.look > number && report.text().contains(&words(nth + 2));
                (!reported.iter().any(is_reported))
                    .then(|| format!("look {}: {:?} not reported", number + 1, words(nth + 2)))
            };
            let missing: Vec<String> = firsts.enumerate().filter_map(missing).collect();
            (!missing.is_empty()).then(|| format!("{} not reported, first {}", missing.len(), missing[0]))
        }
        Expected::Wall { most_reports, most_lines } => {
            let long = reported.iter().find(|report| report.lines() > *most_lines);
            let long = long.map(|report| format!("look {}: {} lines", report.look, report.lines()));
            long.or_else(|| {
                (reported.len() > *most_reports).then(|| format!("reported at looks {:?}", looks(&reported)))
            })
        }
        Expected::Triggers(fires) => {
            let fired =
                reports.iter().flat_map(|it| it.triggers.iter().map(move |trigger| (it.look, trigger.as_str())));
            let fired: Vec<(usize, &str)> = fired.collect();
            let is_right = |&(look, trigger): &(usize, &str), &(from, to, text): &(usize, usize, &str)| {
                (from..=to).contains(&look) && trigger == text
            };
            let is_all =
                fired.len() == fires.len() && fired.iter().zip(*fires).all(|(one, other)| is_right(one, other));
            (!is_all).then(|| format!("fired: {fired:?}"))
        }
        Expected::Quiet
        | Expected::Reported(_)
        | Expected::ReportedWithoutEqualLines
        | Expected::Prices
        | Expected::Phrases => {
            unreachable!("no history is expected so")
        }
    }
}

fn looks(reported: &[&LookReport]) -> Vec<usize> {
    reported.iter().map(|report| report.look).collect()
}

impl History {
    fn fault(&self, reported: &[&LookReport]) -> Option<String> {
        let is_news = |look: usize| self.news.iter().any(|news| (news.looks.0..=news.looks.1).contains(&look));
        let noise: Vec<usize> = looks(reported).into_iter().filter(|look| !is_news(*look)).collect();
        let late: Vec<usize> = noise.iter().copied().filter(|look| *look >= self.quiet_from).collect();
        let at = |news: &News| -> Vec<&&LookReport> {
            reported.iter().filter(|report| (news.looks.0..=news.looks.1).contains(&report.look)).collect()
        };
        let of_news = self.news.iter().find_map(|news| match at(news)[..] {
            [report] => news.fault(report).map(|fault| format!("look {}: {fault}", report.look)),
            [] => Some(format!("look {}: not reported", news.looks.0)),
            _ => Some(format!("look {}: reported more than once", news.looks.0)),
        });
        let of_noise = (!late.is_empty()).then(|| format!("noise reported at looks {late:?}"));
        let often = (noise.len() > self.most_noise).then(|| format!("noise reported at looks {noise:?}"));
        let faults: Vec<String> = [of_news, of_noise.or(often)].into_iter().flatten().collect();
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

//! Whether a crawl needs a person, and for what.

use daemon::{OutcomeCount, ReceiverStatus, StageLag, Status};
use messages::OutcomeClass;
use serde::Serialize;
use std::time::Duration;

/// A stage whose first waiting record is older is behind.
const BEHIND_S: f64 = 900.0;
/// Least answers by which a crawl with copies is judged.
const LEAST_ANSWERS: u64 = 20;
/// Attempts in a row that fail before a receiver needs a person: most failures pass by themselves.
const FAILED_IN_ROW: u64 = 5;
/// Most partitions that are named when some do not answer.
const UNANSWERED: usize = 8;

/// Something that needs a person.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Trouble {
    pub(crate) text: String,
    /// Path of the console's screen that shows more.
    pub(crate) link: Option<&'static str>,
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn counted(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// Whether all is well, and how much of the crawl is known, in a sentence.
pub(crate) fn sentence(status: &Status, troubles: &[Trouble]) -> String {
    let Some(pages) = status.pages else {
        return match troubles.len() {
            0 => "How the crawl stands is not known.".to_owned(),
            count => format!(
                "{} you; how the crawl stands is not known.",
                counted(count as u64, "thing needs", "things need")
            ),
        };
    };
    let fetched = pages.saturating_sub(status.never_fetched.unwrap_or(0));
    let known = match (pages, status.estimated_freshness) {
        (0, _) => "no page is known yet".to_owned(),
        (_, Some(fresh)) if fetched > 0 => {
            let of = counted(pages, "page was", "pages were");
            format!("{fetched} of {of} fetched, and {} of all are current", percent(fresh))
        }
        _ => format!("{fetched} of {} fetched", counted(pages, "page was", "pages were")),
    };
    match troubles.len() {
        0 => format!("All is well: {known}."),
        1 => format!("One thing needs you; {known}."),
        several => format!("{several} things need you; {known}."),
    }
}

/// The commonest reason, if all requests failed.
pub(crate) fn only_failures(counts: &[OutcomeCount]) -> Option<String> {
    let is_failure = |of: &OutcomeCount| matches!(of.class, OutcomeClass::Failed | OutcomeClass::NotSent);
    // Of several equally frequent reasons, the one that comes first in reports.
    let most = counts.iter().rev().max_by_key(|of| of.count).filter(|_| counts.iter().all(is_failure))?;
    let total: u64 = counts.iter().map(|of| of.count).sum();
    let remedy = most.setting.as_ref().map(|setting| format!("; {setting} would change it")).unwrap_or_default();
    Some(format!("{}, {} of {total} times{remedy}", most.meaning, most.count))
}

/// All that needs a person.
pub(crate) fn troubles(status: &Status) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    let mut add = |text: String, link: Option<&'static str>| troubles.push(Trouble { text, link });
    for StageLag { name, last_error, waits_for, lag_s, .. } in &status.stages {
        if let Some(error) = last_error {
            add(format!("The {name} fails: {error}"), Some("/stages"));
        }
        if let Some(waits_for) = waits_for {
            add(format!("The {name} waits: {waits_for}"), Some("/stages"));
        }
        if *lag_s > BEHIND_S {
            let behind = humantime::format_duration(Duration::from_secs(*lag_s as u64));
            add(format!("The {name} is behind by {behind}."), Some("/stages"));
        }
    }
    status.receivers.iter().filter_map(of_receiver).for_each(|text| add(text, Some("/trouble")));
    if let Some(disk) = status.disk.as_ref().filter(|disk| disk.is_short) {
        add(format!("The disk is nearly full, and nothing is fetched: {}", disk.words()), None);
    }
    let last = if status.outcomes.is_empty() { &status.page_outcomes } else { &status.outcomes };
    // After a restart the first answers of a crawl that is well may be failures.
    let answers: u64 = last.iter().map(|of| of.count).sum();
    let is_sure = answers >= LEAST_ANSWERS || status.never_fetched == status.pages;
    if let Some(reason) = only_failures(last).filter(|_| is_sure) {
        add(format!("Every request fails: {reason}."), Some("/trouble"));
    }
    if let Some(seeds) = status.failed_seeds.filter(|seeds| *seeds > 0) {
        add(
            format!("{} never fetched with success.", counted(seeds, "seed was", "seeds were")),
            Some("/changes?verdict=failed"),
        );
    }
    if let Some(pages) = status.blind_pages.filter(|pages| *pages > 0) {
        let lack = counted(pages, "page lacks", "pages lack");
        add(format!("{lack} something that a rule watches."), Some("/changes?verdict=unwatched"));
    }
    if !status.unanswered.is_empty() {
        let first = status.unanswered[..status.unanswered.len().min(UNANSWERED)].join(", ");
        let more = status.unanswered.len().saturating_sub(UNANSWERED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        add(format!("Not in the figures, because they do not answer: {first}{more}."), Some("/stages"));
    }
    troubles.extend(status.topic_problems.iter().map(|problem| Trouble { text: problem.clone(), link: None }));
    troubles
}

/// Why a receiver of changes needs a person.
fn of_receiver(receiver: &ReceiverStatus) -> Option<String> {
    let ReceiverStatus { name, target, left_out_total, lost_total, failed_in_row, .. } = receiver;
    let why = receiver.problem.as_deref().unwrap_or("unknown");
    if let Some(since) = receiver.failing_since.as_ref().filter(|_| *failed_in_row >= FAILED_IN_ROW) {
        return Some(format!("Receiver {name} ({target}) has taken nothing since {since}: {why}"));
    }
    if *left_out_total > 0 {
        let left_out = counted(*left_out_total, "change was", "changes were");
        return Some(format!(
            "Receiver {name} ({target}): {left_out} left out since the start; the last problem: {why}"
        ));
    }
    let lost = counted(*lost_total, "change was", "changes were");
    (*lost_total > 0).then(|| {
        format!("Receiver {name} ({target}): up to {lost} deleted before they were delivered (log.retention_changes)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_needs_a_person_when_it_fails_again_and_again_or_changes_were_left_out() {
        let said = |failed_in_row, left_out_total| {
            let receiver = ReceiverStatus {
                name: "shop".to_owned(),
                target: "https://a.test".to_owned(),
                failed_in_row,
                left_out_total,
                failing_since: (failed_in_row > 0).then(|| "2026-11-30T08:00:00Z".to_owned()),
                problem: Some("it answered 503".to_owned()),
                ..ReceiverStatus::default()
            };
            let status = Status { receivers: vec![receiver], ..Status::default() };
            troubles(&status).into_iter().map(|trouble| trouble.text).collect::<Vec<_>>()
        };
        let lost = ReceiverStatus { name: "shop".to_owned(), lost_total: 3, ..ReceiverStatus::default() };
        assert!(of_receiver(&lost).is_some_and(|text| text.contains("up to 3 changes were deleted")));
        assert_eq!(said(0, 0), [""; 0]);
        assert_eq!(said(FAILED_IN_ROW - 1, 0), [""; 0]);
        assert_eq!(
            said(FAILED_IN_ROW, 0),
            ["Receiver shop (https://a.test) has taken nothing since 2026-11-30T08:00:00Z: it answered 503"]
        );
        assert_eq!(
            said(0, 2),
            [
                "Receiver shop (https://a.test): 2 changes were left out since the start; the last problem: it answered 503"
            ]
        );
    }

    #[test]
    fn the_sentence_says_whether_something_needs_a_person() {
        let mut status = Status { pages: Some(12), never_fetched: Some(2), ..Status::default() };
        let said = |status: &Status| sentence(status, &troubles(status));
        assert_eq!(said(&Status::default()), "How the crawl stands is not known.");
        assert_eq!(said(&Status { pages: Some(0), ..Status::default() }), "All is well: no page is known yet.");
        assert_eq!(said(&status), "All is well: 10 of 12 pages were fetched.");
        status.estimated_freshness = Some(0.8251);
        status.failed_seeds = Some(1);
        assert_eq!(said(&status), "One thing needs you; 10 of 12 pages were fetched, and 82.5 % of all are current.");
        let failed = |outcome, meaning: &str, count, setting: Option<&str>| OutcomeCount {
            class: OutcomeClass::Failed,
            outcome: String::from(outcome),
            meaning: meaning.to_owned(),
            count,
            setting: setting.map(str::to_owned),
        };
        status.outcomes = vec![failed("dns", "its host has no address", 10, None)];
        status.outcomes.push(failed("robots", "robots.txt forbids it", 12, Some("politeness.robots")));
        let every = "Every request fails: robots.txt forbids it, 12 of 22 times; politeness.robots would change it.";
        assert_eq!(troubles(&status)[0].text, every);
        status.outcomes[0].class = OutcomeClass::Fetched;
        assert_eq!(troubles(&status).len(), 1, "one request went well");
        status.blind_pages = Some(3);
        let late = StageLag { name: "detector".to_owned(), lag_s: 4_000.0, ..StageLag::default() };
        let failing =
            StageLag { name: "ranker".to_owned(), last_error: Some("no disk".to_owned()), ..StageLag::default() };
        status.stages = vec![late, failing];
        assert!(said(&status).starts_with("4 things need you; "));
        let texts: Vec<_> = troubles(&status).into_iter().map(|trouble| trouble.text).collect();
        assert_eq!(
            texts[..3],
            [
                "The detector is behind by 1h 6m 40s.",
                "The ranker fails: no disk",
                "1 seed was never fetched with success."
            ]
        );
    }
}

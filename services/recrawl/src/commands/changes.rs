//! `recrawl changes`: prints changes as a stream that scripts can follow and resume.

use crate::CommandFailure;
use crate::change_lines::{ColorArguments, LineStyle, watched_lines};
use crate::follow::{Cursor, FollowArguments, Followed, Subject, Take, TopicFollower};
use crate::output::{Format, told, word};
use clap::Args;
use daemon::StopSignal;
use messages::{ChangedUnit, PageChange, Verdict, topics};
use serde::Serialize;
use std::io::{BufWriter, StdoutLock, Write};

/// Records read at a time per partition.
const BATCH: usize = 500;

/// Arguments of `recrawl changes`.
#[derive(Args, Debug)]
pub struct ChangesArguments {
    #[command(flatten)]
    follow: FollowArguments,
    #[command(flatten)]
    color: ColorArguments,
}

#[derive(Debug, Serialize)]
struct ChangeLine {
    /// Cursor that resumes after this change.
    cursor: String,
    change_id: String,
    url: String,
    page_id: String,
    verdict: Verdict,
    magnitude: f64,
    seen_at: String,
    previous_seen_at: Option<String>,
    status: Option<u16>,
    content_digest: Option<String>,
    added: Vec<String>,
    removed: Vec<String>,
    links_added: Vec<String>,
    links_removed: Vec<String>,
    changes: Vec<ChangedUnit>,
    passed_over: i32,
    left_out: i32,
    content_changed: bool,
    links_changed: bool,
    structure_changed: bool,
    host_event: bool,
    changes_last: bool,
    rule: Option<String>,
    triggers: Vec<String>,
    not_found: Vec<String>,
}

impl ChangeLine {
    fn new(change: PageChange, cursor: &Cursor) -> Self {
        Self {
            cursor: cursor.to_string(),
            change_id: change.change_id,
            url: change.url.to_string(),
            page_id: change.page_id.to_string(),
            verdict: change.verdict,
            magnitude: change.magnitude,
            seen_at: change.seen_at.to_string(),
            previous_seen_at: change.previous_seen_at.map(|moment| moment.to_string()),
            status: change.status,
            content_digest: change.content_digest.map(|digest| digest.to_string()),
            added: change.added,
            removed: change.removed,
            links_added: change.links_added,
            links_removed: change.links_removed,
            changes: change.changes,
            passed_over: change.passed_over,
            left_out: change.left_out,
            content_changed: change.content_changed,
            links_changed: change.links_changed,
            structure_changed: change.structure_changed,
            host_event: change.host_event,
            changes_last: change.changes_last,
            rule: change.rule,
            triggers: change.triggers,
            not_found: change.not_found,
        }
    }

    fn write(&self, format: Format, style: LineStyle, out: &mut impl Write) -> std::io::Result<()> {
        if format != Format::Text {
            serde_json::to_writer(&mut *out, self)?;
            return writeln!(out);
        }
        let verdict = style.verdict(&format!("{:<8}", word(&self.verdict)));
        writeln!(out, "{}  {verdict} {:.3}  {}", self.seen_at, self.magnitude, self.url)?;
        let units = style.lines(self.changes.iter().map(Into::into), self.left_out as usize);
        let mut lines = watched_lines(&self.triggers, &self.not_found).chain(units);
        lines.try_for_each(|line| writeln!(out, "    {line}"))
    }
}

/// Prints changes one per line, also with `--format json`, because the list may have no end.
pub fn changes(arguments: &ChangesArguments, format: Format) -> Result<(), CommandFailure> {
    let follow = &arguments.follow;
    let stop = StopSignal::on_signals()?;
    let subject = Subject {
        topic: topics::PAGE_CHANGES.spec(),
        retention: "log.retention_changes",
        client: "recrawl-changes",
        batch: BATCH,
        moment: |change: &PageChange| change.seen_at,
    };
    let mut changes = TopicFollower::open(&follow.settings()?, subject, follow)?;
    let out = BufWriter::new(std::io::stdout().lock());
    let mut printer = Printer { out, format, style: arguments.color.style(), follow, stop: &stop };
    follow.each(&mut changes, &stop, &mut printer)?;
    printer.rest()
}

struct Printer<'a> {
    out: BufWriter<StdoutLock<'static>>,
    format: Format,
    style: LineStyle,
    follow: &'a FollowArguments,
    stop: &'a StopSignal,
}

impl Take<PageChange> for Printer<'_> {
    fn take(&mut self, record: Followed<PageChange>) -> Result<bool, CommandFailure> {
        if !self.follow.wants(record.message.seen_at) {
            return Ok(false);
        }
        let line = ChangeLine::new(record.message, &record.cursor);
        told(line.write(self.format, self.style, &mut self.out), self.stop)?;
        Ok(true)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        told(self.out.flush(), self.stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::{CanonicalUrl, Timestamp};

    #[test]
    fn a_change_is_printed_with_what_fired_and_what_is_not_there() {
        let url = CanonicalUrl::parse("https://shop.test/lamp").expect("a URL");
        let unit = ChangedUnit {
            before: Some("24,90 €".to_owned()),
            after: Some("19,90 €".to_owned()),
            place: "Lamp".to_owned(),
        };
        let change = PageChange {
            change_id: "1".to_owned(),
            page_id: url.page_id(),
            url,
            verdict: Verdict::Minor,
            magnitude: 0.5,
            seen_at: Timestamp::from_secs(1_800_000_000),
            previous_seen_at: None,
            status: Some(200),
            content_digest: None,
            added: Vec::new(),
            removed: Vec::new(),
            links_added: Vec::new(),
            links_removed: Vec::new(),
            changes: vec![unit],
            passed_over: 0,
            left_out: 0,
            content_changed: true,
            links_changed: false,
            structure_changed: false,
            host_event: false,
            changes_last: true,
            rule: Some("lamp".to_owned()),
            triggers: vec!["price below 20".to_owned()],
            not_found: vec![".stock".to_owned()],
        };
        let line = ChangeLine::new(change, &"1.2".parse().expect("a cursor"));
        let printed = |format| {
            let mut out = Vec::new();
            line.write(format, LineStyle::Piped, &mut out).expect("memory takes it");
            String::from_utf8(out).expect("it is text")
        };
        assert_eq!(
            printed(Format::Text).split_once('\n').expect("several lines").1,
            "    ! price below 20\n    ? .stock is not on the page\n    @ Lamp\n    - 24,90 €\n    + 19,90 €\n"
        );
        let json: serde_json::Value = serde_json::from_str(&printed(Format::Jsonl)).expect("a line is JSON");
        assert_eq!((&json["rule"], &json["triggers"][0]), (&"lamp".into(), &"price below 20".into()));
        assert_eq!(json["not_found"][0], ".stock");
    }
}

//! `recrawl changes`: prints changes as a stream that scripts can follow and resume, or delivers them.

use crate::CommandFailure;
use crate::change_lines::{ColorArguments, LineStyle};
use crate::deliver::DeliveryArguments;
use crate::follow::{FollowArguments, Followed, Subject, Take, TopicFollower};
use crate::output::{Format, told};
use crate::told_change::{ToldChange, VerdictArguments};
use crate::topic_reader::TopicReader;
use clap::Args;
use daemon::StopSignal;
use messages::{PageChange, topics};
use std::io::{BufWriter, StdoutLock, Write};

/// How the topic of changes is read.
const SUBJECT: Subject<PageChange> =
    Subject { retention: "log.retention_changes", batch: 500, moment: |change| change.seen_at };

/// Arguments of `recrawl changes`.
#[derive(Args, Debug)]
pub struct ChangesArguments {
    #[command(flatten)]
    follow: FollowArguments,
    #[command(flatten)]
    verdicts: VerdictArguments,
    #[command(flatten)]
    color: ColorArguments,
    #[command(flatten)]
    delivery: DeliveryArguments,
}

/// Prints changes one per line, also with `--format json`, because the list may have no end. Or delivers them.
pub fn changes(arguments: &ChangesArguments, format: Format) -> Result<(), CommandFailure> {
    let follow = &arguments.follow;
    let stop = StopSignal::on_signals()?;
    let settings = follow.settings()?;
    let open = || TopicReader::open(&settings, topics::PAGE_CHANGES, "recrawl-changes");
    if let Some(mut port) = arguments.delivery.port(&settings, &stop)? {
        // Before the delivery, so that nothing is made in a data directory that is not there.
        let Some(watched) = port.patiently(open)? else { return Ok(()) };
        port.watch(watched)?;
        let delivery = arguments.delivery.open(&settings, Some(&port), follow, &arguments.verdicts, &stop)?;
        let mut delivery = delivery.expect("a port goes with a receiver");
        let follower = || TopicFollower::open(open()?, SUBJECT, &delivery.start());
        let Some(mut changes) = port.patiently(follower)? else { return Ok(()) };
        follow.each(&mut changes, &stop, &mut delivery)?;
        return delivery.finish(format);
    }
    // Here too.
    let reader = open()?;
    if let Some(mut delivery) = arguments.delivery.open(&settings, None, follow, &arguments.verdicts, &stop)? {
        let mut changes = TopicFollower::open(reader, SUBJECT, &delivery.start())?;
        follow.each(&mut changes, &stop, &mut delivery)?;
        return delivery.finish(format);
    }
    let mut changes = TopicFollower::open(reader, SUBJECT, &follow.start())?;
    let out = BufWriter::new(std::io::stdout().lock());
    let (style, verdicts) = (arguments.color.style(), &arguments.verdicts);
    let mut printer = Printer { out, format, style, follow, verdicts, stop: &stop };
    follow.each(&mut changes, &stop, &mut printer)?;
    printer.rest()
}

struct Printer<'a> {
    out: BufWriter<StdoutLock<'static>>,
    format: Format,
    style: LineStyle,
    follow: &'a FollowArguments,
    verdicts: &'a VerdictArguments,
    stop: &'a StopSignal,
}

impl Take<PageChange> for Printer<'_> {
    fn take(&mut self, record: Followed<PageChange>) -> Result<bool, CommandFailure> {
        if !self.follow.wants(record.message.seen_at) || !self.verdicts.want(record.message.verdict) {
            return Ok(false);
        }
        let line = ToldChange::new(record.message, &record.cursor);
        told(line.write(self.format, self.style, &mut self.out), self.stop)?;
        Ok(true)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        told(self.out.flush(), self.stop)
    }
}

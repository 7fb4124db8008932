//! Power cuts at the operations of a crawl on files: whatever the disk has lost that was not synced, the crawl starts, and has
//! all that was acknowledged.

use messages::topics::SCHEDULER_EVENTS;
use messages::{CommandKind, SchedulerEvent};
use operate::{CrawlState, Inspection};
use page::CanonicalUrl;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use recrawl::stages::topologies;
use simweb::SeededConfig;
use std::path::Path;
use std::process::Command;
use stream::{LogBackend, PollLimits, TopicPartition};
use stream_rocksdb::EmbeddedBackend;
use tempfile::TempDir;
use tests::power_cut::{Disk, Loss, Operation, Recording};
use tests::{Crawl, Process, SOON, SimulatedWeb, programs, wait_for};

/// Cuts in the ordinary test.
const SAMPLE: &str = "40";
const SEED: u64 = 41;

/// A page about which an order was acknowledged.
#[derive(Clone, Debug)]
enum Order {
    Seed(String),
    Forget(String),
    /// Everything before it is in the backup, too.
    Backup,
}

/// A crawl that was recorded while it was given orders, stopped, killed and started again.
struct RecordedCrawl {
    crawl: Crawl,
    recording: Recording,
    /// Each with the number of operations that had ended when it was acknowledged.
    orders: Vec<(usize, Order)>,
    _web: SimulatedWeb,
}

impl RecordedCrawl {
    fn make() -> Self {
        let seeded = SeededConfig { hosts: 2, pages_per_host: 5, ..SeededConfig::default() };
        let web = SimulatedWeb::start(seeded, 1.0, |_| {});
        let crawl = Crawl::of(&web).with("policy.min_interval", "1h").with("log.sync", "1h");
        let mut recorded = Self { crawl, recording: Recording::default(), orders: Vec::new(), _web: web };
        let urls = recorded._web.urls();
        let new = |name: &str| Order::Seed(format!("http://host-0001.test/{name}"));
        recorded.run(&[new("a"), Order::Forget(urls[0].clone()), Order::Backup, new("b")], false);
        recorded.run(&[new("c"), Order::Forget(urls[1].clone()), new("d")], true);
        recorded.run(&[new("e")], false);
        recorded
    }

    /// Runs the crawl under strace until all orders are acknowledged, and then stops it, or kills it.
    fn run(&mut self, orders: &[Order], is_killed: bool) {
        let (crawl, directory) = (&self.crawl, self.crawl.directory.path().to_owned());
        let record = directory.join("record");
        let mut run = programs().command("recrawl");
        run.args(["run", "--data"]).arg(crawl.data()).arg("--seeds").arg(crawl.seeds_file()).args(crawl.flags());
        let requested = self._web.page_requests();
        let running = Process::start(Recording::command(&run, &record), &directory);
        if requested == 0 {
            wait_for("a look at every page", SOON, || self._web.page_requests() >= self._web.urls().len());
        }
        // A killed crawl leaves its address behind, so that says nothing.
        wait_for("the port", SOON, || running.stderr().contains("recrawl runs on"));
        for order in orders {
            match order {
                Order::Seed(url) => crawl.ask("seed", &[url]).exits_with(0),
                Order::Forget(url) => crawl.ask("forget", &["--wait", url]).exits_with(0),
                Order::Backup => {
                    let mut backup = Command::new(programs().command("recrawl").get_program());
                    backup.args(["backup"]).arg(directory.join("backup")).arg("--data").arg(crawl.data());
                    Process::start(backup, &directory).finish().exits_with(0)
                }
            };
        }
        let process = running.id();
        match is_killed {
            true => running.kill(),
            false => {
                running.signal(libc::SIGINT);
                running.finish().exits_with(0);
            }
        }
        let read = || String::from_utf8_lossy(&std::fs::read(&record).unwrap()).into_owned();
        // The first thread of a process is the last to go.
        let has_ended = |line: &str| line.starts_with(&process.to_string()) && line.contains(" +++ ");
        wait_for("the end of the record", SOON, || read().lines().next_back().is_some_and(has_ended));
        let (sent_before, text) = (self.recording.sent.len(), read());
        self.recording.add(&text, &directory);
        let acknowledged = self.recording.sent[sent_before..].iter().filter(|sent| {
            let text = String::from_utf8_lossy(&sent.bytes);
            text.starts_with("HTTP/1.1 200")
                && ["\"duplicates\":", "{\"sent\":", "{\"directory\":"].iter().any(|word| text.contains(word))
        });
        let acknowledged: Vec<_> = acknowledged.map(|sent| sent.after).collect();
        assert_eq!(acknowledged.len(), orders.len(), "an answer is missing in the record, or is no answer to an order");
        self.orders.extend(acknowledged.into_iter().zip(orders.iter().cloned()));
    }

    /// The points at which something may be lost that was not before, or is safe now: around syncs and operations on names.
    fn turning_points(&self) -> Vec<usize> {
        let operations = self.recording.operations.iter().enumerate();
        let turning =
            operations.filter(|(_, operation)| !matches!(operation, Operation::Write { .. } | Operation::Open(..)));
        turning.flat_map(|(at, _)| [at, at + 1]).collect()
    }

    /// Cuts the power after the first `after` operations, and checks the files that are left.
    fn cut(&self, after: usize, loss: Loss, starts_program: bool) -> Result<(), String> {
        let left = self.left(&self.recording.operations[..after], loss);
        let found = self.check(left.path(), after).and_then(|()| match starts_program {
            true => self.start(&left.path().join("data")),
            false => Ok(()),
        });
        let of = self.recording.operations.len();
        found.map_err(|what| format!("cut after {after} of {of} operations, {loss:?}: {what}"))
    }

    /// The directory that a cut after these operations leaves.
    fn left(&self, operations: &[Operation], loss: Loss) -> TempDir {
        let left = tempfile::Builder::new().prefix("recrawl-test-").tempdir().unwrap();
        Disk::after(operations).write(left.path(), loss);
        left
    }

    /// Finds an order that was acknowledged by then and is missing in a directory.
    fn check(&self, left: &Path, after: usize) -> Result<(), String> {
        let acknowledged: Vec<_> = self.orders.iter().filter(|(at, _)| *at <= after).map(|(_, order)| order).collect();
        self.check_log(&left.join("data"), &acknowledged)?;
        match acknowledged.iter().position(|order| matches!(order, Order::Backup)) {
            Some(backup) => self
                .check_log(&left.join("backup"), &acknowledged[..backup])
                .map_err(|what| format!("the backup: {what}")),
            None => Ok(()),
        }
    }

    /// The same crawl without syncs of its files, and without those of its directories, would have lost something.
    fn would_find_missing_syncs(&self) {
        let after = self.orders.last().map_or(0, |(at, _)| *at);
        for of_files in [true, false] {
            let mut operations = self.recording.operations[..after].to_vec();
            for operation in &mut operations {
                match operation {
                    Operation::SyncFile(_, began) if of_files => *began = 0,
                    Operation::SyncDirectory(_, began) if !of_files => *began = 0,
                    _ => {}
                }
            }
            let left = self.left(&operations, Loss::Everything);
            assert!(self.check(left.path(), after).is_err(), "syncs of files are missing: {of_files}");
        }
    }

    /// Cuts at `number` points, most of them around syncs and operations on names. Returns the failures.
    fn cut_at_some(&self, number: u64) -> Vec<String> {
        let (points, mut chance) = (self.turning_points(), Pcg64::seed_from_u64(SEED));
        let cut = |round: u64| {
            let after = match round % 4 {
                0 => chance.random_range(0..=self.recording.operations.len()),
                _ => points[chance.random_range(0..points.len())],
            };
            self.cut(after, losses(round)[chance.random_range(0..3)], round % 20 == 19).err()
        };
        (0..number).filter_map(cut).collect()
    }

    fn cut_at_all(&self) -> Vec<String> {
        let cut = |after: usize| {
            losses(after as u64)
                .into_iter()
                .filter_map(move |loss| self.cut(after, loss, after.is_multiple_of(100)).err())
        };
        (0..=self.recording.operations.len()).flat_map(cut).collect()
    }

    /// Runs the program on what is left until it has nothing to do.
    fn start(&self, data: &Path) -> Result<(), String> {
        let mut run = programs().command("recrawl");
        run.args(["run", "--until-idle", "--data"]).arg(data).arg("--seeds").arg(self.crawl.seeds_file());
        run.args(self.crawl.flags());
        let output = Process::start(run, data.parent().unwrap()).finish();
        if output.status.success() { Ok(()) } else { Err(output.stderr) }
    }

    fn check_log(&self, data: &Path, acknowledged: &[&Order]) -> Result<(), String> {
        // As after another boot of the machine.
        let log = EmbeddedBackend::open_during(data, Some("another boot".to_owned()));
        let unread = unread_commands(&self.crawl, &log.map_err(|error| error.to_string())?);
        if acknowledged.is_empty() {
            return Ok(());
        }
        let inspection = Inspection::open(&self.crawl.settings(), topologies(), data);
        let inspection = inspection.map_err(|error| error.to_string())?;
        for order in acknowledged {
            let (kind, url) = match order {
                Order::Seed(url) => (CommandKind::Seed, url),
                Order::Forget(url) => (CommandKind::Forget, url),
                Order::Backup => continue,
            };
            let page = inspection.page(&CanonicalUrl::parse(url).unwrap()).map_err(|error| error.to_string())?;
            let is_done = match kind {
                CommandKind::Forget => page.forgotten.is_some(),
                _ => page.page.is_some(),
            };
            if !is_done && !unread.iter().any(|(noted, of)| *noted == kind && of == url) {
                return Err(format!("{order:?} was acknowledged and is lost"));
            }
        }
        Ok(())
    }
}

fn losses(seed: u64) -> [Loss; 3] {
    [Loss::Everything, Loss::Some(seed), Loss::Nothing]
}

/// Commands that the scheduler has not read.
fn unread_commands(crawl: &Crawl, log: &EmbeddedBackend) -> Vec<(CommandKind, String)> {
    let names = topology::LogNames::new(&crawl.settings());
    let (topic, group) = (names.topic(SCHEDULER_EVENTS), names.group("scheduler"));
    let partitions = log.topics().unwrap().iter().find(|of| *of.name == *topic).map_or(0, |of| of.partitions);
    let mut commands = Vec::new();
    for partition in 0..partitions {
        let place = TopicPartition::new(topic.as_str(), partition);
        let mut next = log.committed(&group, &place).unwrap().map_or(0, |position| position.next);
        loop {
            let records = log.read(&place, next, PollLimits::records(1_000)).unwrap();
            let Some(last) = records.last() else { break };
            next = last.offset + 1;
            for record in &records {
                if let Ok(SchedulerEvent::Command(command)) = record.read(SCHEDULER_EVENTS) {
                    commands.extend(command.url.map(|url| (command.kind, url.to_string())));
                }
            }
        }
    }
    commands
}

/// Cuts the power at a sample of points, or at all of them (`make power-cuts`), each time with another loss. Points and losses
/// come from a seed.
#[test]
fn whatever_a_power_cut_takes_the_crawl_opens_and_has_what_was_acknowledged() {
    let recorded = RecordedCrawl::make();
    recorded.would_find_missing_syncs();
    let answered = recorded.orders.iter().map(|(at, _)| *at);
    let mut wrong: Vec<_> = answered.filter_map(|at| recorded.cut(at, Loss::Everything, true).err()).collect();
    let number = std::env::var("POWER_CUTS").unwrap_or_else(|_| SAMPLE.to_owned());
    wrong.extend(match number.parse::<u64>() {
        Ok(number) => recorded.cut_at_some(number),
        Err(_) => recorded.cut_at_all(),
    });
    assert!(wrong.is_empty(), "{} cuts: {wrong:#?}", wrong.len());
}

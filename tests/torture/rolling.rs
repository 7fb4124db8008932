//! Processes and nodes are restarted one after the other, in order, while there is work for all of them.

use crate::watch::{Watch, worst};
use crate::{cluster, is_full};
use messages::{
    ChangeEstimate, Encoded, FetchOutcome, FetchRequest, Look, LookJudgement, PageObservation, Verdict, topics,
};
use page::{CanonicalUrl, Timestamp};
use simweb::SeededConfig;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stream::{Clock, Log, OutputRecord};
use tests::services::{Distributed, SOON, Service};
use tests::topics::Topics;
use tests::{KafkaCluster, SimulatedWeb, wait_for};
use topology::LogNames;

const PARTITIONS: u32 = 8;
const MEMBERS: usize = 3;
/// Session of a member. Partitions that a stopped member has not handed over stand still for as long, on any machine.
const SESSION: Duration = Duration::from_secs(45);
/// Observations sent in one transaction.
const CHUNK: usize = 5_000;
/// A rate at which the members are busy, and the machine is not.
const CHUNK_EVERY: Duration = Duration::from_secs(1);
/// Longest wait for the whole backlog, or for a member's restart.
const PATIENCE: Duration = Duration::from_secs(600);

/// Number of pages that are known before the first restart, and least number of pages sent during each restart.
fn sizes() -> (usize, usize) {
    if is_full() { (700_000, 100_000) } else { (20_000, 20_000) }
}

#[test]
fn restarts_one_after_the_other_wait_for_no_session_and_write_nothing_twice() {
    let Some(cluster) = cluster() else { return };
    let rolling = Rolling::new(&cluster);
    let (known, share) = sizes();
    rolling.send(0..known);
    let mut members: Vec<_> = (0..MEMBERS).map(|member| rolling.start(member)).collect();
    rolling.wait_for_shares(&members);
    rolling.wait_until_done();
    let watch = Watch::start(&rolling.crawl.crawl.settings(), &["estimator"]);
    let mut sent = known;
    for member in 0..MEMBERS {
        let is_back = AtomicBool::new(false);
        sent = std::thread::scope(|scope| {
            let sender = scope.spawn(|| rolling.send_until(sent, share, &is_back));
            wait_for("there is work", SOON, || rolling.backlog() > 0);
            eprintln!("rolling: member {member} is restarted after {sent} records");
            members.remove(0).stop();
            members.push(rolling.start(member));
            rolling.wait_for_shares(&members);
            is_back.store(true, Ordering::Relaxed);
            sender.join().unwrap()
        });
    }
    let (idle, whose) = worst(&watch.longest());
    eprintln!("rolling: longest standstill {:.1} s, of {whose}", idle.as_secs_f64());
    assert!(idle < SESSION, "{whose} stood still for {idle:?}: its partition was not handed over");
    rolling.wait_until_done();
    drop(watch);
    let rejoins: Vec<_> = members.iter().map(Service::rejoins).collect();
    assert_eq!(rejoins, [0; MEMBERS]);
    members.into_iter().for_each(|member| drop(member.stop()));
    rolling.check_state(sent);
}

#[test]
fn brokers_restarted_one_after_the_other_make_no_one_join_anew() {
    let Some(cluster) = cluster() else { return };
    let rolling = Rolling::new(&cluster);
    let members: Vec<_> = (0..MEMBERS).map(|member| rolling.start(member)).collect();
    rolling.wait_for_shares(&members);
    let before = cluster.rebalances().len();
    // Work for everybody all the time.
    let (_, share) = sizes();
    let work = || rolling.send(0..share / 4);
    for node in 1..=KafkaCluster::NODES {
        work();
        let began = Instant::now();
        cluster.stop(node);
        let stopped_s = began.elapsed().as_secs_f64();
        work();
        cluster.restart(node);
        wait_for("the cluster is whole again", SOON, || cluster.is_settled());
        eprintln!("rolling: node {node} ended in {stopped_s:.1} s, whole after {:.1} s", began.elapsed().as_secs_f64());
    }
    work();
    rolling.wait_until_done();
    let rejoins: Vec<_> = members.iter().map(Service::rejoins).collect();
    let rebalances = cluster.rebalances().split_off(before);
    assert_eq!((rejoins.as_slice(), rebalances.as_slice()), (&[0; MEMBERS][..], &[][..]), "{}", said(&members));
    members.into_iter().for_each(|member| drop(member.stop()));
}

fn said(members: &[Service]) -> String {
    members.iter().map(|member| format!("---\n{}", member.said())).collect()
}

/// Estimators over eight partitions, and observations for them.
struct Rolling {
    crawl: Distributed,
    log: Arc<dyn Log>,
    names: LogNames,
    _web: SimulatedWeb,
}

impl Rolling {
    fn new(cluster: &KafkaCluster) -> Self {
        // Only for its topics.
        let web =
            SimulatedWeb::start(SeededConfig { hosts: 1, pages_per_host: 1, ..SeededConfig::default() }, 1.0, |_| ());
        let partitions = PARTITIONS.to_string();
        // The session is the default: the shorter one of other tests does not outlast a coordinator that moves.
        let session = format!("{}s", SESSION.as_secs());
        let sets = [
            ("kafka.partitions", partitions.as_str()),
            ("kafka.replication_factor", "3"),
            ("kafka.session_timeout", session.as_str()),
        ];
        let crawl = Distributed::of(&web, cluster.brokers(), &sets);
        let settings = crawl.crawl.settings();
        let log = Arc::new(daemon::connect(&settings, "rolling").unwrap());
        Self { names: LogNames::new(&settings), crawl, log, _web: web }
    }

    fn start(&self, member: usize) -> Service {
        self.crawl.start("estimator", &member.to_string())
    }

    /// Waits until the members share the partitions and all have restored theirs.
    fn wait_for_shares(&self, members: &[Service]) {
        wait_for("every member has its share", 2 * SOON, || {
            let shares: Vec<_> = members.iter().map(Service::partitions).collect();
            shares.iter().sum::<u64>() == u64::from(PARTITIONS) && shares.iter().all(|&share| share >= 2)
        });
    }

    /// One observation of each of these pages.
    fn send(&self, pages: Range<usize>) {
        let clock = daemon::WebClock::new(&self.crawl.crawl.settings().clock);
        let now = clock.now();
        for first in pages.clone().step_by(CHUNK) {
            let numbers = first..pages.end.min(first + CHUNK);
            self.log.append(&numbers.map(|number| self.observation(number, now)).collect::<Vec<_>>()).unwrap();
        }
    }

    /// Sends on from a page, so that there is always work, until a member is back, and no less than a share. Returns
    /// the first page that was not sent.
    fn send_until(&self, from: usize, share: usize, is_back: &AtomicBool) -> usize {
        let (mut next, began_at) = (from, Instant::now());
        while next < from + share || !is_back.load(Ordering::Relaxed) {
            assert!(began_at.elapsed() < PATIENCE, "the member is not back");
            self.send(next..next + CHUNK);
            next += CHUNK;
            let due = began_at + CHUNK_EVERY * ((next - from) / CHUNK) as u32;
            wait_for("the next are due", PATIENCE, || Instant::now() >= due);
        }
        next
    }

    fn observation(&self, number: usize, now: Timestamp) -> OutputRecord {
        let url = CanonicalUrl::parse(&format!("http://host-{:04}.test/{number}", number % 1_000)).unwrap();
        let look = Look::new(FetchRequest::first(url, now), FetchOutcome::Fetched, now);
        let look = Look { status: Some(200), body_length: 1, wire_bytes: 1, latency_ms: 1, ..look };
        let observation = PageObservation { look, judgement: LookJudgement::new(Verdict::First) };
        OutputRecord::of(&observation, self.names.topic(topics::PAGE_OBSERVATIONS), PARTITIONS, now)
    }

    fn backlog(&self) -> u64 {
        let backlog = self.log.backlog(&self.names.group("estimator"), &self.names.topic(topics::PAGE_OBSERVATIONS));
        backlog.unwrap().iter().map(|backlog| backlog.records).sum()
    }

    fn wait_until_done(&self) {
        wait_for("everything is taken in", PATIENCE, || self.backlog() == 0);
    }

    /// State and outputs have each observation once: as a process without a disk finds them in the changelog.
    fn check_state(&self, expected: usize) {
        let judge = self.crawl.start("estimator", "judge");
        wait_for("the state is restored", 5 * SOON, || judge.partitions() == u64::from(PARTITIONS));
        judge.stop();
        let mut pages = 0;
        tests::books::read_beliefs(PARTITIONS, &self.crawl.data("estimator", "judge"), |belief| {
            assert_eq!(belief.fetches, 1, "{belief:?}");
            pages += 1;
        });
        assert_eq!(pages, expected);
        // One estimate for each observation, and the seed.
        let mut count = 0;
        Topics::of(&self.crawl).visit(topics::SCHEDULER_EVENTS, |record| {
            count += usize::from(record.value.is_some_and(|value| ChangeEstimate::decode(&value).is_ok()));
        });
        assert_eq!(count, expected, "estimates");
    }
}

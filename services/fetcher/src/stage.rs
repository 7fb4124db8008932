//! The fetcher as a stage: requests in, results out, in the order in which hosts answer.

use crate::first_failures::FirstFailures;
use crate::pool::{Answer, FetchJob, FetchPool};
use crate::rules::FetcherRules;
use messages::AnswerKind;
use messages::body::Packing;
use messages::topics::{FETCH_REQUESTS, FETCH_RESULTS};
use page::Timestamp;
use settings::Settings;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use stream::{
    AnsweredRequest, Clock, Durations, InFlight, InputRecord, ProcessError, RequestTag, StageSpec, StageTopology,
    StageWork,
};
use topology::LogNames;

/// The topics that the stage reads and writes. It keeps no state.
pub fn topology() -> StageTopology {
    StageTopology::new("fetcher", FETCH_REQUESTS).writes(FETCH_RESULTS).writes(FETCH_REQUESTS)
}

/// The stage, with its network thread started. It packs the bodies of its results as stated.
pub fn stage(
    settings: &Settings,
    names: &LogNames,
    rules: FetcherRules,
    packing: Packing,
    clock: Arc<dyn Clock>,
) -> std::io::Result<StageSpec> {
    let fetcher = Fetcher {
        pool: FetchPool::start(Arc::new(FetcherRules { sites_have_owners: true, ..rules }), clock)?,
        packing,
        // All from the start, so that a rate can be told before the first one happens.
        outcomes: AnswerKind::all().map(|kind| (kind.report().figure, 0)).collect(),
        failures: FirstFailures::default(),
        latency: Durations::default(),
    };
    let work = StageWork::InFlight(Box::new(fetcher), settings.budget.in_flight);
    Ok(names.stage(&topology(), page::HOUR, work))
}

/// The requests in flight of all partitions of this process.
struct Fetcher {
    pool: FetchPool,
    packing: Packing,
    outcomes: BTreeMap<&'static str, u64>,
    failures: FirstFailures,
    /// Latency of the requests that were sent.
    latency: Durations,
}

impl InFlight for Fetcher {
    fn begin(&mut self, epoch: u64) {
        self.pool.begin(epoch);
    }

    fn submit(&mut self, tag: RequestTag, record: &InputRecord) -> Result<(), ProcessError> {
        self.pool.submit(FetchJob::new(tag, record.read(FETCH_REQUESTS)?));
        Ok(())
    }

    fn receive(&mut self, patience: Duration) -> Option<AnsweredRequest> {
        let mut done = match self.pool.answers.receive(patience)? {
            Answer::Done(done) => done,
            Answer::Redirected(tag, request) => return Some(AnsweredRequest::new(tag).with(FETCH_REQUESTS, *request)),
        };
        let (tag, robots_bytes, memory) = (done.tag, done.robots_bytes, done.memory.take());
        let mut result = done.packed(self.packing);
        // The budget pays for all that was received.
        result.look.wire_bytes += robots_bytes as i64;
        if !result.look.was_not_sent() {
            self.latency.add(Duration::from_millis(u64::try_from(result.look.latency_ms).unwrap_or(0)));
        }
        let kind = AnswerKind::of(&result.look);
        *self.outcomes.entry(kind.report().figure).or_default() += 1;
        self.failures.take(kind, &result);
        let answer = AnsweredRequest::new(tag).with(FETCH_RESULTS, result);
        Some(match memory {
            Some(memory) => answer.holding(memory),
            None => answer,
        })
    }

    fn withdraw(&mut self, epochs: &[u64]) {
        self.pool.withdraw(epochs.to_vec());
    }

    fn drain(&mut self) {
        self.pool.drain();
    }

    fn under_way(&self) -> usize {
        self.pool.on_the_wire()
    }

    fn figures(&self, _: Timestamp) -> Vec<(&'static str, f64)> {
        let longest_wait = self.pool.longest_wait().unwrap_or_default();
        let mut figures = vec![
            ("hosts", self.pool.hosts() as f64),
            ("waiting_for_hosts", self.pool.waiting_for_hosts() as f64),
            ("waiting_for_hosts_s", longest_wait.as_secs_f64()),
            ("on_the_wire", self.pool.on_the_wire() as f64),
        ];
        figures.extend(self.outcomes.iter().map(|(&name, &count)| (name, count as f64)));
        figures
    }

    fn durations(&self) -> Vec<(&'static str, Durations)> {
        vec![("fetch", self.latency.clone())]
    }
}

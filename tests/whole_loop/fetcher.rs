//! A fetcher without a network: takes requests as the real one does, and answers from the web of the test, or not, or
//! late, or twice.

use crate::at_once::start_where_committed;
use crate::simulation::{LATE, Plan};
use crate::web::Web;
use messages::{Digest, Encoded, FetchOutcome, FetchRequest, FetchResult, Look, body, topics};
use page::{Host, PageId, Timestamp};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::{Commit, Event, Log, Member, MemberSpec, OutputRecord, PollLimits, Position, TopicPartition};
use topology::LogNames;

/// One life of the fetcher.
pub(crate) struct FakeFetcher {
    member: Box<dyn Member>,
    output: String,
    partitions: u32,
    /// Offsets taken in and not committed, by partition, and whether each is done with.
    taken: BTreeMap<(u32, u64), bool>,
    pending: Vec<Pending>,
    /// Until when hosts that refused are left alone.
    rests: BTreeMap<Host, Timestamp>,
}

struct Pending {
    place: (u32, u64),
    request: FetchRequest,
    due: Timestamp,
}

/// Requests, answers, and the faults that were made on purpose.
#[derive(Default)]
pub(crate) struct FetchLog {
    pub(crate) requests: BTreeMap<(u32, u64), FetchRequest>,
    pub(crate) answers: Vec<FetchResult>,
    pub(crate) lost: Vec<(PageId, i64)>,
    pub(crate) late_answers: u32,
    pub(crate) repeated_answers: u32,
}

impl FakeFetcher {
    pub(crate) fn join(log: &dyn Log, names: &LogNames) -> Self {
        let output = names.topic(topics::FETCH_RESULTS);
        let spec = MemberSpec {
            group: names.group("fetcher"),
            input: names.topic(topics::FETCH_REQUESTS),
            transactional_id: "fetcher-0".to_owned(),
        };
        let partitions = log.topic(&output).unwrap().expect("the topics exist").partitions;
        let member = log.join(&spec).unwrap();
        Self { member, output, partitions, taken: BTreeMap::new(), pending: Vec::new(), rests: BTreeMap::new() }
    }

    /// Takes in what there is and answers what is due; answers and positions are committed as one.
    pub(crate) fn step(&mut self, web: &Web, now: Timestamp, random: &mut Pcg64, plan: &Plan, log: &mut FetchLog) {
        for event in self.member.poll(PollLimits::records(10_000), Duration::ZERO).unwrap() {
            match event {
                Event::Assigned(partitions) => start_where_committed(self.member.as_mut(), partitions),
                Event::Revoked(_) => unreachable!("the fetcher is alone in its group"),
                Event::Record(record) => {
                    let request = FetchRequest::decode(record.value.as_ref().unwrap()).unwrap();
                    let place = (record.partition, record.offset);
                    log.requests.insert(place, request.clone());
                    self.take(place, request, now, random, plan, log);
                }
            }
        }
        let mut records = Vec::new();
        while let Some(Pending { place, request, .. }) = self.next_due(now) {
            self.taken.insert(place, true);
            let answer = match self.refusal(&request, now, plan) {
                Some(refusal) => refusal,
                None => answer(web, &request, now, random, plan),
            };
            let twice = plan.trouble && random.random_bool(0.02);
            log.repeated_answers += u32::from(twice);
            for _ in 0..1 + u32::from(twice) {
                let key = answer.look.site_key.as_str().as_bytes().to_vec();
                let to = TopicPartition::new(self.output.as_str(), partition_for(&key, self.partitions));
                records.push(OutputRecord {
                    to,
                    timestamp: now,
                    key,
                    value: Some(answer.encode().into()),
                    trace: None,
                });
                log.answers.push(answer.clone());
            }
        }
        let positions = self.advance();
        let positions: BTreeMap<_, _> =
            positions.into_iter().map(|(partition, next)| (partition, Position::at(next))).collect();
        let commit = Commit { positions, outputs: records, ..Commit::default() };
        self.member.commit(&commit).unwrap();
    }

    fn take(
        &mut self,
        place: (u32, u64),
        request: FetchRequest,
        now: Timestamp,
        random: &mut Pcg64,
        plan: &Plan,
        log: &mut FetchLog,
    ) {
        let chance: f64 = if plan.trouble { random.random() } else { 1.0 };
        if chance < 0.02 {
            // A machine that dies with its disk, an operator who skips ahead: the request never gets an answer.
            log.lost.push((request.page_id, request.attempt));
            self.taken.insert(place, true);
            return;
        }
        let late = chance < 0.03;
        log.late_answers += u32::from(late);
        let due = request.not_before.max(now) + if late { LATE } else { Duration::ZERO };
        self.taken.insert(place, false);
        self.pending.push(Pending { place, request, due });
    }

    /// The next request to be answered: one whose moment has come, or whose host is left alone beyond that moment.
    fn next_due(&mut self, now: Timestamp) -> Option<Pending> {
        let is_due = |pending: &Pending| {
            let rest = self.rests.get(&pending.request.url.host());
            pending.due <= now || rest.is_some_and(|until| pending.request.not_before < *until)
        };
        self.pending.iter().position(is_due).map(|number| self.pending.remove(number))
    }

    /// The answer to a request if its host refuses or rests: 429 without Retry-After, and for a while after it, a result without
    /// a status, as nothing is sent.
    fn refusal(&mut self, request: &FetchRequest, now: Timestamp, plan: &Plan) -> Option<FetchResult> {
        let host = request.url.host();
        let mut limited = blank(request, now);
        (limited.look.outcome, limited.look.status) = (FetchOutcome::RateLimited, None);
        let rest = self.rests.get(&host).map(|until| until.saturating_since(now.max(request.not_before)));
        if let Some(rest) = rest.filter(|rest| !rest.is_zero()) {
            limited.look.retry_after_s = Some(rest.as_secs() as i64);
            return Some(limited);
        }
        plan.refuses(&host, now).then(|| {
            self.rests.insert(host, now + plan.backoff_base.mul_f64(0.75));
            limited.look.status = Some(429);
            limited
        })
    }

    /// Positions behind the last request that is done with in order.
    fn advance(&mut self) -> Vec<(u32, u64)> {
        let mut positions = BTreeMap::new();
        let mut stuck = None;
        self.taken.retain(|&(partition, offset), done| {
            if stuck == Some(partition) || !*done {
                stuck = Some(partition);
                return true;
            }
            positions.insert(partition, offset + 1);
            false
        });
        positions.into_iter().collect()
    }
}

/// An answer of which all but the outcome is left out.
fn blank(request: &FetchRequest, now: Timestamp) -> FetchResult {
    let look = Look::new(request.clone(), FetchOutcome::Fetched, now);
    let look = Look { status: Some(200), latency_ms: 120, ..look };
    FetchResult { content_type: Some("text/html; charset=utf-8".to_owned()), ..FetchResult::new(look) }
}

fn answer(web: &Web, request: &FetchRequest, now: Timestamp, random: &mut Pcg64, plan: &Plan) -> FetchResult {
    let mut result = blank(request, now);
    let chance: f64 = if plan.trouble { random.random() } else { 1.0 };
    if chance < 0.04 {
        let failure =
            if chance < 0.02 { (FetchOutcome::ServerError, Some(503)) } else { (FetchOutcome::ConnectionLost, None) };
        (result.look.outcome, result.look.status) = failure;
        return result;
    }
    let Some(copy) = web.copy(&request.url, now) else {
        (result.look.outcome, result.look.status) = (FetchOutcome::NotFound, Some(404));
        return result;
    };
    let etag = format!("\"{}\"", copy.version);
    if request.validators.etag.as_ref() == Some(&etag) {
        (result.look.outcome, result.look.status) = (FetchOutcome::NotModified, Some(304));
        return result;
    }
    let digest = Digest::of(copy.body.as_bytes());
    result.look.validators.etag = Some(etag);
    result.look.validators.content_digest = Some(digest);
    result.look.body_length = copy.body.len() as i64;
    if request.validators.content_digest == Some(digest) {
        result.look.outcome = FetchOutcome::SameContent;
    } else {
        result.body = Some(body::pack(copy.body.as_bytes(), body::Packing::Lz4));
    }
    result
}

//! The fetcher as a stage: requests in, results out, in the order in which hosts answer.

use crate::crashes::CrashJournal;
use crate::first_failures::FirstFailures;
use crate::job::{Answer, FetchJob};
use crate::kept_robots::KeptRobots;
use crate::pool::FetchPool;
use crate::rules::FetcherRules;
use crate::state::{ROBOTS, RobotsKey};
use crate::steps::JobSteps;
use messages::body::Packing;
use messages::topics::{ANSWERS, FETCH_REQUESTS, FETCH_RESULTS, HOST_STOPS};
use messages::{AnswerKind, FetchOutcome, FetchResult, FetcherEvent, Look, Question, QuestionDesk, QuestionKind};
use metrics::{Figure, Metric, fetcher as figure};
use page::CanonicalUrl;
use settings::Settings;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stream::{
    AnsweredRequest, Clock, Histogram, InFlight, InputRecord, ProcessError, RequestTag, StageSpec, StageTopology,
    StageWork, TableKey, TaskView,
};
use topology::LogNames;

const STAGE: &str = "fetcher";
/// Most origins of a host whose robots.txt files are restored.
const ORIGINS_OF_HOST: usize = 4;

/// The stage's table and topics.
pub fn topology() -> StageTopology {
    StageTopology::new(STAGE, FETCH_REQUESTS)
        .keeps(ROBOTS)
        .writes(FETCH_RESULTS)
        .writes(FETCH_REQUESTS)
        .writes(ANSWERS)
        .takes_broadcasts_of(HOST_STOPS)
}

/// The stage, with its network thread started. It packs the bodies of its results as stated. Which requests are under way
/// is noted in the directory `data`, so that a page that ends the process is found. Without one it is not.
pub fn stage(
    settings: &Settings,
    names: &LogNames,
    rules: FetcherRules,
    packing: Packing,
    data: Option<&Path>,
    clock: Arc<dyn Clock>,
) -> io::Result<StageSpec> {
    if let Some(browser) = &rules.browser {
        browser::check(browser).map_err(io::Error::other)?;
    }
    let crashes = data.map(|data| CrashJournal::open(data, clock.now())).transpose()?;
    let fetcher = Fetcher {
        product_token: rules.product_token.clone(),
        pool: FetchPool::start(Arc::new(FetcherRules { sites_have_owners: true, ..rules }), clock, crashes)?,
        packing,
        kept: KeptRobots::default(),
        // Every kind is counted from the start, so that its rate is defined before the first one happens.
        answers: AnswerKind::all().map(|kind| (kind.report().name, 0)).collect(),
        failures: FirstFailures::default(),
        latency: Histogram::new(Histogram::SECONDS),
        questions: QuestionDesk::default(),
        answered_at_once: VecDeque::new(),
    };
    let work = StageWork::InFlight(Box::new(fetcher), settings.budget.in_flight);
    Ok(names.stage(&topology(), page::HOUR, work))
}

/// The requests in flight of all partitions of this process.
struct Fetcher {
    pool: FetchPool,
    kept: KeptRobots,
    product_token: String,
    packing: Packing,
    answers: BTreeMap<&'static str, u64>,
    failures: FirstFailures,
    /// Latency of the requests that were sent.
    latency: Histogram,
    questions: QuestionDesk,
    /// Questions that are answered, or whose time is over. They wait for nothing.
    answered_at_once: VecDeque<AnsweredRequest>,
}

impl Fetcher {
    /// Restores the stored rules of a URL's host, and of other hosts of its site, because a redirect may lead to any.
    fn restore_robots(
        &mut self,
        tag: RequestTag,
        url: &CanonicalUrl,
        tables: &TaskView<'_>,
    ) -> Result<(), ProcessError> {
        let now = self.pool.clock.now();
        self.kept.sweep(tag, now, tables)?;
        let mut stored = self.kept.read(&url.site_key(), tag, now, tables)?;
        if !self.pool.robots.knows(url.host_name()) {
            stored.extend(tables.entries(ROBOTS, &RobotsKey::prefix_of_host(url), ORIGINS_OF_HOST)?);
        }
        for (key, stored) in stored {
            self.pool.robots.restore(&key, &stored, &self.product_token);
        }
        Ok(())
    }

    /// Answers the question of an operator what robots.txt says of a page, from what is kept of it.
    fn answer(&mut self, tag: RequestTag, question: &Question, tables: &TaskView<'_>) -> Result<(), ProcessError> {
        let now = self.pool.clock.now();
        let mut answered = AnsweredRequest::new(tag);
        if let Some(mut answer) = self.questions.open(question, STAGE, tag.partition, now) {
            let (QuestionKind::Explanation, Some(url)) = (question.about, &question.url) else {
                return Err(ProcessError::SetAside(QuestionDesk::refusal(question)));
            };
            let key = RobotsKey::of(url);
            let found = tables.entries(ROBOTS, &key.to_bytes(), 1)?;
            let kept = found.iter().find(|(of, _)| *of == key);
            answer.add(ROBOTS.name(), kept.map(|(_, robots)| robots));
            answered = answered.with(ANSWERS, answer);
        }
        self.answered_at_once.push_back(answered);
        Ok(())
    }

    /// Keeps the robots.txt rules that were learned on the way to an answer about a page, and deletes those that are over.
    fn keeping_robots(
        &mut self,
        mut answer: AnsweredRequest,
        page: &CanonicalUrl,
        robots_of: &[RobotsKey],
    ) -> AnsweredRequest {
        let mut over = self.kept.take_expired(answer.tag);
        for key in robots_of {
            // Without rules, they were dropped to stay within the memory limit.
            if let Some(stored) = self.pool.robots.stored(key, &self.product_token)
                && self.kept.keeps(key, page)
            {
                over.remove(key);
                answer = answer.put(ROBOTS, key, &stored);
            }
        }
        over.iter().fold(answer, |answer, key| answer.delete(ROBOTS, key))
    }
}

impl InFlight for Fetcher {
    fn begin(&mut self, epoch: u64) {
        self.kept.begin();
        self.pool.begin(epoch);
    }

    fn submit(&mut self, tag: RequestTag, record: &InputRecord, tables: &TaskView<'_>) -> Result<(), ProcessError> {
        let request = match record.read(FETCH_REQUESTS)? {
            FetcherEvent::Request(request) => request,
            FetcherEvent::Question(question) => return self.answer(tag, &question, tables),
        };
        self.restore_robots(tag, request.target(), tables)?;
        let mut job = FetchJob::new(tag, request);
        let is_traced = record.trace.as_ref().is_some_and(|trace| trace.is_sampled());
        job.steps = is_traced.then(|| Box::new(JobSteps::begin(self.pool.clock.now())));
        self.pool.submit(job);
        Ok(())
    }

    fn broadcast(&mut self, record: &InputRecord) {
        match record.read(HOST_STOPS) {
            Ok(stop) => self.pool.stop_host(stop),
            Err(error) => tracing::warn!(%error, "cannot read which host is stopped; it is ignored"),
        }
    }

    fn receive(&mut self, patience: Duration) -> Option<AnsweredRequest> {
        if let Some(answered) = self.answered_at_once.pop_front() {
            return Some(answered);
        }
        let mut done = match self.pool.answers.receive(patience)? {
            Answer::Done(done) => done,
            Answer::Redirected { tag, request, robots_of, steps, recorded } => {
                let page = request.url.clone();
                let answer = AnsweredRequest::new(tag).in_steps(steps).with_holding(FETCH_REQUESTS, *request, recorded);
                return Some(self.keeping_robots(answer, &page, &robots_of));
            }
        };
        let (tag, robots_bytes, (memory, under_way)) = (done.tag, done.robots_bytes, std::mem::take(&mut done.held));
        let (robots_of, steps) = (std::mem::take(&mut done.robots_of), std::mem::take(&mut done.steps));
        let mut result = done.packed(self.packing);
        // The budget pays for all that was received.
        result.look.wire_bytes += robots_bytes as i64;
        if !result.look.was_not_sent() {
            self.latency.add_duration(Duration::from_millis(u64::try_from(result.look.latency_ms).unwrap_or(0)));
        }
        let kind = AnswerKind::of(&result.look);
        *self.answers.entry(kind.report().name).or_default() += 1;
        self.failures.take(kind, &result);
        let page = result.look.url.clone();
        let look = result.look.clone();
        // The body is in memory until the detector has read it.
        let answer = AnsweredRequest::new(tag).in_steps(steps).with_holding(FETCH_RESULTS, result, memory);
        let answer = answer.standing_in(FETCH_RESULTS, move |why| too_large(look.clone(), why).into());
        Some(self.keeping_robots(answer, &page, &robots_of).holding(under_way))
    }

    fn withdraw(&mut self, epochs: &[u64]) {
        self.kept.withdraw(epochs);
        self.answered_at_once.retain(|answered| !epochs.contains(&answered.tag.epoch));
        self.pool.withdraw(epochs.to_vec());
    }

    fn drain(&mut self) {
        self.pool.drain();
    }

    fn hold_back(&mut self) {
        self.pool.hold_back();
    }

    fn under_way(&self) -> usize {
        self.pool.on_the_wire()
    }

    fn figures(&self, unanswered: usize) -> Vec<Figure> {
        let longest_wait = self.pool.longest_wait().unwrap_or_default();
        let questions = self.questions.figures();
        let own = [
            (figure::IN_FLIGHT, unanswered as f64),
            (figure::HOSTS, self.pool.hosts() as f64),
            (figure::WAITING_FOR_HOSTS, self.pool.waiting_for_hosts() as f64),
            (figure::LONGEST_WAIT_FOR_HOST_SECONDS, longest_wait.as_secs_f64()),
            (figure::ON_THE_WIRE, self.pool.on_the_wire() as f64),
        ];
        own.into_iter().chain(questions).collect()
    }

    fn histograms(&self) -> Vec<(&'static Metric, Histogram)> {
        vec![(figure::FETCH_SECONDS, self.latency.clone())]
    }

    fn answers(&self) -> BTreeMap<&'static str, u64> {
        self.answers.clone()
    }
}

/// The result in place of one that the topic does not take, so that the page is not asked for again at the end of its lease.
fn too_large(mut look: Look, why: String) -> FetchResult {
    (look.outcome, look.body_length) = (FetchOutcome::TooLarge, 0);
    look.validators.content_digest = None;
    FetchResult { detail: Some(why), ..FetchResult::new(look) }
}

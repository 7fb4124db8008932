//! The detector on a log in memory, and a page to try it on.

use document::ReadConfined;
use messages::topics::Topic;
use messages::{
    Answer, Digest, Encoded, EstimatorEvent, FetchOutcome, FetchRequest, FetchResult, Look, PageChange,
    PageObservation, Question, QuestionKind, Validators, Verdict, body, topics,
};
use page::{CanonicalUrl, DAY, PageId, Timestamp};
use settings::{Layers, Settings};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use stream::StageSpec;
use stream_testing::{MemoryStores, TestDriver};
use topology::LogNames;

pub(crate) const URL: &str = "http://www.site.test/news";
pub(crate) const FIRST: &[&str] = &[
    "The council met on Monday evening and talked about the new bridge over the river for three hours.",
    "Nobody could say what the bridge would cost, and the mayor promised an answer before the summer.",
    "The library is open from nine to six on weekdays and from ten to two on the first Saturday of a month.",
    "A concert of the town's orchestra takes place in the old market hall, with works of three centuries.",
    "The swimming pool stays closed until the pumps are repaired, which may take until the end of the month.",
    "Whoever has found a grey cat with white paws near the railway station is asked to call the animal shelter.",
];
pub(crate) const CHANGED_SENTENCE: &str =
    "The swimming pool is open again, for the pumps were repaired sooner than expected.";

pub(crate) struct Bench {
    pub(crate) driver: TestDriver,
    pub(crate) names: LogNames,
    pub(crate) settings: Settings,
    pub(crate) attempt: i64,
    pub(crate) validators: HashMap<PageId, Validators>,
}

/// The records that one answer led to.
pub(crate) struct Seen {
    pub(crate) observation: PageObservation,
    pub(crate) change: Option<PageChange>,
    /// The validators that the next request for the page sends along.
    pub(crate) validators: Validators,
}

impl Bench {
    pub(crate) fn new(overrides: &[(&str, &str)]) -> Self {
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Self::of(Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap())
    }

    /// A detector with this configuration file.
    pub(crate) fn configured(file: &str) -> Self {
        Self::of(configured(file))
    }

    /// A detector that reads documents of confined formats by this.
    pub(crate) fn with_reader(reader: Arc<dyn ReadConfined>) -> Self {
        let settings = configured("");
        let names = LogNames::new(&settings);
        let form = messages::ChangeForm::Avro;
        Self::of_stage(detector::stage_with_reader(&settings, &names, 1, form, reader), settings, names)
    }

    fn of(settings: Settings) -> Self {
        let names = LogNames::new(&settings);
        let stage = detector::stage(&settings, &names, 1, messages::ChangeForm::Avro);
        Self::of_stage(stage, settings, names)
    }

    fn of_stage(stage: StageSpec, settings: Settings, names: LogNames) -> Self {
        let topics = topology::topic_configs(&settings, &[detector::topology()], 2);
        let mut driver = TestDriver::new(&topics, Timestamp::from_secs(1_700_000_000));
        driver.add(stage, "one");
        Self { driver, names, settings, attempt: 0, validators: HashMap::new() }
    }

    /// A day later an answer comes.
    pub(crate) fn answer(&mut self, outcome: FetchOutcome, body: Option<&str>) -> FetchResult {
        self.driver.clock.advance(DAY);
        self.attempt += 1;
        let url = CanonicalUrl::parse(URL).unwrap();
        let now = stream::Clock::now(&*self.driver.clock);
        let request = FetchRequest { attempt: self.attempt, ..FetchRequest::first(url, now) };
        let content_digest = body.map(|body| Digest::of(body.as_bytes()));
        let look = Look {
            status: Some(200),
            validators: Validators { content_digest, ..Validators::default() },
            body_length: body.map_or(0, |body| body.len() as i64),
            wire_bytes: 321,
            ..Look::new(request, outcome, now)
        };
        FetchResult {
            content_type: Some("text/html; charset=utf-8".to_owned()),
            body: body.map(|body| body::pack(body.as_bytes(), body::Packing::Lz4)),
            ..FetchResult::new(look)
        }
    }

    pub(crate) fn send(&mut self, result: &FetchResult) {
        let topic = self.names.topic(topics::FETCH_RESULTS);
        self.driver.send(&topic, result.look.site_key.as_str().as_bytes(), result.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
    }

    /// Sends one answer and gives the one observation, and the one change if any, that came of it.
    pub(crate) fn see(&mut self, outcome: FetchOutcome, body: Option<&str>) -> Seen {
        let result = self.answer(outcome, body);
        self.see_result(&result)
    }

    pub(crate) fn see_result(&mut self, result: &FetchResult) -> Seen {
        let (observations, changes) = (self.observations().len(), self.changes().len());
        self.send(result);
        let mut new_observations = self.observations().split_off(observations);
        assert_eq!(new_observations.len(), 1, "each answer gives exactly one observation");
        // Changes of several pages lie in several partitions, each in the order of time.
        let all = self.changes();
        let is_sight = |change: &&PageChange| matches!(change.verdict, Verdict::Unwatched | Verdict::Watched);
        assert!(all.len() - changes <= 2);
        let is_this =
            |change: &PageChange| (change.page_id, change.seen_at) == (result.look.page_id, result.look.fetched_at);
        // The change of the page, or else that of what its rule sees.
        let (sights, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|change| is_sight(&change));
        let change = others.into_iter().rfind(is_this).or(sights.into_iter().rfind(is_this));
        let observation = new_observations.remove(0);
        assert_eq!(observation.look, result.look, "a look is passed on as it is");
        let known = self.validators.remove(&result.look.page_id).unwrap_or_default();
        let validators = known.after(&observation.look, observation.judgement.verdict);
        self.validators.insert(result.look.page_id, validators.clone());
        Seen { observation, change, validators }
    }

    pub(crate) fn read<M: Encoded>(&self, topic: Topic<M>) -> Vec<M> {
        let records = self.driver.contents(&self.names.topic(topic)).unwrap();
        records.iter().map(|record| M::decode(record.value.as_deref().unwrap()).unwrap()).collect()
    }

    pub(crate) fn observations(&self) -> Vec<PageObservation> {
        let observations = self.read(topics::PAGE_OBSERVATIONS).into_iter().filter_map(|event| match event {
            EstimatorEvent::Observation(observation) => Some(observation),
            EstimatorEvent::Removal(_) | EstimatorEvent::Question(_) => None,
        });
        observations.collect()
    }

    pub(crate) fn changes(&self) -> Vec<PageChange> {
        self.read(topics::PAGE_CHANGES)
    }

    /// The stage's answer to a question about the page.
    pub(crate) fn ask(&mut self, about: QuestionKind, version: Option<i32>) -> Answer {
        let url = CanonicalUrl::parse(URL).unwrap();
        let asked_at = stream::Clock::now(&*self.driver.clock);
        let asked = Question {
            question_id: messages::word(&about),
            routing_key: url.site_key().as_str().to_owned(),
            about,
            url: Some(url),
            hosts: None,
            asked_at,
            answer_until: asked_at + page::MINUTE,
            site: None,
            pages: None,
            version,
        };
        let topic = self.names.topic(topics::FETCH_RESULTS);
        self.driver.send(&topic, asked.routing_key.as_bytes(), asked.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
        let answer = self.read(topics::ANSWERS).pop().unwrap();
        assert_eq!(answer.question_id, asked.question_id);
        answer
    }

    /// The detector is stopped and started with another configuration file.
    pub(crate) fn restart_with(&mut self, file: &str) {
        self.driver.kill(0);
        self.settings = configured(file);
        self.driver.add(detector::stage(&self.settings, &self.names, 1, messages::ChangeForm::Avro), "two");
    }

    /// The detector starts again after it was killed.
    pub(crate) fn restart(&mut self) {
        self.driver.add(detector::stage(&self.settings, &self.names, 1, messages::ChangeForm::Avro), "two");
        self.driver.run_until_idle().unwrap();
    }

    /// The detector's figure of this name; NaN if there is none.
    pub(crate) fn figure(&mut self, metric: &metrics::Metric) -> f64 {
        // Figures are renewed every so often.
        self.driver.clock.advance(Duration::from_secs(1));
        self.driver.run_until_idle().unwrap();
        self.driver.status(0).figures.get(metric).copied().unwrap_or(f64::NAN)
    }

    /// A crash that also takes the state directory.
    pub(crate) fn lose_everything_but_the_log(&mut self) {
        self.driver.kill(0);
        self.driver.stores = MemoryStores::default();
        self.driver.add(detector::stage(&self.settings, &self.names, 1, messages::ChangeForm::Avro), "two");
    }
}

fn configured(file: &str) -> Settings {
    Settings::from_layers(Layers { files: &[("recrawl.toml", file)], environment: [], overrides: &[] }).unwrap()
}

pub(crate) fn html(paragraphs: &[&str]) -> String {
    let paragraphs: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    format!("<html><head><title>News</title></head><body>{paragraphs}</body></html>")
}

pub(crate) fn one_sentence_changed() -> String {
    let mut paragraphs = FIRST.to_vec();
    paragraphs[4] = CHANGED_SENTENCE;
    html(&paragraphs)
}

//! Asks the stages over Kafka. The owner of each partition answers from its own state.

use super::answers::{Answers, unreadable};
use super::copies::copies_in_topic;
use super::{CrawlState, VisitCopy, WatchedPage};
use crate::{ExplanationParts, NamedSource, PageParts, RuleSets};
use daemon::{CommandFailure, StageLag, Status, TopicReader, WebClock};
use detector::VersionFacts;
use messages::topics::{self, TopicSpec};
use messages::{Answer, Encoded, HostSelection, PageContent, PageSelection, Question, QuestionKind};
use metrics::Metric;
use page::{CanonicalUrl, DAY, MINUTE};
use scheduler::{HostListing, ListedPage, MOST_LISTED_HOSTS, PageListing};
use settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use stream::partitioner::{key_for, partition_for};
use stream::{Clock, Log, OutputRecord, StageTopology};
use stream_kafka::KafkaLog;
use topology::LogNames;

const CLIENT: &str = "recrawl-ask";
/// How often answers are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How far the clocks of the machines may differ, before a stage takes a new question for one that no process waits for.
const CLOCK_TOLERANCE: Duration = MINUTE;
/// The longest wait, so that no time overflows.
const LONGEST_WAIT: Duration = DAY;
const RECORDS_PER_READ: usize = 100;
/// Pages whose state is asked for at the same time.
const PAGES_AT_ONCE: usize = 64;

const SCHEDULER: AskedStage = ("scheduler", topics::SCHEDULER_EVENTS.spec());
const DETECTOR: AskedStage = ("detector", topics::FETCH_RESULTS.spec());
const FETCHER: AskedStage = ("fetcher", topics::FETCH_REQUESTS.spec());
const ESTIMATOR: AskedStage = ("estimator", topics::PAGE_OBSERVATIONS.spec());
const RANKER: AskedStage = ("ranker", topics::RANKER_EVENTS.spec());

/// The name of a stage, and the topic on which it is asked.
pub(super) type AskedStage = (&'static str, TopicSpec);
/// One partition of a stage.
pub(super) type StagePartition = (&'static str, u32);

/// Asks the stages of a crawl over Kafka.
pub struct Asker {
    log: KafkaLog,
    settings: Settings,
    names: LogNames,
    clock: WebClock,
    partitions: u32,
    topologies: Vec<StageTopology>,
    wait: Duration,
}

impl Asker {
    /// Connects to the Kafka of the settings. Stages have this long to answer, a day at most.
    pub fn open(settings: &Settings, topologies: Vec<StageTopology>, wait: Duration) -> Result<Self, CommandFailure> {
        let log = daemon::connect(settings, CLIENT)?;
        let names = LogNames::new(settings);
        let input = names.topic(topics::SCHEDULER_EVENTS);
        let missing =
            || CommandFailure::Input(format!("topic {input} does not exist; create it with recrawl topics create"));
        let partitions = log.topic(&input)?.ok_or_else(missing)?.partitions;
        let clock = WebClock::new(&settings.clock);
        let wait = wait.min(LONGEST_WAIT);
        Ok(Self { log, settings: settings.clone(), names, clock, partitions, topologies, wait })
    }

    /// Asks the partition of a page.
    fn ask_about_page(
        &self,
        about: QuestionKind,
        url: &CanonicalUrl,
        stages: &[AskedStage],
    ) -> Result<Answers, CommandFailure> {
        self.ask(&[self.about_page(about, url)], stages)
    }

    /// Asks every partition.
    fn ask_partitions(&self, common: Question, stages: &[AskedStage]) -> Result<Answers, CommandFailure> {
        let to = |partition| {
            let routing_key = key_for(partition, self.partitions);
            (partition, Question { routing_key, ..common.clone() })
        };
        self.ask(&(0..self.partitions).map(to).collect::<Vec<_>>(), stages)
    }

    fn question(&self, about: QuestionKind) -> Question {
        let now = self.clock.now();
        Question {
            question_id: format!("{:032x}", rand::random::<u128>()),
            routing_key: String::new(),
            about,
            url: None,
            hosts: None,
            asked_at: now,
            answer_until: now + (self.wait + CLOCK_TOLERANCE).mul_f64(self.clock.speed().clamp(1.0, 86_400.0)),
            site: None,
            pages: None,
            version: None,
        }
    }

    /// Asks those stages of which a process runs. The others are silent.
    fn ask(&self, questions: &[(u32, Question)], stages: &[AskedStage]) -> Result<Answers, CommandFailure> {
        let mut answers = Answers::default();
        let mut asked = Vec::new();
        for &stage in stages {
            match self.processes(stage) {
                Processes::Running => asked.push(stage),
                // Where no link is followed no ranker needs to be started, and it has nothing to say.
                Processes::NeverStarted if stage.0 == RANKER.0 => {}
                Processes::Stopped | Processes::NeverStarted => {
                    answers.absent.insert(stage.0);
                }
            }
        }
        self.send_and_wait(questions, &asked, &mut answers)?;
        for stage in &answers.absent {
            answers.silent.extend(questions.iter().map(|(partition, _)| (*stage, *partition)));
        }
        Ok(answers)
    }

    /// Whether processes of a stage run, as its consumer group knows.
    fn processes(&self, (stage, input): AskedStage) -> Processes {
        let group = self.names.group(stage);
        match self.log.processes(&group) {
            Ok(Some(0)) => Processes::Stopped,
            // The broker does not show a user who may not see the group whether there is one.
            Ok(None) if self.log.backlog(&group, &self.names.topic(input)).is_ok() => Processes::NeverStarted,
            // If the group cannot be seen, the wait decides.
            _ => Processes::Running,
        }
    }

    /// Sends the questions, one a partition and all with the same id, to each stage, and waits for the answers.
    fn send_and_wait(
        &self,
        questions: &[(u32, Question)],
        stages: &[AskedStage],
        answers: &mut Answers,
    ) -> Result<(), CommandFailure> {
        let Some((_, any)) = questions.first().filter(|_| !stages.is_empty()) else { return Ok(()) };
        let mut records = Vec::new();
        for (stage, input) in stages {
            for (partition, question) in questions {
                answers.silent.insert((*stage, *partition));
                records.push(self.record(question, *input));
            }
        }
        self.exchange(&records, &[any.question_id.clone()].into(), &mut |answer| {
            answers.take(answer);
            answers.silent.is_empty()
        })
    }

    /// Fails if a partition has not answered, and says how much it has to read before the question.
    fn complete(&self, answers: &Answers) -> Result<(), CommandFailure> {
        if answers.silent.is_empty() {
            return Ok(());
        }
        let mut reasons = Vec::new();
        if !answers.absent.is_empty() {
            let programs: Vec<String> = answers.absent.iter().map(|stage| format!("recrawl stage {stage}")).collect();
            reasons.push(format!("these do not run: {}; start them", programs.join(", ")));
        }
        let late: Vec<_> = answers.silent.iter().filter(|(stage, _)| !answers.absent.contains(stage)).collect();
        if !late.is_empty() {
            let backlogs = daemon::backlog::ask(&self.log, &self.names, &self.topologies)?;
            let records = |(stage, partition): &StagePartition| {
                let of_stage = backlogs.iter().find(|(name, _)| name == stage);
                let of_partition = of_stage.and_then(|(_, all)| all.iter().find(|of| of.partition == *partition));
                of_partition.map_or(0, |of| of.records)
            };
            let late = late.into_iter().map(|who| format!("{}/{} ({} records to read)", who.0, who.1, records(who)));
            reasons.push(format!(
                "no answer within {} from {}; start the stage, or give it longer with --wait",
                humantime::format_duration(self.wait),
                late.collect::<Vec<_>>().join(", ")
            ));
        }
        Err(CommandFailure::World(reasons.join("; ")))
    }

    fn record(&self, question: &Question, input: TopicSpec) -> OutputRecord {
        OutputRecord::of(question, self.names.topic(input).as_str(), self.partitions, self.clock.now())
    }

    /// Sends questions with these ids and takes the answers, until the last one is taken or the wait is over.
    fn exchange(
        &self,
        questions: &[OutputRecord],
        ids: &BTreeSet<String>,
        take: &mut dyn FnMut(Answer) -> bool,
    ) -> Result<(), CommandFailure> {
        let mut reader = TopicReader::open(&self.settings, topics::ANSWERS, CLIENT)?;
        let mut next = reader.bounds(0)?.end;
        stream::schemas::report(&self.log, &self.names.schemas(Vec::new()), self.clock.now())?;
        self.log.append(questions)?;
        let asked_at = Instant::now();
        let mut has_all = false;
        while !has_all && asked_at.elapsed() < self.wait {
            let (records, after) = reader.read(0, next, RECORDS_PER_READ)?;
            if records.is_empty() {
                std::thread::sleep(LOOK_EVERY);
            }
            next = after;
            let is_asked = |key: &[u8]| std::str::from_utf8(key).is_ok_and(|id| ids.contains(id));
            for record in records.iter().filter(|record| is_asked(&record.key)) {
                let value = record.value.as_deref().unwrap_or_default();
                let answer =
                    Answer::decode(value).map_err(|error| CommandFailure::World(format!("an answer: {error}")))?;
                has_all |= take(answer);
            }
        }
        Ok(())
    }

    /// The partition of a page, and a question about the page.
    fn about_page(&self, about: QuestionKind, url: &CanonicalUrl) -> (u32, Question) {
        let routing_key = url.site_key().as_str().to_owned();
        let partition = partition_for(routing_key.as_bytes(), self.partitions);
        (partition, Question { routing_key, url: Some(url.clone()), ..self.question(about) })
    }
}

impl CrawlState for Asker {
    fn partitions(&self) -> u32 {
        self.partitions
    }

    fn page(&self, url: &CanonicalUrl) -> Result<PageParts, CommandFailure> {
        let answers = self.ask_about_page(QuestionKind::Page, url, &[SCHEDULER, DETECTOR, ESTIMATOR, RANKER])?;
        let parts = PageParts {
            page: answers.entry(SCHEDULER, scheduler::PAGES)?,
            host: answers.entry(SCHEDULER, scheduler::HOSTS)?,
            forgotten: answers.entry(SCHEDULER, scheduler::FORGOTTEN)?,
            sketch: answers.entry(DETECTOR, detector::PAGES)?,
            belief: answers.entry(ESTIMATOR, estimator::PAGES)?,
            focus: answers.entry(RANKER, ranker::FOCUS)?,
            neighbours: answers.entry(RANKER, ranker::NEIGHBOURS)?,
        };
        // Nothing else is shown of a page that the scheduler does not know.
        match parts.page {
            None if answers.has(SCHEDULER) => Ok(parts),
            _ => self.complete(&answers).map(|()| parts),
        }
    }

    fn copy(&self, url: &CanonicalUrl) -> Result<Option<PageContent>, CommandFailure> {
        let answers = self.ask_about_page(QuestionKind::Copy, url, &[DETECTOR])?;
        self.complete(&answers)?;
        answers.entry(DETECTOR, detector::CONTENTS)
    }

    fn each_copy(&self, visit: &mut VisitCopy<'_>) -> Result<ControlFlow<()>, CommandFailure> {
        copies_in_topic(&self.settings, visit)
    }

    fn history(&self, url: &CanonicalUrl) -> Result<Vec<VersionFacts>, CommandFailure> {
        let answers = self.ask_about_page(QuestionKind::History, url, &[DETECTOR])?;
        self.complete(&answers)?;
        let Some(answer) = answers.of(DETECTOR).next() else { return Ok(Vec::new()) };
        answer.read_json().map_err(|error| unreadable(answer, &error))
    }

    fn version(&self, url: &CanonicalUrl, number: u32) -> Result<Option<PageContent>, CommandFailure> {
        let (partition, question) = self.about_page(QuestionKind::History, url);
        let version = Some(i32::try_from(number).unwrap_or(i32::MAX));
        let answers = self.ask(&[(partition, Question { version, ..question })], &[DETECTOR])?;
        self.complete(&answers)?;
        answers.entry(DETECTOR, detector::CONTENTS)
    }

    fn list_pages(&self, selection: &PageSelection, visit: &mut dyn FnMut(ListedPage)) -> Result<(), CommandFailure> {
        let mut left = usize::try_from(selection.at_most).unwrap_or(0);
        let mut from: BTreeMap<u32, _> = (0..self.partitions).map(|partition| (partition, selection.after)).collect();
        while left > 0 && !from.is_empty() {
            let common = self.question(QuestionKind::Pages);
            let questions = from.iter().map(|(partition, after)| {
                let at_most = i32::try_from(left).unwrap_or(i32::MAX);
                let pages = Some(PageSelection { after: *after, at_most, ..selection.clone() });
                let routing_key = key_for(*partition, self.partitions);
                (*partition, Question { routing_key, pages, ..common.clone() })
            });
            let answers = self.ask(&questions.collect::<Vec<_>>(), &[SCHEDULER])?;
            self.complete(&answers)?;
            for answer in answers.of(SCHEDULER) {
                let listing: PageListing = answer.read_json().map_err(|error| unreadable(answer, &error))?;
                let listed = listing.pages.into_iter().take(left);
                left -= listed.map(&mut *visit).count();
                let partition = u32::try_from(answer.partition).unwrap_or(u32::MAX);
                match listing.next_after {
                    Some(after) => from.insert(partition, Some(after)),
                    None => from.remove(&partition),
                };
            }
        }
        Ok(())
    }

    fn watched(
        &self,
        urls: &[CanonicalUrl],
        visit: &mut dyn FnMut(&CanonicalUrl, WatchedPage) -> Result<(), CommandFailure>,
    ) -> Result<(), CommandFailure> {
        for urls in urls.chunks(PAGES_AT_ONCE) {
            let questions = urls.iter().map(|url| (url, self.about_page(QuestionKind::Watched, url).1));
            let questions: BTreeMap<String, (&CanonicalUrl, Question)> =
                questions.map(|(url, question)| (question.question_id.clone(), (url, question))).collect();
            let records: Vec<_> = questions.values().map(|(_, question)| self.record(question, DETECTOR.1)).collect();
            let mut answers = BTreeMap::new();
            self.exchange(&records, &questions.keys().cloned().collect(), &mut |answer| {
                answers.insert(answer.question_id.clone(), answer);
                answers.len() == questions.len()
            })?;
            for (id, (url, _)) in questions {
                // Asked again alone, it says what the detector has to read first.
                let again = || self.ask_about_page(QuestionKind::Watched, url, &[DETECTOR]);
                let answers = answers.remove(&id).map_or_else(again, |answer| Ok(Answers::of_one(answer)))?;
                self.complete(&answers)?;
                let page = WatchedPage {
                    sketch: answers.entry(DETECTOR, detector::PAGES)?.unwrap_or_default(),
                    blind: answers.entry(DETECTOR, detector::BLIND)?,
                    copy: answers.entry(DETECTOR, detector::CONTENTS)?,
                };
                visit(url, page)?;
            }
        }
        Ok(())
    }

    fn explain(&self, url: &CanonicalUrl) -> Result<ExplanationParts, CommandFailure> {
        let mut answers = self.ask_about_page(QuestionKind::Explanation, url, &[SCHEDULER, RANKER, FETCHER])?;
        // The page is explained all the same, without the line that forbids it.
        answers.excuse(FETCHER);
        let robots = answers.entry(FETCHER, fetcher::ROBOTS)?;
        let explained = answers.of(SCHEDULER).find(|answer| answer.json.is_some());
        let parts = ExplanationParts {
            explanation: explained
                .map(|answer| answer.read_json().map_err(|error| unreadable(answer, &error)))
                .transpose()?,
            focus: answers.entry(RANKER, ranker::FOCUS)?,
            neighbours: answers.entry(RANKER, ranker::NEIGHBOURS)?,
            forgotten: answers.entry(SCHEDULER, scheduler::FORGOTTEN)?,
            forbidden_by: robots.and_then(|it| it.forbidding_line(url, self.settings.crawl.product_token())),
        };
        match parts.explanation {
            None if answers.has(SCHEDULER) => Ok(parts),
            _ => self.complete(&answers).map(|()| parts),
        }
    }

    fn discovered_on(&self, source: &NamedSource) -> Result<u64, CommandFailure> {
        let (url, site) = match source {
            NamedSource::Page(url) => (Some(url.clone()), None),
            NamedSource::Site(host) => (None, Some(host.site_key())),
        };
        let question = Question { url, site, ..self.question(QuestionKind::Discovered) };
        let answers = self.ask_partitions(question, &[SCHEDULER])?;
        self.complete(&answers)?;
        let count = |answer: &Answer| answer.read_json::<u64>().map_err(|error| unreadable(answer, &error));
        answers.of(SCHEDULER).map(count).sum()
    }

    fn hosts(&self, selection: HostSelection) -> Result<HostListing, CommandFailure> {
        let question = Question { hosts: Some(selection), ..self.question(QuestionKind::Hosts) };
        let answers = self.ask_partitions(question, &[SCHEDULER])?;
        self.complete(&answers)?;
        let listing = |answer: &Answer| answer.read_json::<HostListing>().map_err(|error| unreadable(answer, &error));
        let listings = answers.of(SCHEDULER).map(listing).collect::<Result<Vec<_>, _>>()?;
        Ok(HostListing::merged(listings, selection))
    }

    fn status(&self) -> Result<(Status, Result<(), CommandFailure>), CommandFailure> {
        let now = self.clock.now();
        let backlogs = daemon::backlog::ask(&self.log, &self.names, &self.topologies)?;
        let asked: &[AskedStage] = if self.wait.is_zero() { &[] } else { &[SCHEDULER, DETECTOR, ESTIMATOR, RANKER] };
        let answers = self.ask_partitions(self.question(QuestionKind::Figures), asked)?;
        let mut figures: BTreeMap<&str, BTreeMap<String, f64>> = BTreeMap::new();
        for stage in asked {
            for answer in answers.of(*stage) {
                let reported: BTreeMap<String, f64> = answer.read_json().map_err(|error| unreadable(answer, &error))?;
                let sums = figures.entry(stage.0).or_default();
                reported.into_iter().for_each(|(name, value)| *sums.entry(name).or_default() += value);
            }
        }
        let figure = |metric: &'static Metric| {
            figures.get(metric.stage).and_then(|sums| sums.get(metric.figure)).copied().unwrap_or(0.0)
        };
        let mut status = match answers.has(SCHEDULER) {
            true => Status::of_figures(figure),
            false => Status::default(),
        };
        status.unanswered = answers.silent.iter().map(|(stage, partition)| format!("{stage}/{partition}")).collect();
        if let Some(price) =
            figures.get_mut(SCHEDULER.0).and_then(|sums| sums.get_mut(metrics::scheduler::PRICE.figure))
        {
            *price = metrics::scheduler::PRICE.of_partitions(*price, answers.of(SCHEDULER).count());
        }
        for (stage, partitions) in backlogs {
            let oldest = partitions.iter().filter_map(|of| of.oldest).min();
            let answered = asked.iter().find(|asked| asked.0 == stage).map(|asked| answers.of(*asked).count());
            status.stages.push(StageLag {
                name: stage.to_owned(),
                lag_records: partitions.iter().map(|of| of.records).sum(),
                lag_s: oldest.map_or(0.0, |oldest| now.saturating_since(oldest).as_secs_f64()),
                ready: answered.map(|answered| answered == self.partitions as usize),
                partitions: answered,
                figures: figures.remove(stage).unwrap_or_default(),
                ..StageLag::default()
            });
        }
        // The figures are worth showing all the same.
        status.topic_problems =
            daemon::changed_topics::problems(&self.log, &self.settings, &self.topologies).unwrap_or_default();
        let complete = self.complete(&answers);
        Ok((status, complete))
    }

    fn saved_rules(&self) -> Result<RuleSets, CommandFailure> {
        RuleSets::of_log(&self.log, &self.names.topic(topics::RULE_SETS))
    }

    fn most_hosts(&self) -> Option<i32> {
        Some(MOST_LISTED_HOSTS)
    }
}

/// Whether a stage has processes, by its consumer group.
enum Processes {
    Running,
    /// None runs, but one has.
    Stopped,
    NeverStarted,
}

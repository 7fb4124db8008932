//! Is every partition of every stage getting on?

use crate::plan::STAGES;
use page::{CanonicalUrl, Timestamp};
use settings::Settings;
use simweb::RequestKind;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stream::partitioner::partition_for;
use stream::{Backlog, Log, StageTopology};
use tests::SimulatedWeb;
use tests::services::PARTITIONS;
use topology::LogNames;

/// The longest standstills so far, by stage and partition; `web` stands for requests that reach the web.
pub(crate) type Standstills = BTreeMap<(String, u32), Duration>;

/// Measures how long something with work to do does not move.
#[derive(Clone, Copy, Debug)]
struct Pulse<T> {
    seen: T,
    has_work: bool,
    moved_at: Instant,
    longest: Duration,
}

impl<T: PartialEq> Pulse<T> {
    fn new(seen: T) -> Self {
        Self { seen, has_work: false, moved_at: Instant::now(), longest: Duration::ZERO }
    }

    fn feel(&mut self, seen: T, has_work: bool) {
        let now = Instant::now();
        if self.has_work {
            // It may have moved at any moment since it was last felt.
            self.longest = self.longest.max(now - self.moved_at);
        }
        self.has_work = has_work;
        if self.seen != seen || !has_work {
            self.moved_at = now;
        }
        self.seen = seen;
    }
}

/// Requests for pages by partition of their site.
pub(crate) struct Requests {
    partitions: BTreeMap<String, u32>,
    /// Pages of each partition.
    pub(crate) pages: [usize; PARTITIONS as usize],
}

impl Requests {
    pub(crate) fn new(web: &SimulatedWeb) -> Self {
        let (mut partitions, mut pages) = (BTreeMap::new(), [0; PARTITIONS as usize]);
        for url in web.urls() {
            let url = CanonicalUrl::parse(&url).unwrap();
            let partition = partition_for(url.site_key().as_str().as_bytes(), PARTITIONS);
            partitions.insert(url.host().as_str().to_owned(), partition);
            pages[partition as usize] += 1;
        }
        Self { partitions, pages }
    }

    pub(crate) fn count(&self, web: &SimulatedWeb) -> [usize; PARTITIONS as usize] {
        let mut counts = [0; PARTITIONS as usize];
        for entry in web.ledger().iter().filter(|entry| entry.kind == RequestKind::Page) {
            counts[self.partitions[&*entry.host] as usize] += 1;
        }
        counts
    }
}

/// Feels the pulse of the web's partitions, which takes no broker's answer.
pub(crate) struct WebPulse(Vec<Pulse<usize>>);

impl WebPulse {
    pub(crate) fn new() -> Self {
        Self((0..PARTITIONS).map(|_| Pulse::new(0)).collect())
    }

    /// `wanted`: requests after which a partition has nothing to do.
    pub(crate) fn feel(&mut self, counts: &[usize], wanted: impl Fn(usize) -> usize) {
        for (partition, pulse) in self.0.iter_mut().enumerate() {
            pulse.feel(counts[partition], counts[partition] < wanted(partition));
        }
    }

    pub(crate) fn longest(&self) -> Standstills {
        let each = self.0.iter().zip(0..);
        each.map(|(pulse, partition)| (("web".to_owned(), partition), pulse.longest)).collect()
    }
}

/// Asks the brokers every now and then how far each group is. Each stage is asked about by itself: a broker that does
/// not answer holds up a question for seconds.
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    standstills: Arc<Mutex<Standstills>>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

/// Pause between two questions.
const LOOK_EVERY: Duration = Duration::from_millis(200);

impl Watch {
    pub(crate) fn start(settings: &Settings, stages: &[&'static str]) -> Self {
        let (stop, standstills) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Standstills::new())));
        let watched = recrawl::stages::topologies().into_iter().filter(|stage| stages.contains(&stage.name));
        let threads = watched.map(|StageTopology { name: stage, input, .. }| {
            let (stop, standstills, names) = (stop.clone(), standstills.clone(), LogNames::new(settings));
            let log = daemon::connect(settings, "torture").unwrap();
            std::thread::spawn(move || {
                let mut pulses = BTreeMap::new();
                while !stop.load(Ordering::Relaxed) {
                    // Brokers that do not answer now answer later; until then no partition counts as moved.
                    let backlogs = log.backlog(&names.group(stage), &names.topic(input));
                    backlogs.into_iter().flatten().for_each(|backlog| feel(&mut pulses, &backlog));
                    let longest =
                        pulses.iter().map(|(partition, pulse)| ((stage.to_owned(), *partition), pulse.longest));
                    standstills.lock().unwrap_or_else(PoisonError::into_inner).extend(longest);
                    std::thread::sleep(LOOK_EVERY);
                }
            })
        });
        let threads = threads.collect();
        Self { stop, standstills, threads }
    }

    pub(crate) fn longest(&self) -> Standstills {
        self.standstills.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// The first record that waits, and how many do.
type Waiting = (Option<Timestamp>, u64);

fn feel(pulses: &mut BTreeMap<u32, Pulse<Waiting>>, backlog: &Backlog) {
    let pulse = pulses.entry(backlog.partition).or_insert_with(|| Pulse::new((None, 0)));
    let (oldest, records) = (backlog.oldest, backlog.records);
    // More records behind the same first one are no progress.
    let records = if oldest == pulse.seen.0 { records.min(pulse.seen.1) } else { records };
    pulse.feel((oldest, records), backlog.records > 0);
}

/// The longest of all, with whose it was.
pub(crate) fn worst(standstills: &Standstills) -> (Duration, String) {
    let worst = standstills.iter().max_by_key(|(_, standstill)| **standstill);
    worst.map_or((Duration::ZERO, String::new()), |((stage, partition), standstill)| {
        (*standstill, format!("{stage} {partition}"))
    })
}

/// The longest of every stage.
pub(crate) fn by_stage(standstills: &Standstills) -> String {
    let names = ["web"].into_iter().chain(STAGES);
    let each = names.filter_map(|name| {
        let of = standstills.iter().filter(|((stage, _), _)| stage == name).map(|(_, span)| span.as_secs_f64());
        let longest = of.fold(f64::NAN, f64::max);
        (!longest.is_nan()).then(|| format!("{name} {longest:.1} s"))
    });
    each.collect::<Vec<_>>().join(", ")
}

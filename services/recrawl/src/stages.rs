//! The stages of the loop, each declared once: how it is built and what its pod needs. `recrawl run`, `recrawl stage`,
//! `recrawl topics`, the manifests of Kubernetes and the compose file follow from this table.

use crate::documents;
use messages::ChangeForm;
use messages::body::Packing;
use outputs::schema_registry::change_form;
use scheduler::ListedSeeds;
use settings::{OutputFormat, Settings};
use std::path::Path;
use std::sync::Arc;
use stream::{Clock, ErrorKind, LogError, StageSpec, StageTopology};
use topology::LogNames;

/// A stage of the loop.
pub struct StageEntry {
    /// The stage's purpose, as help and manifests show it after its name.
    pub purpose: &'static str,
    /// The topics that it reads and writes, and the tables that it keeps.
    pub topology: fn() -> StageTopology,
    /// Builds it.
    ///
    /// # Errors
    /// [`ErrorKind::Retry`] while something outside does not answer, [`ErrorKind::Stop`] if a setting is wrong.
    pub build: fn(&Surroundings<'_>) -> Result<StageSpec, LogError>,
    /// The resources that its pod needs on Kubernetes.
    pub pod: Pod,
}

/// The surroundings from which a stage is built: settings, names, clock, directory and log.
pub struct Surroundings<'a> {
    /// Effective settings of the process.
    pub settings: &'a Settings,
    /// Names of topics and groups on the log.
    pub names: &'a LogNames,
    /// Clock of the web.
    pub clock: Arc<dyn Clock>,
    /// Number of partitions of the loop's topics.
    pub partitions: u32,
    /// State directory of the process.
    pub data: &'a Path,
    /// The list of seeds of this start. `None` over Kafka, where seeds come by commands.
    pub seeds: Option<&'a ListedSeeds>,
    /// The log that the stage works on.
    pub log: LogKind,
}

/// The two kinds of log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// In the data directory of the process.
    Embedded,
    Kafka,
}

/// Needs of a stage's pod, as quantities of Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Pod {
    /// Pods at first. A stage that has no work by default has none.
    pub replicas: u32,
    /// Processor time that is reserved.
    pub cpu: &'static str,
    /// Memory that is reserved.
    pub memory: &'static str,
    /// Memory with which the pod is ended.
    pub memory_limit: &'static str,
    /// Disk for its state.
    pub storage: &'static str,
    /// Whether it reads the password and the authority of a schema registry.
    pub schema_registry: bool,
    /// Whether a pod keeps its name and its disk over restarts (a StatefulSet). Then a new process of the name fences its
    /// predecessor and ends its open transactions. Otherwise its little state is refilled from the changelogs (a Deployment).
    pub has_lasting_name: bool,
}

/// All stages, in the order in which a page passes through them.
pub const STAGES: [StageEntry; 6] = [
    StageEntry {
        purpose: "decides which page is fetched next",
        topology: scheduler::topology,
        build: |around| {
            let (settings, names, seeds) = (around.settings, around.names, around.seeds.cloned());
            Ok(scheduler::stage(settings, names, around.partitions, seeds))
        },
        pod: Pod { cpu: "500m", memory: "512Mi", memory_limit: "2Gi", ..Pod::DEFAULT },
    },
    StageEntry {
        purpose: "fetches pages politely",
        topology: fetcher::topology,
        build: |around| {
            let rules = fetcher::FetcherRules::new(around.settings);
            let rules = rules.map_err(|error| LogError::new(ErrorKind::Stop, error.to_string()))?;
            let (data, clock) = (Some(around.data), around.clock.clone());
            let stage = fetcher::stage(around.settings, around.names, rules, packing(around), data, clock);
            stage.map_err(|error| LogError::new(ErrorKind::Stop, error.to_string()))
        },
        pod: Pod { cpu: "500m", storage: "1Gi", has_lasting_name: false, ..Pod::DEFAULT },
    },
    StageEntry {
        purpose: "decides whether a page changed, and whether the change is meaningful",
        topology: detector::topology,
        build: |around| {
            let (settings, names, partitions) = (around.settings, around.names, around.partitions);
            let form = form_of_changes(around)?;
            Ok(detector::stage_with_reader(settings, names, partitions, form, documents::reader()))
        },
        pod: Pod {
            cpu: "500m",
            memory: "512Mi",
            memory_limit: "2Gi",
            storage: "20Gi",
            schema_registry: true,
            ..Pod::DEFAULT
        },
    },
    StageEntry {
        purpose: "learns how often pages change",
        topology: estimator::topology,
        build: |around| Ok(estimator::stage(around.settings, around.names)),
        pod: Pod::DEFAULT,
    },
    StageEntry {
        purpose: "finds pages that are copies of each other; it has work only if detector.mirrors is set",
        topology: matcher::topology,
        build: |around| Ok(matcher::stage(around.settings, around.names)),
        pod: Pod { replicas: 0, ..Pod::DEFAULT },
    },
    StageEntry {
        purpose: "weighs pages by their links; it has work only if links are followed (crawl.discover) or there is a [focus]",
        topology: ranker::topology,
        build: |around| Ok(ranker::stage(around.settings, around.names, around.partitions)),
        pod: Pod { replicas: 0, ..Pod::DEFAULT },
    },
];

impl Pod {
    const DEFAULT: Self = Self {
        replicas: 1,
        cpu: "250m",
        memory: "256Mi",
        memory_limit: "1Gi",
        storage: "10Gi",
        schema_registry: false,
        has_lasting_name: true,
    };
}

impl StageEntry {
    pub fn named(name: &str) -> Option<&'static Self> {
        STAGES.iter().find(|stage| stage.name() == name)
    }

    /// Its name: `scheduler`, `detector` …
    pub fn name(&self) -> &'static str {
        (self.topology)().name
    }
}

/// The topology of every stage, in the order in which a page passes through them.
pub fn topologies() -> Vec<StageTopology> {
    STAGES.iter().map(|stage| (stage.topology)()).collect()
}

/// How the fetcher packs bodies: those in the memory of one process are not packed.
fn packing(around: &Surroundings<'_>) -> Packing {
    match around.log {
        LogKind::Embedded if around.settings.log.retention_results.is_none() => Packing::None,
        LogKind::Embedded | LogKind::Kafka => Packing::Lz4,
    }
}

fn form_of_changes(around: &Surroundings<'_>) -> Result<ChangeForm, LogError> {
    match (around.log, around.settings.output.format) {
        (LogKind::Embedded, OutputFormat::Confluent) => Err(LogError::new(
            ErrorKind::Stop,
            "output.format = \"confluent\" is for consumers of Kafka, and the log of this crawl is in its data directory; \
             write \"json\" or \"avro\"",
        )),
        (LogKind::Embedded | LogKind::Kafka, _) => change_form(around.settings, around.names),
    }
}

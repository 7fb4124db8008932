//! Topics that somebody changes while stages run. Names each within a minute, with the next step.

use crate::board::Board;
use crate::threads::StopSignal;
use settings::Settings;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use stream::{Log, LogError, StageTopology};
use stream_kafka::KafkaLog;
use topology::LogNames;
use tracing::{info, warn};

/// Interval between looks at the topics.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// The problems of the topics of these stages, each with the name of its topic and the next step.
///
/// # Errors
/// When Kafka does not answer.
pub fn problems(log: &KafkaLog, settings: &Settings, stages: &[StageTopology]) -> Result<Vec<String>, LogError> {
    let names = LogNames::new(settings);
    // All inputs have the number of partitions that is used, whatever the setting says.
    let input = stages.first().map(|stage| log.topic(&names.topic(stage.input))).transpose()?.flatten();
    let partitions = input.map_or(settings.kafka.partitions, |topic| topic.partitions);
    let configs = topology::topic_configs(settings, stages, partitions);
    let checks = log.check_visible_topics(&configs)?;
    Ok(checks.into_iter().filter_map(|check| Some(format!("topic {} {}", check.name, check.problem?))).collect())
}

/// Compares the topics of these stages with what they need, until `stop`, logs what is new, and shows it on the board.
pub fn watch(
    log: Arc<KafkaLog>,
    settings: &Settings,
    stages: Vec<StageTopology>,
    board: Board,
    stop: &StopSignal,
) -> std::io::Result<JoinHandle<()>> {
    let (settings, mut known) = (settings.clone(), BTreeSet::new());
    stop.repeat("topics", Duration::ZERO, move || {
        // Whether Kafka answers is watched elsewhere.
        if let Ok(found) = problems(&log, &settings, &stages) {
            let found: BTreeSet<String> = found.into_iter().collect();
            found.difference(&known).for_each(|problem| warn!("{problem}"));
            known.difference(&found).for_each(|problem| info!("no longer: {problem}"));
            board.show_topic_problems(found.iter().cloned().collect());
            known = found;
        }
        LOOK_EVERY
    })
}

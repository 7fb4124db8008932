//! Backlog of each stage's group, requested from the log, so that the figure exists even when no stage is running.

pub(crate) mod shown;
mod watch;

pub use self::watch::watch;

use stream::{Backlog, Log, LogError, StageTopology};
use topology::LogNames;

/// Backlog of every stage, in the order of the stages.
pub type Backlogs = Vec<(&'static str, Vec<Backlog>)>;

pub fn ask(log: &dyn Log, names: &LogNames, stages: &[StageTopology]) -> Result<Backlogs, LogError> {
    let backlog = |stage: &StageTopology| log.backlog(&names.group(stage.name), &names.topic(stage.input));
    stages.iter().map(|stage| Ok((stage.name, backlog(stage)?))).collect()
}

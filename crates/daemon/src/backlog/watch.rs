//! A thread that shows the backlog of stages.

use super::ask;
use crate::board::Board;
use crate::threads::StopSignal;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use stream::{Clock, Log, StageTopology};
use topology::LogNames;
use tracing::warn;

/// Interval between requests to the log, in real time.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// Shows the backlog of stages on the board, from its own thread, until `stop`.
pub fn watch(
    log: Arc<dyn Log>,
    names: &LogNames,
    stages: Vec<StageTopology>,
    clock: Arc<dyn Clock>,
    board: Board,
    stop: &StopSignal,
) -> std::io::Result<JoinHandle<()>> {
    let names = names.clone();
    stop.repeat("backlog", Duration::ZERO, move || {
        match ask(&*log, &names, &stages) {
            Ok(backlogs) => board.show_backlogs(backlogs, clock.now()),
            Err(error) => warn!(error = error.message, "cannot determine the backlog of the stages"),
        }
        ASK_EVERY
    })
}

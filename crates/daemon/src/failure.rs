//! The error of a command. It determines the exit status.

use std::fmt;
use stream::{ErrorKind, LogError, StoreError};

#[derive(Debug)]
pub enum CommandFailure {
    /// The answer is no, or a check failed: exit status 1.
    No(String),
    /// The input or the configuration is wrong: exit status 2.
    Input(String),
    /// The outside world failed: exit status 3.
    World(String),
}

impl CommandFailure {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            CommandFailure::No(_) => 1,
            CommandFailure::Input(_) => 2,
            CommandFailure::World(_) => 3,
        }
    }
}

impl fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandFailure::No(message) | CommandFailure::Input(message) | CommandFailure::World(message) => {
                f.write_str(message)
            }
        }
    }
}

impl From<LogError> for CommandFailure {
    fn from(error: LogError) -> Self {
        match error.kind {
            // Configuration, an unusable directory or a missing topic: the operator has to fix it.
            ErrorKind::Stop => CommandFailure::Input(error.message),
            ErrorKind::Retry | ErrorKind::Abort | ErrorKind::Rejoin | ErrorKind::Fenced => {
                CommandFailure::World(error.message)
            }
        }
    }
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        CommandFailure::World(error.to_string())
    }
}

impl From<std::io::Error> for CommandFailure {
    fn from(error: std::io::Error) -> Self {
        CommandFailure::World(error.to_string())
    }
}

impl From<settings::Faults> for CommandFailure {
    fn from(faults: settings::Faults) -> Self {
        CommandFailure::Input(faults.to_string())
    }
}

//! The error of a command. It determines the exit status.

use std::fmt;
use stream::{ErrorKind, LogError, StoreError};

/// Error of a command.
#[derive(Debug)]
pub enum Failure {
    /// The answer is no, or a check failed: exit status 1.
    No(String),
    /// The input or the configuration is wrong: exit status 2.
    Input(String),
    /// The outside world failed: exit status 3.
    World(String),
}

impl Failure {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::No(_) => 1,
            Failure::Input(_) => 2,
            Failure::World(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::No(message) | Failure::Input(message) | Failure::World(message) => f.write_str(message),
        }
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        match error.kind {
            // Configuration, an unusable directory or a missing topic: the operator has to fix it.
            ErrorKind::Stop => Failure::Input(error.message),
            ErrorKind::Retry | ErrorKind::Abort | ErrorKind::Rejoin | ErrorKind::Fenced => {
                Failure::World(error.message)
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::World(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::World(error.to_string())
    }
}

impl From<daemon::LoadError> for Failure {
    fn from(error: daemon::LoadError) -> Self {
        Failure::Input(error.to_string())
    }
}

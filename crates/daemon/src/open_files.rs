//! How many files the process may have open.

use crate::CommandFailure;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than anything here needs. Some systems set no limit at all.
const MOST: u64 = 1 << 20;
/// Fewer do not suffice for threads, sockets and a database. Libraries panic when they find no file left at their start.
const LEAST: u64 = 64;

/// Raises the limit of open files to the highest that the process may set by itself. Login shells and systemd set 1,024 for
/// the sake of programs that use select(2), and permit more. Programs that are started later inherit it.
///
/// # Errors
/// There are too few for any command.
pub fn raise_limit() -> Result<(), CommandFailure> {
    let set = getrlimit(Resource::Nofile);
    if let Some(raised) = raised(&set) {
        // The old limit holds where the system refuses another.
        _ = setrlimit(Resource::Nofile, raised);
    }
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < LEAST => Err(CommandFailure::World(format!(
            "this needs at least {LEAST} open files; {}",
            stream_rocksdb::remedy_for_files(limit)
        ))),
        Some(_) | None => Ok(()),
    }
}

/// An error message with the next step, if there were too many open files. Any part of a process may be the one that finds no
/// file left.
pub fn with_remedy(message: String) -> String {
    let limit = getrlimit(Resource::Nofile).current;
    match limit.filter(|_| message.contains("Too many open files") && !message.contains("hard limit")) {
        Some(limit) => format!("{message}; {}", stream_rocksdb::remedy_for_files(limit)),
        None => message,
    }
}

/// A higher limit within what the process may set; `None` if there is none.
fn raised(set: &Rlimit) -> Option<Rlimit> {
    let wanted = set.maximum.unwrap_or(MOST).min(MOST);
    let is_higher = set.current.is_some_and(|current| current < wanted);
    is_higher.then_some(Rlimit { current: Some(wanted), maximum: set.maximum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_to_what_is_permitted_and_never_lowered() {
        let raised =
            |current, maximum| raised(&Rlimit { current, maximum }).map(|limit| (limit.current, limit.maximum));
        assert_eq!(raised(Some(1_024), Some(524_288)), Some((Some(524_288), Some(524_288))));
        assert_eq!(raised(Some(1_024), None), Some((Some(MOST), None)));
        assert_eq!(raised(Some(1_024), Some(1 << 30)), Some((Some(MOST), Some(1 << 30))));
        assert_eq!(raised(Some(1_024), Some(1_024)), None);
        assert_eq!(raised(Some(2 * MOST), Some(4 * MOST)), None);
        assert_eq!(raised(None, None), None);
    }
}

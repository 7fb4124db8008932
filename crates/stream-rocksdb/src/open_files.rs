//! How many files databases keep open, by the limit of the process.

use rustix::process::{Resource, getrlimit};

/// Files of one of the stores of a stage: tables of its families, a write-ahead log, a manifest. The stores of the detector
/// had 19 each after 16,000 pages on 64 partitions, which is most.
const OF_A_STORE: u64 = 20;
/// A database with so many files keeps all of its tables open.
const PLENTY: u64 = 2_048;
/// For RocksDB: keep all tables open.
const ALL: i32 = -1;

/// The most open files of this process; `None` without a limit.
pub(crate) fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// `max_open_files` of each of so many databases. Half of the limit is theirs; connections and programs have the rest. A
/// database that has more tables than that closes one to read another.
pub(crate) fn per_database(limit: Option<u64>, databases: u64) -> i32 {
    let Some(limit) = limit else { return ALL };
    let share = limit / 2 / databases.max(1);
    // RocksDB itself takes no number below 20.
    if share >= PLENTY { ALL } else { i32::try_from(share).unwrap_or(ALL) }
}

/// A warning for the operator if so many stores may not fit into the limit.
pub(crate) fn warning(limit: Option<u64>, stores: u64) -> Option<String> {
    let (limit, wanted) = (limit?, stores * OF_A_STORE);
    (limit / 2 < wanted).then(|| {
        format!(
            "the state of {stores} partitions has about {wanted} open files, and this process may open {limit}, half of which \
             are for connections; {}",
            remedy(limit)
        )
    })
}

/// The next step if a limit does not suffice.
pub fn remedy(limit: u64) -> String {
    format!(
        "raise the hard limit of open files, which is {limit} (`ulimit -Hn`, LimitNOFILE= of a systemd unit, the container \
         runtime's), or run more processes of the stage"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_share_half_of_the_limit() {
        assert_eq!(per_database(None, 64), ALL);
        assert_eq!(per_database(Some(524_288), 64), ALL);
        assert_eq!(per_database(Some(65_536), 64), 512);
        assert_eq!(per_database(Some(1_024), 16), 32);
        assert_eq!(per_database(Some(1_024), 1), 512);
        assert_eq!(per_database(Some(1_024), 0), 512);
    }

    #[test]
    fn stores_that_do_not_fit_are_named_with_the_limit() {
        assert_eq!(warning(None, 64), None);
        assert_eq!(warning(Some(524_288), 64), None);
        assert_eq!(warning(Some(1_024), 16), None);
        let said = warning(Some(1_024), 64).unwrap();
        assert!(said.contains("64 partitions has about 1280 open files"), "{said}");
        assert!(said.contains("may open 1024") && said.contains("LimitNOFILE="), "{said}");
    }
}

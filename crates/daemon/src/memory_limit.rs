//! How much memory the process may use, by the limit of its container or unit.

use std::path::Path;
use stream_rocksdb::StoreMemory;

/// The least and the most that state stores take by themselves.
const STORES: [u64; 2] = [64 << 20, 1 << 30];

/// Version 1 of cgroups writes a number near 2⁶³ where there is no limit.
const NO_LIMIT: u64 = 1 << 60;

/// The memory for the state stores of this process: a tenth of what it may use.
pub fn of_state_stores() -> StoreMemory {
    of_this_process().map_or_else(StoreMemory::default, for_stores)
}

/// The memory limit of this process in bytes, if it has one.
fn of_this_process() -> Option<u64> {
    of_groups(Path::new("/sys/fs/cgroup"), &std::fs::read_to_string("/proc/self/cgroup").ok()?)
}

/// The lowest limit of the groups that a process is in, by its `/proc/self/cgroup`.
fn of_groups(mount: &Path, groups: &str) -> Option<u64> {
    let limit = |line: &str| {
        let (_, line) = line.split_once(':')?;
        let (controllers, group) = line.split_once(':')?;
        if controllers.is_empty() {
            return of_group(mount, group, "memory.max");
        }
        let has_memory = controllers.split(',').any(|controller| controller == "memory");
        has_memory.then(|| of_group(&mount.join("memory"), group, "memory.limit_in_bytes")).flatten()
    };
    groups.lines().filter_map(limit).min()
}

/// The lowest limit of a group and those above it. In a container, its own is the root.
fn of_group(root: &Path, group: &str, file: &str) -> Option<u64> {
    let group = root.join(group.trim_start_matches('/'));
    let above = group.ancestors().take_while(|directory| directory.starts_with(root));
    // Version 2 writes "max" where there is no limit.
    let limits = above.filter_map(|directory| std::fs::read_to_string(directory.join(file)).ok()?.trim().parse().ok());
    limits.filter(|limit| *limit < NO_LIMIT).min()
}

fn for_stores(limit: u64) -> StoreMemory {
    let [least, most] = STORES;
    StoreMemory::of((limit / 10).clamp(least, most).try_into().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_on_the_way_to_the_root_counts() {
        let root = tempfile::tempdir().unwrap();
        let (above, own) = (root.path().join("crawl.slice"), root.path().join("crawl.slice/fetcher.service"));
        std::fs::create_dir_all(&own).unwrap();
        let limit = || of_groups(root.path(), "0::/crawl.slice/fetcher.service\n");
        assert_eq!(limit(), None);
        std::fs::write(own.join("memory.max"), "max\n").unwrap();
        std::fs::write(above.join("memory.max"), "1073741824\n").unwrap();
        assert_eq!(limit(), Some(1 << 30));
        std::fs::write(own.join("memory.max"), "536870912\n").unwrap();
        assert_eq!(limit(), Some(512 << 20));
        assert_eq!(of_groups(root.path(), "0::/\n"), None);
    }

    #[test]
    fn the_memory_controller_of_version_1_counts_and_the_others_do_not() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("memory/pods/fetcher");
        std::fs::create_dir_all(&own).unwrap();
        let groups = "9:name=systemd:/\n5:cpu,cpuacct:/pods/fetcher\n4:memory:/pods/fetcher\n0::/\n";
        std::fs::write(root.path().join("memory/memory.limit_in_bytes"), "9223372036854771712\n").unwrap();
        assert_eq!(of_groups(root.path(), groups), None);
        std::fs::write(own.join("memory.limit_in_bytes"), "536870912\n").unwrap();
        assert_eq!(of_groups(root.path(), groups), Some(512 << 20));
    }

    #[test]
    fn stores_take_a_tenth_within_bounds() {
        let total = |limit| {
            let memory = for_stores(limit);
            (memory.block_cache_bytes + memory.write_buffer_bytes) as u64
        };
        assert_eq!(total(2 << 30), (2 << 30) / 10);
        assert_eq!(total(256 << 20), 64 << 20);
        assert_eq!(total(64 << 30), 1 << 30);
    }
}

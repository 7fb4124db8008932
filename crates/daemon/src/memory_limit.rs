//! How much memory the process may use, by the limit of its container or unit.

use std::path::Path;
use stream_rocksdb::StoreMemory;

/// The least and the most that state stores take by themselves.
const STORES: [u64; 2] = [64 << 20, 1 << 30];

/// The memory limit of this process in bytes, if it has one.
pub(crate) fn of_this_process() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    of_group(Path::new("/sys/fs/cgroup"), groups.lines().find_map(|line| line.strip_prefix("0::"))?)
}

/// The lowest limit of a cgroup (version 2) and those above it. In a container, its own is the root.
fn of_group(root: &Path, group: &str) -> Option<u64> {
    let group = root.join(group.trim_start_matches('/'));
    let above = group.ancestors().take_while(|directory| directory.starts_with(root));
    // "max" stands for none.
    above.filter_map(|directory| std::fs::read_to_string(directory.join("memory.max")).ok()?.trim().parse().ok()).min()
}

/// The share of state stores: a tenth.
pub(crate) fn for_stores(limit: u64) -> StoreMemory {
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
        assert_eq!(of_group(root.path(), "/crawl.slice/fetcher.service"), None);
        std::fs::write(own.join("memory.max"), "max\n").unwrap();
        std::fs::write(above.join("memory.max"), "1073741824\n").unwrap();
        assert_eq!(of_group(root.path(), "/crawl.slice/fetcher.service"), Some(1 << 30));
        std::fs::write(own.join("memory.max"), "536870912\n").unwrap();
        assert_eq!(of_group(root.path(), "/crawl.slice/fetcher.service"), Some(512 << 20));
        assert_eq!(of_group(root.path(), "/"), None);
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

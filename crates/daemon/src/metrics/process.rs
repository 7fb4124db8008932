//! Figures of the process as a whole, under the names that all Prometheus clients use.

use super::Samples;
use metrics::process::{
    BUILD_INFO, CPU_SECONDS, MAX_FDS, OPEN_FDS, RESIDENT_MEMORY_BYTES, START_TIME_SECONDS, VIRTUAL_MEMORY_BYTES,
};

/// Version and, on Linux, the use of the machine. Figures that the system does not give are left out.
pub(super) fn collect(samples: &mut Samples, shows_version: bool) {
    samples.add(BUILD_INFO, &[if shows_version { env!("CARGO_PKG_VERSION") } else { "" }], 1.0);
    #[cfg(target_os = "linux")]
    linux(samples);
}

#[cfg(target_os = "linux")]
fn linux(samples: &mut Samples) {
    use procfs::process::{LimitValue, Process};
    let Ok(process) = Process::myself() else { return };
    let ticks_per_second = procfs::ticks_per_second().max(1) as f64;
    if let Ok(stat) = process.stat() {
        samples.add(CPU_SECONDS, &[], (stat.utime + stat.stime) as f64 / ticks_per_second);
        samples.add(RESIDENT_MEMORY_BYTES, &[], (stat.rss * procfs::page_size()) as f64);
        samples.add(VIRTUAL_MEMORY_BYTES, &[], stat.vsize as f64);
        if let Ok(booted_s) = procfs::boot_time_secs() {
            let started_s = booted_s as f64 + stat.starttime as f64 / ticks_per_second;
            samples.add(START_TIME_SECONDS, &[], started_s);
        }
    }
    if let Ok(open) = process.fd_count() {
        samples.add(OPEN_FDS, &[], open as f64);
    }
    if let Ok(limits) = process.limits()
        && let LimitValue::Value(most) = limits.max_open_files.soft_limit
    {
        samples.add(MAX_FDS, &[], most as f64);
    }
}

//! CPU time of this process and of others, and what several rounds of it say.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often the threads of a measured process are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Longest time a measured process may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// One figure of every round.
#[derive(Clone, Debug)]
pub(crate) struct Rounds(Vec<f64>);

impl Rounds {
    /// # Panics
    /// When there was no round.
    pub(crate) fn new(figures: Vec<f64>) -> Self {
        assert!(!figures.is_empty(), "a measurement has at least one round");
        Self(figures)
    }

    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// Round by round, so that what slowed a round down slows both sides.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours / theirs).collect())
    }

    /// Round by round.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, two)| one + two).collect())
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "median": self.median(), "rounds": self.0 })
    }
}

/// Median and extremes in three digits.
impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        write!(f, "{} ({}–{})", digits(self.median()), digits(least), digits(most))
    }
}

/// A number in three significant digits, all of those before the point.
pub(crate) fn digits(value: f64) -> String {
    let before_point = if value == 0.0 { 1 } else { value.abs().log10().floor() as i32 + 1 };
    format!("{value:.*}", (3 - before_point).clamp(0, 9) as usize)
}

/// The machine's load averages.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// CPU time of this process so far, user and system, all threads.
pub(crate) fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours, which the call fills.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0, "the clock of the process can always be read");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Puts a command on one core, so that contestants and servers stay out of each other's way where there are two.
pub(crate) fn on_core(command: Command, core: usize) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 2 || !Path::new("/usr/bin/taskset").exists() {
        return command;
    }
    let mut pinned = Command::new("/usr/bin/taskset");
    pinned.arg("-c").arg((core % cores).to_string()).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => pinned.env(name, value),
            None => pinned.env_remove(name),
        };
    }
    pinned
}

/// A process that is measured. Dropping it kills it.
pub(crate) struct Measured {
    id: libc::pid_t,
    stdout: PathBuf,
    stderr: PathBuf,
    /// Name and CPU time of every thread, as last seen.
    threads: BTreeMap<String, (String, Duration)>,
    ended: bool,
}

/// The output of a measured process that has ended, and its use of CPU time and memory.
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// User and system, all threads, from start to end.
    pub(crate) cpu: Duration,
    pub(crate) peak_memory_bytes: u64,
    /// CPU time by name of thread, up to the last look.
    pub(crate) threads: BTreeMap<String, Duration>,
}

impl Measured {
    /// Starts a command whose output goes to files in `directory`.
    #[expect(clippy::zombie_processes, reason = "wait4 waits for it, which also tells what it has used")]
    pub(crate) fn start(mut command: Command, directory: &Path) -> Self {
        let file = |suffix: &str| {
            let file = tempfile::Builder::new().prefix("bench-").suffix(suffix).tempfile_in(directory);
            file.and_then(|file| Ok(file.keep()?.1)).expect("a benchmark's directory takes files")
        };
        let (stdout, stderr) = (file(".stdout"), file(".stderr"));
        let open = |path: &Path| File::create(path).expect("the file was just made");
        let child = command.stdin(Stdio::null()).stdout(open(&stdout)).stderr(open(&stderr)).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        let id = libc::pid_t::try_from(child.id()).expect("process ids fit");
        Self { id, stdout, stderr, threads: BTreeMap::new(), ended: false }
    }

    /// Its standard output so far.
    pub(crate) fn stdout(&self) -> String {
        std::fs::read_to_string(&self.stdout).expect("stdout goes to a file")
    }

    /// Notes the CPU time of its threads. Those of threads that have ended stay as last seen.
    pub(crate) fn look(&mut self) {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.id)) else { return };
        for thread in threads.flatten() {
            let read = |name: &str| std::fs::read_to_string(thread.path().join(name)).ok();
            let (Some(name), Some(times)) = (read("comm"), read("schedstat")) else { continue };
            if let Some(on_cpu) = times.split(' ').next().and_then(|field| field.parse().ok()) {
                let id = thread.file_name().to_string_lossy().into_owned();
                self.threads.insert(id, (name.trim().to_owned(), Duration::from_nanos(on_cpu)));
            }
        }
    }

    /// The same by name of thread: [`Measured::look`], and what that has noted.
    pub(crate) fn cpu_by_thread(&mut self) -> BTreeMap<String, Duration> {
        self.look();
        let mut threads: BTreeMap<String, Duration> = BTreeMap::new();
        for (name, on_cpu) in self.threads.values() {
            *threads.entry(name.clone()).or_default() += *on_cpu;
        }
        threads
    }

    /// Memory of its own that it holds now: what it has read from files is not in it.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id)).unwrap_or_default();
        let kib =
            status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?.parse().ok());
        1_024 * kib.unwrap_or(0u64)
    }

    /// CPU time used so far, user and system, all threads, to the hundredth of a second.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id)).unwrap_or_default();
        // After the name in brackets, which may contain spaces: state, ten more fields, then user and system time.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        // SAFETY: sysconf(3) touches no memory of ours.
        let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        Duration::from_secs_f64(ticks as f64 / per_second.max(1) as f64)
    }

    /// Bytes that it has handed to the kernel so far to be written to files. What goes over sockets by sendmsg(2), as to
    /// Kafka, is not in it.
    pub(crate) fn written_bytes(&self) -> u64 {
        let counts = std::fs::read_to_string(format!("/proc/{}/io", self.id)).unwrap_or_default();
        let written = counts.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok());
        written.expect("the kernel counts what a process of ours writes")
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        // SAFETY: kill(2) touches no memory of ours; the child is not yet waited for, so its id is still its own.
        let sent = unsafe { libc::kill(self.id, libc::SIGTERM) };
        assert_eq!(sent, 0, "{}", std::io::Error::last_os_error());
    }

    /// Waits for its end, which must be a good one.
    pub(crate) fn finish(mut self) -> Finished {
        let begun = Instant::now();
        loop {
            self.look();
            if let Some((status, usage)) = self.try_wait() {
                let read = |path: &Path| {
                    let mut bytes = Vec::new();
                    let read = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
                    read.expect("output goes to a file");
                    String::from_utf8_lossy(&bytes).into_owned()
                };
                let (stdout, stderr) = (read(&self.stdout), read(&self.stderr));
                let good = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
                assert!(good, "a measured process failed ({status:#x}); it said:\n{stdout}\n{stderr}");
                let threads = self.cpu_by_thread();
                let seconds = |time: libc::timeval| {
                    Duration::new(time.tv_sec as u64, 1_000 * u32::try_from(time.tv_usec).unwrap_or(0))
                };
                return Finished {
                    stdout,
                    stderr,
                    cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
                    peak_memory_bytes: 1_024 * usage.ru_maxrss as u64,
                    threads,
                };
            }
            assert!(begun.elapsed() < PATIENCE, "a measured process still runs after {PATIENCE:?}");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn try_wait(&mut self) -> Option<(libc::c_int, libc::rusage)> {
        let mut status = 0;
        // SAFETY: rusage is plain numbers, for which zeros are valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to values of ours, which the call fills; no other code waits for this child.
        let waited = unsafe { libc::wait4(self.id, &mut status, libc::WNOHANG, &mut usage) };
        assert!(waited >= 0, "{}", std::io::Error::last_os_error());
        self.ended = waited == self.id;
        self.ended.then_some((status, usage))
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        if !self.ended {
            // SAFETY: neither call touches memory of ours beyond the null pointer it may; the child is not yet waited for.
            unsafe {
                libc::kill(self.id, libc::SIGKILL);
                libc::waitpid(self.id, std::ptr::null_mut(), 0);
            }
        }
    }
}

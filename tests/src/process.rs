//! The programs of the workspace, and processes that end with their test.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How often a condition is looked at.
const POLL: Duration = Duration::from_millis(10);
/// Longest wait for what comes soon. It measures nothing: a test waits for a condition, and a machine with other work takes
/// its time.
pub const SOON: Duration = Duration::from_secs(1_800);

/// The programs of the workspace.
pub struct Programs {
    /// `<target>/<profile>`.
    directory: PathBuf,
}

/// The programs that cargo has built beside this one: those of the package whose test this is.
pub fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        // A test lies in <target>/<profile>/deps, an example in examples beside it, the programs (the benchmark is one) above.
        let program = std::env::current_exe().expect("a running program has a path");
        let directory = program.parent().expect("a program lies in a directory");
        let directory = match directory.file_name().and_then(OsStr::to_str) {
            Some("deps" | "examples") => directory.parent().expect("both lie in <target>/<profile>"),
            _ => directory,
        };
        Programs { directory: directory.to_owned() }
    })
}

impl Programs {
    /// Cargo's target directory.
    pub fn target(&self) -> &Path {
        self.directory.parent().expect("a profile's directory lies in the target directory")
    }

    /// Cargo's profile, by its name.
    pub fn profile(&self) -> &str {
        match self.directory.file_name().and_then(OsStr::to_str) {
            Some("debug") | None => "dev",
            Some(other) => other,
        }
    }

    /// A command that runs one of the programs, with nothing of the caller's recrawl settings.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.directory.join(name));
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("RECRAWL_") {
                command.env_remove(variable);
            }
        }
        command
    }
}

/// A running program. Dropping it kills it.
pub struct Process {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// The exit status and output of a program that has ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Process {
    /// Starts a command whose output goes to new files in `directory`.
    pub fn start(mut command: Command, directory: &Path) -> Self {
        let file = |suffix: &str| {
            let name = tempfile::Builder::new().prefix("process-").suffix(suffix).tempfile_in(directory);
            name.and_then(|file| Ok(file.keep()?.1)).expect("the test's directory takes files")
        };
        let (stdout, stderr) = (file(".stdout"), file(".stderr"));
        let open = |path: &Path| File::create(path).expect("the file was just made");
        let child = command.stdin(Stdio::null()).stdout(open(&stdout)).stderr(open(&stderr)).spawn();
        Self { child: child.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}")), stdout, stderr }
    }

    /// Kills it as a power cut would (SIGKILL).
    pub fn kill(mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop: `libc::SIGINT` as Ctrl-C does, `libc::SIGTERM` as an init system does.
    pub fn signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id()).expect("process ids fit");
        // SAFETY: kill(2) touches no memory of ours; the child is not yet waited for, so its id is still its own.
        let sent = unsafe { libc::kill(pid, signal) };
        assert_eq!(sent, 0, "{}", std::io::Error::last_os_error());
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    /// Its standard error so far.
    pub fn stderr(&self) -> String {
        std::fs::read_to_string(&self.stderr).expect("stderr goes to a file")
    }

    /// Processor time it has used so far, user and system; `None` where the system does not say.
    pub fn cpu_time(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name, in parentheses, may hold anything; utime and stime are the 12th and 13th field behind it.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
        let ticks: u32 = fields.next()?.parse::<u32>().ok()? + fields.next()?.parse::<u32>().ok()?;
        // Linux counts in hundredths of a second on every platform it shows to programs.
        Some(Duration::from_millis(10) * ticks)
    }

    /// The most memory that it has had in RAM so far, in bytes; `None` once it has ended.
    pub fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        peak.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
    }

    /// Waits until it has ended by itself.
    pub fn finish(self) -> Output {
        self.finish_within(SOON)
    }

    /// The same for a program that may take longer than others.
    pub fn finish_within(mut self, patience: Duration) -> Output {
        let deadline = Instant::now() + patience;
        while self.is_running() {
            assert!(Instant::now() < deadline, "still running after {patience:?}; it said:\n{}", self.stderr());
            std::thread::sleep(POLL);
        }
        let status = self.child.wait().expect("it has ended");
        let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).expect("it goes to a file")).into_owned();
        Output { status, stdout: read(&self.stdout), stderr: read(&self.stderr) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Output {
    /// Checks the exit status, showing what was said when it is another.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Checks that stderr has all of these.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "nothing of {part:?} in\n{}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// The answer as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in stdout:\n{}", self.stdout))
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// When it does not within the deadline.
#[track_caller]
pub fn wait_for(what: &str, deadline: Duration, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + deadline;
    while !condition() {
        assert!(Instant::now() < end, "waited {deadline:?} in vain: {what}");
        std::thread::sleep(POLL);
    }
}

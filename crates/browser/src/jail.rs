//! Starts a browser where it can reach nothing: no network, no other process, none of our environment.

use crate::BrowserError;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Programs that are tried in this order. The first has no screen to begin with, and takes half as long to start.
const NAMES: [&str; 5] = ["chromium-headless-shell", "headless_shell", "chromium", "chromium-browser", "google-chrome"];

/// The user that a browser runs as if we are root. Debian assigns none between 65000 and 65533.
const JAILED_USER: u32 = 65_533;

/// Most processes and threads of the jailed user. A browser has some hundred.
const MAX_THREADS: &str = "--nproc=1500";
/// Most memory that each process of the browser may write to, shared memory left out. V8's limit, which is lower, knows
/// nothing of buffers and of elements.
const MAX_DATA: &str = "--data=1073741824";
/// Longest file that a browser may write.
const MAX_FILE: &str = "--fsize=67108864";

/// The browser has a directory for temporary files of its own, in memory. It goes with the browser, however that ends. Where
/// people and services keep their files, it sees none, and nothing else can be written.
const OWN_FILES: &str = r#"
for directory in /home /root /run /srv /mnt /media /var/lib /var/tmp /dev/shm; do
    if [ -d $directory ]; then mount -t tmpfs -o size=1m,mode=755 recrawl-browser $directory 2>/dev/null || :; fi
done
mount -o remount,bind,ro / 2>/dev/null || :
mount -t tmpfs -o size=512m,mode=1777 recrawl-browser /tmp && exec "$@""#;
const PROFILE: &str = "/tmp/profile";

/// The shell connects the pipes of the debugging protocol, which are descriptors 3 and 4, and makes way for the rest.
const CONNECT_PIPES: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

const FLAGS: [&str; 25] = [
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-domain-reliability",
    "--disable-default-apps",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--no-first-run",
    "--no-default-browser-check",
    "--mute-audio",
    "--hide-scrollbars",
    "--lang=en-US",
    "--force-prefers-reduced-motion",
    "--window-size=1280,2000",
    // A page that allocates for ever ends its own renderer.
    "--js-flags=--max-old-space-size=192",
    // Beside the namespace: a browser that has a network after all asks it for nothing.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "about:blank",
];

/// How a browser is started.
#[derive(Clone, Debug)]
pub struct BrowserRules {
    /// The program.
    pub program: PathBuf,
}

/// Finds a browser on a search path such as the variable `PATH`.
///
/// # Errors
/// Returns [`BrowserError::NotFound`] if there is none.
pub fn find_browser(path: &OsStr) -> Result<PathBuf, BrowserError> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let found = NAMES.iter().find_map(|name| std::env::split_paths(path).map(|dir| dir.join(name)).find(is_program));
    found.ok_or_else(|| BrowserError::NotFound { tried: NAMES.join(", ") })
}

/// A browser that runs. Dropping it ends all of its processes.
pub(crate) struct Jailed {
    pub(crate) child: Child,
}

impl Jailed {
    /// Starts a browser. Its standard input and output are the pipes of the debugging protocol.
    pub(crate) fn start(rules: &BrowserRules) -> io::Result<Self> {
        Ok(Self { child: command(rules, rustix::process::geteuid().is_root()).spawn()? })
    }
}

impl Drop for Jailed {
    fn drop(&mut self) {
        // The browser is the first process of its namespace: all others end with it. Whoever started it reaps it. If that
        // was killed instead, the dead browser would be left to the first process of the machine or the container.
        let first = first_child(self.child.id());
        if first.is_none_or(|first| kill_process(first, Signal::KILL).is_err()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The first child of a process.
fn first_child(process: u32) -> Option<Pid> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

fn command(rules: &BrowserRules, is_root: bool) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", CONNECT_PIPES, "sh", "unshare"]);
    if !is_root {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    command.args(["--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]);
    command.args(["sh", "-c", OWN_FILES, "sh", "setpriv"]);
    if is_root {
        let (user, group) = (format!("--reuid={JAILED_USER}"), format!("--regid={JAILED_USER}"));
        command.args([user.as_str(), group.as_str(), "--clear-groups", "--bounding-set=-all"]);
    }
    command.args([
        "--no-new-privs",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--",
        "prlimit",
        "--core=0",
        MAX_FILE,
        MAX_DATA,
    ]);
    if is_root {
        // Without a user of its own it would count our processes, too.
        command.arg(MAX_THREADS);
    }
    command.arg("--").arg(&rules.program).arg(format!("--user-data-dir={PROFILE}")).args(FLAGS);
    command.env_clear();
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/sbin:/usr/bin:/sbin:/bin".into());
    command.env("PATH", path).env("HOME", PROFILE).env("TMPDIR", "/tmp").env("LANG", "C.UTF-8").env("TZ", "UTC");
    command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

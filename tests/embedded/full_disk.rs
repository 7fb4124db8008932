//! A crawl whose disk fills up: on a file system of its own, of which a test can take as much as it likes.

use simweb::SeededConfig;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::{Crawl, HttpAnswer, Output, Process, SOON, SimulatedWeb, programs, wait_for};

/// A crawl in a mount namespace where its data directory is a file system in memory.
struct SmallDisk {
    crawl: Crawl,
    running: Process,
    /// The data directory, seen from outside of the namespace.
    data: PathBuf,
}

impl SmallDisk {
    /// `None`, with a line that says so, where this user may make no namespaces.
    fn start(crawl: Crawl) -> Option<Self> {
        let unshared = ["--map-root-user", "--mount", "--"];
        let allowed = Command::new("unshare").args(unshared).args(["mount", "-t", "tmpfs", "none", "/mnt"]).output();
        if !allowed.is_ok_and(|output| output.status.success()) {
            eprintln!("LEFT OUT: a full disk: this user may not mount a file system in a namespace (unshare --mount)");
            return None;
        }
        let inner = crawl.data();
        std::fs::create_dir(&inner).unwrap();
        let mut run = programs().command("recrawl");
        run.args(["run", "--data"]).arg(&inner).arg("--seeds").arg(crawl.seeds_file()).args(crawl.flags());
        let mut command = Command::new("unshare");
        for (variable, _) in run.get_envs().filter(|(_, value)| value.is_none()) {
            command.env_remove(variable);
        }
        let script = r#"mount -t tmpfs -o size=256m,nr_inodes=20000,mode=0700 none "$1" && shift && exec "$@""#;
        command.args(unshared).args(["sh", "-c", script, "sh"]).arg(&inner).arg(run.get_program()).args(run.get_args());
        let running = Process::start(command, crawl.directory.path());
        let data = Path::new(&format!("/proc/{}/root", running.id())).join(inner.strip_prefix("/").unwrap());
        wait_for("the crawl", SOON, || data.join("http-address").exists());
        Some(Self { crawl, running, data })
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        let mut command = programs().command("recrawl");
        command.args(["--format", "json"]).args(arguments).arg("--data").arg(&self.data).args(self.crawl.flags());
        Process::start(command, self.crawl.directory.path()).finish()
    }

    fn status(&self) -> serde_json::Value {
        self.ask(&["status"]).exits_with(0).json()["disk"].clone()
    }

    fn await_short(&self, is_short: bool) {
        wait_for(&format!("a disk that is short: {is_short}"), SOON, || self.status()["is_short"] == is_short);
    }

    fn port(&self) -> String {
        std::fs::read_to_string(self.data.join("http-address")).unwrap().lines().next().unwrap().to_owned()
    }

    /// Fills the disk until at most `left` bytes are free.
    fn fill(&self, left: usize) {
        let mut filler = File::options().append(true).create(true).open(self.data.join("filler")).unwrap();
        while self.free_bytes() > left {
            match filler.write_all(&vec![1; (self.free_bytes() - left).min(1 << 20)]) {
                Err(error) if error.kind() == ErrorKind::StorageFull => return,
                written => written.unwrap(),
            }
        }
    }

    /// Free bytes, as the file system says.
    fn free_bytes(&self) -> usize {
        daemon::DiskSpace::of(&self.data, None).unwrap().free_bytes as usize
    }

    fn empty(&self) {
        std::fs::remove_file(self.data.join("filler")).unwrap();
    }
}

#[test]
fn a_crawl_stops_fetching_before_its_disk_is_full_takes_other_commands_and_goes_on_by_itself() {
    let web = SimulatedWeb::start(SeededConfig { hosts: 2, pages_per_host: 5, ..SeededConfig::default() }, 1.0, |_| {});
    let urls = web.urls();
    let Some(disk) = SmallDisk::start(Crawl::of(&web).with("policy.min_interval", "1h")) else { return };
    wait_for("a look at every page", SOON, || web.page_requests() >= urls.len());
    assert_eq!(disk.status()["is_short"], false);

    disk.fill(4_000_000);
    disk.await_short(true);
    let requested = web.page_requests();
    disk.ask(&["refetch", &urls[0]]).exits_with(0);
    disk.ask(&["seed", "http://host-0000.test/new"])
        .exits_with(3)
        .says(&["the disk is nearly full", "send them again"]);
    disk.ask(&["forget", "--wait", &urls[1]]).exits_with(0);
    assert_eq!(web.page_requests(), requested, "something was fetched");
    let port = disk.port();
    let metrics = HttpAnswer::to(port.as_str(), "/metrics").unwrap().body;
    assert!(metrics.contains("\nrecrawl_disk_short 1.0\n"), "{metrics}");

    disk.empty();
    wait_for("the page that was asked for again", SOON, || web.page_requests() > requested);
    disk.await_short(false);
    disk.ask(&["seed", "http://host-0000.test/new"]).exits_with(0);
}

#[test]
fn a_crawl_whose_disk_is_full_to_the_last_byte_loses_nothing_and_goes_on_by_itself() {
    let web = SimulatedWeb::start(SeededConfig { hosts: 2, pages_per_host: 5, ..SeededConfig::default() }, 1.0, |_| {});
    let urls = web.urls();
    let crawl = Crawl::of(&web).with("policy.min_interval", "1h").with("log.min_free_disk", "0B");
    let Some(mut disk) = SmallDisk::start(crawl) else { return };
    wait_for("a look at every page", SOON, || web.page_requests() >= urls.len());
    let mut acknowledged = Vec::new();
    wait_for("a seed that finds no room", SOON, || {
        disk.fill(0);
        let page = format!("http://host-0000.test/new-{}", acknowledged.len());
        let sent = disk.ask(&["seed", &page]);
        let is_taken = sent.status.code() == Some(0);
        if is_taken {
            acknowledged.push(page);
        } else {
            sent.exits_with(3).says(&["No space left on device"]);
        }
        !is_taken
    });
    assert!(disk.running.is_running(), "{}", disk.running.stderr());

    disk.empty();
    let last = "http://host-0000.test/last";
    wait_for("room", SOON, || disk.ask(&["seed", last]).status.code() == Some(0));
    acknowledged.push(last.to_owned());
    for page in &acknowledged {
        wait_for(page, SOON, || disk.ask(&["page", page]).status.code() == Some(0));
    }
    disk.ask(&["forget", "--wait", &urls[1]]).exits_with(0);
    disk.running.signal(libc::SIGINT);
    let output = disk.running.finish().exits_with(0);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
}

//! A crawl in a directory of its own, over the real programs.

use crate::process::{Output, Process, SOON, programs, wait_for};
use crate::web::SimulatedWeb;
use std::path::PathBuf;
use tempfile::TempDir;

/// Settings and a data directory.
pub struct Crawl {
    /// Where everything of this crawl lies.
    pub directory: TempDir,
    sets: Vec<(String, String)>,
    variables: Vec<(&'static str, &'static str)>,
}

impl Default for Crawl {
    fn default() -> Self {
        let directory = tempfile::Builder::new().prefix("recrawl-test-").tempdir().expect("there is room for a test");
        let crawl = Self { directory, sets: Vec::new(), variables: Vec::new() };
        // Tests of real time do not wait hours until a look is worth it.
        crawl.with("http.bind", "127.0.0.1:0").with("policy.least_worth", "0s")
    }
}

impl Crawl {
    /// A fast crawl of a simulated web.
    pub fn of(web: &SimulatedWeb) -> Self {
        let crawl = Self::default()
            .with("fetch.resolve", &format!("*.test={}", web.address()))
            .with("budget.fetches_per_second", "2000")
            .with("politeness.crawl_delay", "0s")
            .with("policy.scan_interval", "20ms");
        let crawl = match web.authority() {
            Some(file) => crawl.with("fetch.extra_ca", &file.display().to_string()),
            None => crawl,
        };
        std::fs::write(crawl.seeds_file(), web.urls().join("\n")).expect("the test's directory takes files");
        crawl
    }

    /// The same with one setting more; later ones win.
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.sets.retain(|(known, _)| known != key);
        self.sets.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The same with an environment variable.
    pub fn with_variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// The state directory.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// The file of seeds.
    pub fn seeds_file(&self) -> PathBuf {
        self.directory.path().join("seeds.txt")
    }

    /// Settings as the programs see them.
    pub fn settings(&self) -> settings::Settings {
        recrawl::load::load(None, None, &self.sets).expect("a test's settings are valid")
    }

    /// Starts `recrawl run` on the seeds.
    pub fn run(&self, further: &[&str]) -> Process {
        let seeds = self.seeds_file().display().to_string();
        self.start("run", &[&["--seeds", &seeds], further].concat())
    }

    /// Runs it until the web has had this many requests for pages, and stops it.
    pub fn run_until_requested(&self, web: &SimulatedWeb, page_requests: usize) -> Output {
        let process = self.run(&[]);
        let what = format!("{page_requests} requests for pages");
        wait_for(&what, SOON, || web.page_requests() >= page_requests);
        process.signal(libc::SIGINT);
        process.finish().exits_with(0)
    }

    /// Starts a recrawl command on this crawl.
    pub fn start(&self, name: &str, further: &[&str]) -> Process {
        self.start_program("recrawl", name, further)
    }

    /// The same of a program that may be of another build.
    pub fn start_program(&self, program: &str, name: &str, further: &[&str]) -> Process {
        let mut command = programs().command(program);
        command.args(["--format", "json", name, "--data"]).arg(self.data());
        command.args(self.flags()).args(further).envs(self.variables.iter().copied());
        Process::start(command, self.directory.path())
    }

    /// The settings as a program takes them.
    pub fn flags(&self) -> Vec<String> {
        self.sets.iter().flat_map(|(key, value)| ["--set".to_owned(), format!("{key}={value}")]).collect()
    }

    /// Runs a recrawl command on this crawl to its end.
    pub fn ask(&self, name: &str, further: &[&str]) -> Output {
        self.start(name, further).finish()
    }
}

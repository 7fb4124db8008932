//! The commands of docs/run-over-kafka.md do what the document says, pasted as they are. Only the places of others on this machine
//! are changed: ports, and the names of topics and groups.

use crate::services::{SOON, kafka};
use simweb::SeededConfig;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use tests::{Process, SimulatedWeb, programs, wait_for};

/// Replaces the document's `make`: the programs are built, and Kafka runs at another address.
const MADE: &str = r#"
make() { if [ "$1" = -s ]; then echo "export CARGO_TARGET_DIR=$BUILT"; fi; }
recrawl() { RECRAWL_KAFKA_BROKERS=$BROKERS command recrawl "$@"; }
"#;

/// A shell into which a document is pasted. Dropping it ends all that it has started.
struct Shell {
    child: Child,
    directory: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Drop for Shell {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).expect("process ids fit");
        // SAFETY: kill(2) touches no memory of ours; the shell is waited for below, so its group is its own.
        unsafe { libc::kill(-group, libc::SIGKILL) };
        self.child.wait().expect("a killed child ends");
        if std::thread::panicking() {
            eprintln!("{}", self.said());
        }
    }
}

impl Shell {
    fn paste(text: &str, brokers: &str, variables: Vec<(&'static str, String)>) -> Self {
        let directory = TempDir::new().unwrap();
        let at = directory.path();
        let program = programs().command("recrawl").get_program().to_owned();
        let built = Path::new(&program).parent().expect("a program lies in a directory");
        std::fs::create_dir(at.join("built")).unwrap();
        std::os::unix::fs::symlink(built, at.join("built/debug")).unwrap();
        let output = || std::fs::File::options().create(true).append(true).open(at.join("said")).unwrap();
        let mut shell = with_variables(Command::new("bash"), &variables);
        shell.arg("-c").arg(format!("{MADE}{text}\nwait")).current_dir(at).process_group(0);
        shell.env("BUILT", at.join("built")).env("BROKERS", brokers);
        let path = std::env::var("PATH").unwrap();
        shell.env("PATH", format!("{}:{path}", built.display()));
        let child = shell.stdin(Stdio::null()).stdout(output()).stderr(output()).spawn().unwrap();
        Self { child, directory, variables }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("said")).unwrap_or_default()
    }

    /// The answer of `recrawl status` in this shell; null while it fails.
    fn status(&self, brokers: &str) -> serde_json::Value {
        let mut command = with_variables(programs().command("recrawl"), &self.variables);
        command.args(["--format", "json", "status"]).env("RECRAWL_KAFKA_BROKERS", brokers);
        let output = Process::start(command, self.directory.path()).finish();
        serde_json::from_str(&output.stdout).unwrap_or_default()
    }
}

fn with_variables(mut command: Command, variables: &[(&'static str, String)]) -> Command {
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

/// The blocks of commands of the section that tries it on one machine.
fn blocks() -> [String; 2] {
    let document = std::fs::read_to_string(tests::workspace().join("docs/run-over-kafka.md")).unwrap();
    let (_, section) = document.split_once("## Try it on one machine").expect("the document has this section");
    let mut blocks = section.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned());
    [blocks.next().unwrap(), blocks.next().unwrap()]
}

/// The first of ten free ports, below those that systems give out.
fn free_ports() -> u16 {
    let mut first = (0..900).map(|number| 20_000 + (std::process::id() as u16 % 900 + number) % 900 * 10);
    let is_free = |port: &u16| (*port..*port + 10).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
    first.find(is_free).expect("some ports are free")
}

fn unique_names() -> Vec<(&'static str, String)> {
    let unique = format!("documented-{}-{:?}", std::process::id(), std::thread::current().id());
    let unique = unique.replace(['(', ')'], "");
    vec![
        ("RECRAWL_KAFKA_TOPIC_PREFIX", format!("{unique}.")),
        ("RECRAWL_KAFKA_GROUP_PREFIX", format!("{unique}-")),
        ("RECRAWL_KAFKA_PARTITIONS", "4".to_owned()),
    ]
}

#[test]
fn a_crawl_over_kafka_is_tried_as_the_document_says() {
    let Some(brokers) = kafka() else { return };
    let web = SimulatedWeb::start(SeededConfig { hosts: 1, pages_per_host: 1, ..SeededConfig::default() }, 1.0, |_| {});
    let mut variables = unique_names();
    variables.push(("RECRAWL_FETCH_RESOLVE", format!("example.org={}", web.address())));
    variables.push(("RECRAWL_FETCH_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8".to_owned()));
    let [text, _] = blocks();
    let shell = Shell::paste(&text.replace("9471", &free_ports().to_string()), &brokers, variables);
    wait_for("the page is known and was asked for", SOON, || {
        let status = shell.status(&brokers);
        status["pages"] == 1 && status["fetches_total"].as_u64() > Some(0)
    });
    let refused = ["crawl.contact", "error:", "command not found"];
    assert!(!refused.iter().any(|refusal| shell.said().contains(refusal)), "{}", shell.said());
}

#[test]
fn simweb_is_crawled_over_kafka_as_the_document_says() {
    let Some(brokers) = kafka() else { return };
    let (ports, variables) = (free_ports(), unique_names());
    let [_, text] = blocks();
    let mut text = text.replace("9481", &ports.to_string()).replace("8080", &(ports + 9).to_string());
    text = text.replace("RECRAWL_KAFKA_TOPIC_PREFIX=tour.", &format!("RECRAWL_KAFKA_TOPIC_PREFIX={}", variables[0].1));
    text = text.replace("RECRAWL_KAFKA_GROUP_PREFIX=tour-", &format!("RECRAWL_KAFKA_GROUP_PREFIX={}", variables[1].1));
    let tour = std::fs::read_to_string(tests::workspace().join("docs/tour.toml")).unwrap();
    let tour_file = TempDir::new().unwrap();
    let place = tour_file.path().join("tour.toml");
    std::fs::write(&place, tour.replace("8080", &(ports + 9).to_string())).unwrap();
    let text = text.replace("docs/tour.toml", &place.display().to_string());
    // The shell that asks knows nothing of the fast clock, and is answered.
    let shell = Shell::paste(&text, &brokers, variables);
    wait_for("its pages are known and were asked for", SOON, || {
        let status = shell.status(&brokers);
        status["pages"] == 200 && status["fetches_total"].as_u64() > Some(0)
    });
}

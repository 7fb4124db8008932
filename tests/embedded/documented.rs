//! The commands of docs/tour.md and docs/operate-embedded.md do what the documents say, pasted as they are. Users, systemd,
//! its journal, `make` and `cargo` are functions of the shell, and the directories of the system lie in that of the test.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use tests::{Output, Process, programs};

/// Stops at the first command that fails, and names it. Whatever was started ends with the shell.
const SHELL: &str = r#"
set -emE
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
trap 'for job in $(jobs -p); do builtin kill -9 -- "-$job" 2>/dev/null || true; done' EXIT
make() { :; }
cargo() { :; }
"#;

/// What a person waits for at the tour: the seeds, the first fetch of each page, and the end of the crawl.
const PATIENCE: &str = r#"
sleep() { until [ -f seeds.txt ]; do command sleep .05; done; }
fetched() { command recrawl status 2>/dev/null | grep -q "200 of 200 pages"; }
recrawl() { if [ "$1" = status ]; then until fetched; do command sleep .05; done; fi; command recrawl "$@"; }
kill() { builtin kill "$@"; if [ "$1" = -INT ]; then wait %2; fi; }
"#;

/// A machine for the service. The unit is started with the configuration that it names, and is up when its page is
/// known.
const MACHINE: &str = r#"
useradd() { :; }
userdel() { :; }
journalctl() { cat "$ROOT/journal"; }
sudo() { if [ "$1" = -u ]; then shift 2; fi; "$@"; }
is_up() {
    [ -f "$ROOT/var/lib/recrawl/data/http-address" ] &&
        recrawl page https://example.org/ --data "$ROOT/var/lib/recrawl/data" >/dev/null 2>&1
}
systemctl() {
    case $1 in
    daemon-reload) grep -q RECRAWL_CONFIG=/etc/recrawl/recrawl.toml "$ROOT/etc/systemd/system/recrawl.service" ;;
    stop | disable) kill -TERM "$SERVICE" && wait "$SERVICE" ;;
    restart) systemctl stop recrawl && systemctl start recrawl ;;
    start | enable)
        RECRAWL_CONFIG="$ROOT/etc/recrawl/recrawl.toml" recrawl run 2>>"$ROOT/journal" &
        SERVICE=$!
        until is_up; do kill -0 "$SERVICE"; sleep .05; done
        ;;
    esac
}
"#;

/// The commands of a document, in their order: blocks of `sh`, and the lines behind a prompt in those of `console`.
fn commands(document: &str) -> String {
    let path = tests::workspace().join(document);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{document}: {error}"));
    let blocks = text.split("```").skip(1).step_by(2);
    let mut commands = String::new();
    for block in blocks {
        match block.split_once('\n') {
            Some(("sh", block)) => commands += block,
            Some(("console", block)) => {
                block
                    .lines()
                    .filter_map(|line| line.strip_prefix("$ "))
                    .for_each(|line| commands += &format!("{line}\n"));
            }
            Some(_) | None => {}
        }
    }
    assert!(commands.lines().count() > 10, "{document} has few commands: {commands}");
    commands
}

/// Runs commands in a directory to a good end.
fn paste(text: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    let program = programs().command("recrawl").get_program().to_owned();
    let built = Path::new(&program).parent().expect("a program lies in a directory");
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("{SHELL}{text}")).current_dir(directory).envs(variables.iter().copied());
    command.env("PATH", format!("{}:{}", built.display(), std::env::var("PATH").unwrap()));
    Process::start(command, directory).finish().exits_with(0)
}

#[test]
fn the_tour_goes_as_the_document_says() {
    let directory = tempfile::tempdir().unwrap();
    // Free a moment ago. If another takes it, the test fails and says so.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let settings = std::fs::read_to_string(tests::workspace().join("docs/tour.toml")).unwrap();
    std::fs::create_dir(directory.path().join("docs")).unwrap();
    std::fs::write(directory.path().join("docs/tour.toml"), settings.replace("8080", &port)).unwrap();
    let text = commands("docs/tour.md").replace("8080", &port);
    // Nothing is followed for ever, and the second run need not last.
    let text = text.replace(" --follow", "").replace("--for 20s", "--for 1s");
    let output = paste(&format!("{PATIENCE}{text}"), directory.path(), &[]);
    for said in ["200 of 200 pages were fetched", "next look expected", "1 seeds sent", "stopped after", "\"verdict\":"]
    {
        assert!(output.stdout.contains(said), "nothing of {said:?} in {}", output.stdout);
    }
    assert!(!directory.path().join("tour-data").exists(), "the tour leaves nothing");

    let readme = std::fs::read_to_string(tests::workspace().join("README.md")).unwrap();
    let tour = std::fs::read_to_string(tests::workspace().join("docs/tour.md")).unwrap();
    let start =
        tour.split("```sh\n").find(|block| block.starts_with("now=")).and_then(|block| block.split("```").next());
    assert!(readme.contains(start.expect("the tour starts the web and the crawl")), "README begins the tour otherwise");
}

#[test]
fn a_service_is_installed_backed_up_restored_moved_upgraded_and_removed_as_the_document_says() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_str().expect("temporary directories have plain names");
    std::fs::create_dir_all(directory.path().join("etc/systemd/system")).unwrap();
    let text = commands("docs/operate-embedded.md").replace("/etc/", &format!("{root}/etc/"));
    let text = text.replace("/var/lib/recrawl", &format!("{root}/var/lib/recrawl"));
    let unit = "services/recrawl/systemd/recrawl.service";
    let text = text.replace(unit, &tests::workspace().join(unit).display().to_string());
    // The web is not asked, and the port of others is left to them.
    let variables =
        [("ROOT", root), ("RECRAWL_FETCH_RESOLVE", "example.org=127.0.0.1:1"), ("RECRAWL_HTTP_BIND", "127.0.0.1:0")];
    let output = paste(&format!("{MACHINE}{text}"), directory.path(), &variables);
    assert!(output.stdout.contains("sound") && !output.stdout.contains("PROBLEM"), "{}", output.stdout);
    assert!(output.stdout.contains("of 1 page was fetched"), "it goes on with its page: {}", output.stdout);
    assert!(!directory.path().join("var/lib/recrawl").exists(), "nothing is left");
}

#[test]
fn the_unit_leaves_little_to_what_might_take_over_the_service() {
    let unit = tests::workspace().join("services/recrawl/systemd/recrawl.service");
    // Tenths of a point: 2.0, of 10.
    let arguments = ["security", "--no-pager", "--offline=true", "--threshold=20"];
    let Ok(output) = Command::new("systemd-analyze").args(arguments).arg(unit).output() else {
        eprintln!("no systemd here: the exposure of the unit is not rated");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

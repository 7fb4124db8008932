//! The commands of docs/operate-embedded.md do what the document says, pasted as they are. Users, systemd, its journal and
//! `make` are functions of the shell, and the directories of the system lie in that of the test.

use std::path::Path;
use std::process::Command;
use tests::{Process, programs};

/// A machine for the document. The unit is started with the configuration that it names, and is up when its page is
/// known.
const MACHINE: &str = r#"
set -eE
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
trap '[ -z "${SERVICE:-}" ] || kill -9 "$SERVICE" 2>/dev/null || true' EXIT
useradd() { :; }
userdel() { :; }
make() { :; }
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

/// All commands of the document, with the system's directories below that of the test.
fn commands(root: &Path) -> String {
    let document = std::fs::read_to_string(tests::workspace().join("docs/operate-embedded.md")).unwrap();
    let blocks: Vec<&str> = document.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 10, "the document has its commands in blocks of sh: {blocks:?}");
    let below = |place: &str| format!("{}{place}", root.display());
    let text = blocks.concat().replace("/etc/", &below("/etc/"));
    text.replace("/var/lib/recrawl", &below("/var/lib/recrawl"))
}

#[test]
fn a_service_is_installed_backed_up_restored_moved_upgraded_and_removed_as_the_document_says() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::create_dir_all(root.join("etc/systemd/system")).unwrap();
    let program = programs().command("recrawl").get_program().to_owned();
    let built = Path::new(&program).parent().expect("a program lies in a directory");
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("{MACHINE}{}", commands(root))).current_dir(tests::workspace());
    command.env("PATH", format!("{}:{}", built.display(), std::env::var("PATH").unwrap())).env("ROOT", root);
    // The web is not asked, and the port of others is left to them.
    command.env("RECRAWL_FETCH_RESOLVE", "example.org=127.0.0.1:1").env("RECRAWL_HTTP_BIND", "127.0.0.1:0");
    let output = Process::start(command, root).finish().exits_with(0);
    assert!(output.stdout.contains("sound") && !output.stdout.contains("PROBLEM"), "{}", output.stdout);
    assert!(output.stdout.contains("of 1 page was fetched"), "it goes on with its page: {}", output.stdout);
    assert!(!root.join("var/lib/recrawl").exists(), "nothing is left");
}

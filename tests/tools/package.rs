//! The package of Debian that a release has: its files, its fields, and a configuration that the service accepts.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tests::{Process, programs};

/// Runs a command to a good end, and gives its output.
pub(crate) fn run(program: &str, arguments: &[&str], variables: &[(&str, &Path)], directory: &Path) -> String {
    let mut command = Command::new(program);
    let output = command.args(arguments).envs(variables.iter().copied()).current_dir(directory).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Modes of the files in a package, by their names, all of which root owns.
fn modes(package: &str, directory: &Path) -> BTreeMap<String, String> {
    let listed = run("dpkg-deb", &["--contents", package], &[], directory);
    let fields = listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields
        .map(|fields| {
            let [mode, owner, _, _, _, name] = fields[..] else { panic!("not a line of a listing: {fields:?}") };
            assert_eq!(owner, "root/root", "{name}");
            (name.trim_start_matches('.').to_owned(), mode.to_owned())
        })
        .collect()
}

/// Checks a package of the programs that the tests have. `directory` is for its files.
pub(crate) fn is_whole(package: &Path, directory: &Path) {
    let (package, root) = (package.to_str().unwrap(), directory.join("package"));
    let fields = run("dpkg-deb", &["--field", package], &[], directory);
    let field = |name: &str| {
        let found = fields.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_else(|| panic!("no {name} in {fields}")).to_owned()
    };
    assert_eq!([field("Package"), field("Version")], ["recrawl", env!("CARGO_PKG_VERSION")]);
    assert_eq!(field("Architecture"), run("dpkg", &["--print-architecture"], &[], directory).trim());
    for library in ["libc6 (>=", "libcurl4 (>=", "libssl3 (>=", "libstdc++6 (>="] {
        assert!(field("Depends").contains(library), "{library} is not in {fields}");
    }
    let kept = run("dpkg-deb", &["--info", package, "conffiles"], &[], directory);
    assert_eq!(kept.lines().collect::<Vec<_>>(), ["/etc/recrawl/recrawl.toml", "/etc/recrawl/seeds.txt"]);

    let modes = modes(package, directory);
    for (name, mode) in &modes {
        let program = name.starts_with("/usr/bin/") && !name.ends_with('/');
        let expected = match (name.ends_with('/'), program) {
            (true, _) => "drwxr-xr-x",
            (_, true) => "-rwxr-xr-x",
            (..) => "-rw-r--r--",
        };
        assert_eq!(mode, expected, "{name}");
    }
    for file in [
        "/usr/bin/recrawl",
        "/usr/bin/recrawl-lab",
        "/usr/lib/systemd/system/recrawl.service",
        "/usr/lib/sysusers.d/recrawl.conf",
        "/usr/share/bash-completion/completions/recrawl",
        "/usr/share/doc/recrawl/copyright",
        "/usr/share/doc/recrawl/changelog.gz",
        "/usr/share/man/man1/recrawl-run.1.gz",
        "/usr/share/recrawl/schemas/PageChange.avsc",
    ] {
        assert!(modes.contains_key(file), "{file} is not in {:?}", modes.keys());
    }

    run("dpkg-deb", &["--extract", package, root.to_str().unwrap()], &[], directory);
    let unit = std::fs::read_to_string(root.join("usr/lib/systemd/system/recrawl.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/recrawl run\n") && !unit.contains("/usr/local"), "{unit}");
    let licences = run("zcat", &["usr/share/doc/recrawl/THIRD-PARTY.gz"], &[], &root);
    for linked in ["\nlibrocksdb-sys-", "\nrdkafka-sys-", "\naws-lc-sys-", "\nserde-", "Copyright (c)"] {
        assert!(licences.contains(linked), "{linked} is not among the licences");
    }
    refuses_to_crawl_nothing(&root);
}

/// The service as it is installed: it accepts its configuration, and does not start without pages.
fn refuses_to_crawl_nothing(root: &Path) {
    let mut command = programs().command("recrawl");
    command.arg("run").current_dir(root).env("RECRAWL_CONFIG", root.join("etc/recrawl/recrawl.toml"));
    command.env("RECRAWL_CRAWL_SEEDS", root.join("etc/recrawl/seeds.txt"));
    command.env("RECRAWL_CRAWL_DATA", root.join("data")).env("RECRAWL_HTTP_BIND", "127.0.0.1:0");
    let output = Process::start(command, root).finish().exits_with(2);
    assert!(output.stderr.contains("no pages to crawl"), "{}", output.stderr);
}

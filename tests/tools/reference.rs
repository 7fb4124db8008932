//! The pages of reference that are made from the programs: commands and settings.

use crate::recrawl;
use std::path::Path;
use tests::{Process, programs, workspace};

/// Compares a page with the one in `docs`, which `UPDATE=1` writes.
fn check(name: &str, page: &str) {
    let path = workspace().join("docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "{name} is not what the programs say; UPDATE=1 make test-quick ARGS='-E test(reference)' writes it"
    );
}

#[test]
fn the_page_of_commands_is_the_help_of_the_programs() {
    let directory = std::env::temp_dir();
    let own = recrawl(&directory, &["manual", "--markdown"]).exits_with(0).stdout;
    let mut lab = programs().command("recrawl-lab");
    lab.args(["manual", "--markdown"]);
    let lab = Process::start(lab, &directory).finish().exits_with(0).stdout;
    let page = format!(
        "# Commands\n\nMade from `--help`, which has the same words, and the manual pages of packages (`man recrawl-changes`).\n\n\
         Answers go to stdout, progress and warnings to stderr. The exit status is 0 (done), 1 (the answer is no), 2 (the input is wrong) or 3 \
         (the outside world failed).\n\nEvery command takes `--format text|json|jsonl`. Those about a crawl also take `--config FILE` (without it, \
         `recrawl.toml` in the working directory), `--preset SYSTEM` and `--set KEY=VALUE` ([settings](settings.md)).\n\n{own}\n# Laboratory\n\n\
         These commands are of a second program, `recrawl-lab`. `recrawl` starts it for `demo`, `simulate`, `detect`, `mirrors` and `rank`.\n\n{lab}"
    );
    check("commands.md", &(page.trim_end().to_owned() + "\n"));
}

#[test]
fn the_page_of_settings_is_the_file_of_defaults() {
    let defaults = std::fs::read_to_string(workspace().join("crates/settings/default.toml")).unwrap();
    let page = settings_page(&defaults);
    assert!(page.matches("\n## ").count() > 10 && page.contains("\n## crawl\n"), "{page}");
    check("settings.md", &page);
}

/// The file of defaults by its sections. Comments before a section are its introduction.
fn settings_page(defaults: &str) -> String {
    let mut page = "# Settings\n\nMade from [default.toml](../crates/settings/default.toml); [how layers of them win](tune.md).\n\n".to_owned();
    let mut waiting: Vec<&str> = Vec::new();
    let mut is_open = false;
    for line in defaults.lines().skip(2) {
        let section = line.strip_prefix('[').map(|name| name.trim_matches(['[', ']']));
        match (section, line.starts_with("# "), line.trim_start_matches('#').is_empty()) {
            (Some(name), ..) => {
                page.push_str(if is_open { "```\n\n" } else { "" });
                page.push_str(&format!("## {name}\n\n{}\n\n```toml\n{line}\n", prose(&mut waiting)));
                is_open = true;
            }
            (None, true, _) => waiting.push(line),
            (None, false, true) if !is_open => {
                page.push_str(&format!("{}\n\n", prose(&mut waiting)));
            }
            (None, false, _) => {
                waiting.drain(..).chain([line]).filter(|line| !line.is_empty()).for_each(|line| {
                    page.push_str(line);
                    page.push('\n');
                });
            }
        }
    }
    waiting.iter().for_each(|line| page.push_str(&format!("{line}\n")));
    page + "```\n"
}

/// Takes lines of comment as prose.
fn prose(comment: &mut Vec<&str>) -> String {
    let lines: Vec<_> = comment.drain(..).map(|line| line.trim_start_matches(['#', ' '])).collect();
    lines.join("\n").trim().to_owned()
}

#[test]
fn examples_and_completions_may_be_cut_off_by_their_reader() {
    let program = programs().command("recrawl").get_program().to_owned();
    let script = format!("{} completions bash | head -n 1", program.display());
    let output = std::process::Command::new("bash").args(["-o", "pipefail", "-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked") && said.is_empty(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "_recrawl() {\n");
}

#[test]
fn the_configuration_file_of_the_working_directory_is_read_unless_another_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let at: &Path = directory.path();
    std::fs::write(at.join("recrawl.toml"), "[crawl]\nmax_depth = 3\n").unwrap();
    std::fs::write(at.join("other.toml"), "[crawl]\nmax_depth = 5\n").unwrap();
    let depth = |arguments: &[&str]| {
        let arguments: Vec<_> = [&["run", "--print-config"], arguments].concat();
        let printed = recrawl(at, &arguments).exits_with(0).stdout;
        printed.lines().find(|line| line.starts_with("max_depth")).unwrap().to_owned()
    };
    assert_eq!(depth(&[]), "max_depth = 3");
    assert_eq!(depth(&["--config", "other.toml"]), "max_depth = 5");
    assert_eq!(depth(&["--config", "/dev/null"]), "max_depth = 8");
    std::fs::write(at.join("recrawl.toml"), "[crawl]\nmax_dept = 3\n").unwrap();
    let refused = recrawl(at, &["run", "--print-config"]).exits_with(2);
    assert!(refused.stderr.contains("recrawl.toml:2"), "{}", refused.stderr);
}

#[test]
fn an_address_in_use_is_named_with_the_remedy() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let bind = format!("http.bind={}", taken.local_addr().unwrap());
    let refused =
        recrawl(directory.path(), &["run", "--data", "data", "--set", &bind, "http://127.0.0.1:9/"]).exits_with(2);
    assert!(refused.stderr.contains("--set http.bind=127.0.0.1:0"), "{}", refused.stderr);
}

//! `recrawl diff` on a terminal: in colour if its reader wants that.

use crate::recrawl;
use std::fs::{File, write};
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use tests::programs;

/// Runs `recrawl diff` on a terminal with these variables. Returns what the terminal gets.
fn on_a_terminal(directory: &Path, variables: &[(&str, &str)], further: &[&str]) -> String {
    let (mut reader, mut terminal) = (-1, -1);
    let none = std::ptr::null_mut();
    // SAFETY: openpty(3) writes two descriptors, which are ours from then on. The other pointers may be null.
    let opened = unsafe { libc::openpty(&mut reader, &mut terminal, none, none.cast(), none.cast()) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both descriptors were just opened, and no other code has them.
    let (mut reader, terminal) = unsafe { (File::from_raw_fd(reader), OwnedFd::from_raw_fd(terminal)) };
    let mut command = programs().command("recrawl");
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    command.args(["diff", "old.txt", "new.txt"]).args(further).current_dir(directory);
    let status = command.stdout(Stdio::from(terminal)).status().unwrap();
    assert!(status.success());
    // The command holds the terminal open.
    drop(command);
    let mut shown = Vec::new();
    // Linux reports the end of a terminal as an error.
    let _ = reader.read_to_end(&mut shown);
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let rest = "Bring your own cup and a friend who likes tea.\n".repeat(4);
    write(directory.join("old.txt"), format!("{rest}It costs 5 euros.\n")).unwrap();
    write(directory.join("new.txt"), format!("{rest}It costs 7 euros.\n")).unwrap();
    let piped = |further: &[&str]| {
        recrawl(directory, &[&["diff", "old.txt", "new.txt"], further].concat()).exits_with(0).stdout
    };
    let plain = piped(&[]);
    assert!(plain.ends_with("- It costs 5 euros.\n+ It costs 7 euros.\n"), "{plain}");

    let coloured = on_a_terminal(directory, &[], &[]);
    // Red, bold and inverse: the word that differs.
    assert!(coloured.contains("\x1b[1m\x1b[7m\x1b[31m5\x1b[0m"), "{coloured:?}");
    assert_eq!(without_colours(&coloured), plain);
    assert_eq!(piped(&["--color", "always"]), coloured);
    assert_eq!(
        on_a_terminal(directory, &[("NO_COLOR", "1")], &["--color", "always"]),
        coloured,
        "an option is clearer"
    );
    for (variable, option) in [(("NO_COLOR", "1"), "auto"), (("TERM", "dumb"), "auto"), (("TERM", "xterm"), "never")] {
        assert_eq!(on_a_terminal(directory, &[variable], &["--color", option]), plain, "{variable:?} {option}");
    }
}

fn without_colours(text: &str) -> String {
    let pieces = text.split('\x1b');
    pieces
        .enumerate()
        .map(|(number, piece)| if number == 0 { piece } else { piece.split_once('m').unwrap().1 })
        .collect()
}

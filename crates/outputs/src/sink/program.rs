//! Delivers a change to a program: JSON on its standard input, the main facts in its environment.

use super::{Parcel, Receiver, Undelivered};
use crate::record::{PublishedChange, sentence};
use crate::stdout::word;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{ErrorKind, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Interval at which the end of the program is looked for: the first one, and the longest.
const LOOKS: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(20));

/// A program that is started for each change. No shell is involved, and nothing of a page is among the arguments.
pub struct Program {
    name: String,
    arguments: Vec<String>,
    timeout: Duration,
    passed: Vec<String>,
    /// Whether what it prints goes to stderr. Otherwise it prints where we do.
    prints_on_stderr: bool,
}

/// The variables of our environment that a program gets. The others may be secrets of recrawl: of Kafka, of object storage, of
/// sites.
const PASSED: [&str; 12] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM", "XDG_RUNTIME_DIR", "PWD"];

impl Program {
    /// The program of a command line, split into words as a shell would. `passed` names further variables that it gets.
    ///
    /// # Errors
    /// Says what is wrong with the line.
    pub fn new(line: &str, timeout: Duration, passed: &[String]) -> Result<Self, String> {
        let wrong = |problem: &str| format!("{line:?}: {problem}");
        let mut words =
            shlex::split(line).ok_or_else(|| wrong("a quotation mark or the last backslash is left open"))?;
        if words.is_empty() {
            return Err(wrong("give a program, with arguments if it has some"));
        }
        let name = words.remove(0);
        Ok(Self { name, arguments: words, timeout, passed: passed.to_vec(), prints_on_stderr: false })
    }

    /// The same, with what it prints on stderr: stdout is that of the command that runs it.
    #[must_use]
    pub fn printing_on_stderr(self) -> Self {
        Self { prints_on_stderr: true, ..self }
    }

    /// Its name, as it is given.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn passes(&self, variable: &str) -> bool {
        PASSED.contains(&variable) || variable.starts_with("LC_") || self.passed.iter().any(|name| name == variable)
    }

    fn start(&self, parcel: &Parcel<'_>, attempt: u32) -> std::io::Result<Child> {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).stdin(Stdio::piped());
        if self.prints_on_stderr {
            command.stdout(std::io::stderr());
        }
        command
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(|name| self.passes(name))));
        // A group of its own: it is ended as a whole, and Ctrl-C lets it finish.
        command.process_group(0);
        for (name, value) in facts(parcel, attempt) {
            command.env(name, value.replace('\0', "\u{fffd}"));
        }
        command.spawn()
    }

    /// Waits for the end of the program. `None` if it was ended because it took too long.
    fn end_of(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        let (end, mut look) = (Instant::now() + self.timeout, LOOKS.0);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= end {
                let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                // It may just have ended by itself.
                let _ = group.map(|group| kill_process_group(group, Signal::KILL));
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(look);
            look = (look * 2).min(LOOKS.1);
        }
    }
}

/// The environment variables of a program, with the facts of the parcel.
fn facts(parcel: &Parcel<'_>, attempt: u32) -> Vec<(&'static str, String)> {
    match parcel {
        Parcel::Change(change) => facts_of_change(change, attempt).collect(),
        Parcel::Digest(digest) => vec![
            ("DIGEST_ID", digest.digest_id.clone()),
            ("DIGEST_CHANGES", digest.changes.to_string()),
            ("DIGEST_SENTENCE", digest.sentence.clone()),
            ("DIGEST_ATTEMPT", attempt.to_string()),
        ],
    }
}

fn facts_of_change(change: &PublishedChange, attempt: u32) -> impl Iterator<Item = (&'static str, String)> {
    let facts = [
        ("CHANGE_ID", Some(change.change_id.clone())),
        ("CHANGE_URL", Some(change.url.clone())),
        ("CHANGE_PAGE_ID", Some(change.page_id.clone())),
        ("CHANGE_VERDICT", Some(word(&change.verdict))),
        ("CHANGE_MAGNITUDE", Some(change.magnitude.to_string())),
        ("CHANGE_SEEN_AT", Some(change.seen_at.clone())),
        ("CHANGE_PREVIOUS_SEEN_AT", change.previous_seen_at.clone()),
        ("CHANGE_STATUS", change.status.map(|status| status.to_string())),
        ("CHANGE_RULE", change.rule.clone()),
        ("CHANGE_TRIGGERS", Some(change.triggers.join("\n"))),
        ("CHANGE_TITLE", change.title.clone()),
        ("CHANGE_SENTENCE", Some(sentence(change))),
        ("CHANGE_CURSOR", Some(change.cursor.clone())),
        ("CHANGE_ATTEMPT", Some(attempt.to_string())),
    ];
    // All names are set, so that nothing of the caller's environment is taken for a fact.
    facts.into_iter().map(|(name, value)| (name, value.unwrap_or_default()))
}

impl Receiver for Program {
    fn deliver(&mut self, parcel: &Parcel<'_>, attempt: u32) -> Result<(), Undelivered> {
        let name = &self.name;
        let mut child = self.start(parcel, attempt).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied => {
                Undelivered::Wrong(format!("cannot start {name}: {error}"))
            }
            _ => Undelivered::later(format!("cannot start {name}: {error}")),
        })?;
        let mut record = parcel.json();
        record.push(b'\n');
        let input = child.stdin.take();
        // A program need not read its input, nor read it before its end.
        let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(&record)));
        let status = self.end_of(&mut child);
        // After the end of a program that left the pipe to another one, this may never end.
        drop(writer);
        match status {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(Undelivered::later(match (status.code(), status.signal()) {
                (Some(code), _) => format!("{name} exited with {code}"),
                (None, Some(signal)) => format!("{name} was ended by signal {signal}"),
                (None, None) => format!("{name} failed"),
            })),
            Ok(None) => {
                let timeout = humantime::format_duration(self.timeout);
                Err(Undelivered::later(format!("{name} was ended, because it took longer than {timeout}")))
            }
            Err(error) => Err(Undelivered::later(format!("{name}: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deliver_within(timeout: Duration, line: &str) -> Result<(), Undelivered> {
        let [change, _] = PublishedChange::examples();
        Program::new(line, timeout, &["CARGO_PKG_NAME".to_owned()])
            .expect("it is a command line")
            .deliver(&Parcel::Change(&change), 1)
    }

    fn deliver(line: &str) -> Result<(), Undelivered> {
        deliver_within(Duration::from_secs(60), line)
    }

    fn problem(delivered: Result<(), Undelivered>) -> String {
        match delivered {
            Err(Undelivered::Later { problem, after: None }) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_program_gets_the_record_and_its_facts_and_says_by_its_status_whether_it_took_them() {
        assert!(
            deliver(r#"sh -c 'test "$CHANGE_URL" = https://shop.test/lamp && grep -q "\"rule\":\"lamp\""'"#).is_ok()
        );
        assert!(deliver("true").is_ok(), "it need not read its input");
        assert_eq!(problem(deliver("sh -c 'exit 75'")), "sh exited with 75");
        assert_eq!(problem(deliver("sh -c 'kill -9 $$'")), "sh was ended by signal 9");
        // The grandchild ends with the child: it holds the pipe that is read here to its end.
        let endless = deliver_within(Duration::from_millis(300), "sh -c 'sleep 1000 & wait'");
        assert_eq!(problem(endless), "sh was ended, because it took longer than 300ms");
    }

    #[test]
    fn a_program_gets_nothing_of_our_environment_that_may_be_a_secret() {
        // Cargo sets these for tests.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && std::env::var_os("CARGO_PKG_NAME").is_some());
        assert!(deliver(r#"sh -c 'test -z "$CARGO_MANIFEST_DIR" && test -n "$PATH"'"#).is_ok());
        assert!(deliver(r#"sh -c 'test -n "$CARGO_PKG_NAME"'"#).is_ok(), "it was asked for");
    }

    #[test]
    fn no_shell_reads_the_command_line() {
        assert!(matches!(deliver("test '$(false)' = '$(false)'"), Ok(())));
        assert!(matches!(deliver("/no/such/program"), Err(Undelivered::Wrong(_))));
        assert!(matches!(deliver("/"), Err(Undelivered::Wrong(_))));
        for open in ["say 'open", "", "  "] {
            assert!(Program::new(open, Duration::ZERO, &[]).is_err(), "{open:?}");
        }
    }
}

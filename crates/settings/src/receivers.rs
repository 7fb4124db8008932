//! The tables `[[deliver]]`: who receives which changes, and how they get there. Those of the last file that has some count.

pub(crate) mod keys;
mod written;

pub(crate) use self::written::write;

use crate::fault::Origin;
use crate::values::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The name of the tables.
pub(crate) const DELIVER: &str = "deliver";
/// The most tables.
pub(crate) const MAX_RECEIVERS: usize = 100;

/// A table `[[deliver]]`. The crate `outputs` gives its texts a meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Receiver {
    /// Its name, of `a` to `z`, digits, `-` and `_`. No other receiver has it.
    pub name: String,
    /// The changes that it gets.
    pub choice: ChangeChoice,
    /// Where it begins when it is new.
    pub begin: Begin,
    /// Where its changes go.
    pub target: Target,
    /// When changes are collected and sent together, such as `1d@08:00 Europe/Berlin`. Absent: each is sent by itself.
    pub digest: Option<String>,
    /// Longest time of one attempt. Absent: what is usual for the target.
    pub timeout: Option<Duration>,
    /// A change that failed for so long is left out. Absent: it is tried again for ever.
    pub give_up_after: Option<Duration>,
}

/// A choice of changes. An empty list selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeChoice {
    /// Names or numbers of watch rules.
    pub rules: Vec<String>,
    /// Names of verdicts.
    pub verdicts: Vec<String>,
    /// Hosts, with those below them.
    pub hosts: Vec<String>,
    /// Uses that no owner of a page may disallow.
    pub uses: Vec<String>,
    /// Whether only changes that fired a trigger are meant.
    pub triggered: bool,
}

/// Where a new receiver begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begin {
    /// With the changes that come after its first start.
    #[default]
    New,
    /// With the oldest change that is kept.
    Oldest,
}

/// Where changes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A web server.
    Webhook(WebhookTarget),
    /// A program, as a command line.
    Program {
        /// The program and its arguments.
        line: String,
        /// Variables of the environment that it gets, besides the usual ones.
        pass_env: Vec<String>,
    },
    /// People.
    Mail(MailTarget),
}

/// A web server that takes changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookTarget {
    /// Its address, which may be a secret.
    pub url: Option<Secret>,
    /// A file with its address.
    pub url_file: Option<PathBuf>,
    /// A file with the secrets that sign, one a line.
    pub secret_file: Option<PathBuf>,
    /// Whether it gets no signature.
    pub unsigned: bool,
    /// A file with further headers, one a line.
    pub header_file: Option<PathBuf>,
    /// A PEM file with certificate authorities, in place of the public ones.
    pub ca_file: Option<PathBuf>,
    /// The name of a template, or a file with one.
    pub template: Option<String>,
}

/// People who get mail, and the server that takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailTarget {
    /// Their addresses. Each gets mail of their own.
    pub to: Vec<String>,
    /// The address of the sender.
    pub from: String,
    /// `smtp://HOST:PORT` or `smtps://HOST:PORT`.
    pub server: String,
    /// The name of a login at the server.
    pub user: Option<String>,
    /// A file with its password.
    pub password_file: Option<PathBuf>,
    /// Where people end it: `mailto:…` or `https://…`. Absent: a mail to the sender.
    pub unsubscribe: Option<String>,
    /// Whether mail may go to another machine without TLS.
    pub plaintext: bool,
    /// A PEM file with certificate authorities, in place of the public ones.
    pub ca_file: Option<PathBuf>,
}

/// A receiver, with the place of the table and of each of its keys.
pub(crate) struct PlacedReceiver {
    pub(crate) receiver: Receiver,
    pub(crate) at: Origin,
    pub(crate) keys: BTreeMap<&'static str, Origin>,
}

impl PlacedReceiver {
    /// Place of a key, or of the table if the key is absent.
    pub(crate) fn place(&self, key: &str) -> &Origin {
        // Keys of the mail stand in a table of their own.
        let key = key.split('.').next().unwrap_or(key);
        self.keys.get(key).unwrap_or(&self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layers, Secrets, Settings};

    fn read(text: &str) -> Result<Vec<Receiver>, String> {
        let layers = Layers { files: &[("recrawl.toml", text)], environment: [], overrides: &[] };
        Settings::from_layers(layers).map(|settings| settings.receivers).map_err(|faults| faults.to_string())
    }

    const ALL: &str = r#"
[[deliver]]
name = "shop"
rules = ["price", "stock"]
verdicts = ["minor", "major"]
hosts = "shop.example"
uses = ["search"]
triggered = true
begin = "oldest"
url = "https://hooks.example.org/x?key=1"
secret_file = "secret"
timeout = "5s"
give_up_after = "2h"

[[deliver]]
name = "chat"
url_file = "slack"
template = "slack"

[[deliver]]
name = "queue"
program = "./on-change.sh --queue news"
pass_env = ["QUEUE"]

[[deliver]]
name = "people"
digest = "1d@08:00 Europe/Berlin"
mail = { to = ["ada@example.org", "bob@example.org"], from = "crawl@example.org", server = "smtp://localhost:25" }
"#;

    #[test]
    fn receivers_are_read_back_as_they_are_written() {
        let layers = Layers { files: &[("recrawl.toml", ALL)], environment: [], overrides: &[] };
        let settings = Settings::from_layers(layers).expect("it is valid");
        let receivers = &settings.receivers;
        assert_eq!(receivers.len(), 4);
        assert_eq!(receivers[0].choice.hosts, ["shop.example"]);
        assert_eq!(receivers[0].begin, Begin::Oldest);
        assert!(matches!(&receivers[3].target, Target::Mail(mail) if mail.to.len() == 2 && !mail.plaintext));
        assert_eq!(read(&settings.to_toml(Secrets::Shown)).as_ref(), Ok(receivers));
        let masked = settings.to_toml(Secrets::Masked);
        assert!(masked.contains("# url is set; its path may be a secret: https://hooks.example.org"), "{masked}");
        assert!(masked.contains("# program is set; its arguments may be secrets: ./on-change.sh\n"), "{masked}");
        assert!(!masked.contains("key=1") && !masked.contains("--queue"), "{masked}");
    }

    #[test]
    fn a_table_that_cannot_be_is_refused_with_its_name_and_the_next_step() {
        let check = |text: &str, parts: &[&str]| {
            let problem = read(&format!("[[deliver]]\n{text}\n")).expect_err(text);
            assert!(parts.iter().all(|part| problem.contains(part)), "{text}: {problem}");
        };
        check("url = \"https://a.test\"", &["recrawl.toml:1: deliver 1: name: is missing", "write name = "]);
        check("name = \"a b\"\nurl = \"https://a.test\"", &["deliver \"a b\": name: cannot be \"a b\""]);
        check("name = \"a\"", &["deliver \"a\"", "has no target", "url, url_file, program or mail"]);
        check("name = \"a\"\nurl = \"https://a.test\"\nprogram = \"x\"", &["url and program", "a table for each"]);
        check("name = \"a\"\nprogram = \"x\"\nsecret_file = \"y\"", &[":4: deliver \"a\": secret_file", "no effect"]);
        check("name = \"a\"\nprogram = \"x\"\nverdict = [\"minor\"]", &["did you mean verdicts?"]);
        check("name = \"a\"\nprogram = \"x\"\ntimeout = \"0s\"", &["timeout", "out of range", "write a duration"]);
        check("name = \"a\"\nmail = { to = \"x@y.z\" }", &["mail.from: is missing", "mail.server: is missing"]);
        check("name = \"a\"\nmail = \"x@y.z\"", &["mail: cannot be \"x@y.z\"", "write { to = "]);
        check("name = \"a\"\n[deliver.mail]\nto = [\"x@y.z\"]\nform = \"x\"", &["mail.form", "did you mean from?"]);
        check(
            "name = \"a\"\nurl = \"https://a.test\"\ntemplate = \"slack\"\ndigest = \"1d\"",
            &["template", "is for single changes", "leave it out"],
        );
        let twice = "[[deliver]]\nname = \"a\"\nprogram = \"x\"\n".repeat(2);
        assert!(read(&twice).expect_err("a name is there twice").contains(":5: deliver \"a\": name: another receiver"));
        assert!(read("[deliver]\nname = \"a\"").expect_err("it is no list").contains("write [[deliver]] on a line"));
        let layers = Layers { files: &[], environment: [], overrides: &[("deliver.name".to_owned(), "x".to_owned())] };
        let flag = Settings::from_layers(layers).expect_err("it is no setting").to_string();
        assert!(flag.contains("write [[deliver]] in a configuration file"), "{flag}");
    }
}

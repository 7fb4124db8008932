//! The keys of a receiver.

use super::{Begin, ChangeChoice, MailTarget, Receiver, Target, WebhookTarget};
use crate::fault::{RuleFault, nearest};
use crate::form::{Choice, Flag, Form, Path, Phrase, Span, Text};
use crate::raw::Raw;
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const KEYS: [&str; 20] = [
    "name",
    "rules",
    "verdicts",
    "hosts",
    "uses",
    "triggered",
    "begin",
    "digest",
    "timeout",
    "give_up_after",
    "url",
    "url_file",
    "secret_file",
    "unsigned",
    "header_file",
    "ca_file",
    "template",
    "program",
    "pass_env",
    "mail",
];
/// The keys of `mail`, with the table before them.
const MAIL_KEYS: [&str; 8] = [
    "mail.to",
    "mail.from",
    "mail.server",
    "mail.user",
    "mail.password_file",
    "mail.unsubscribe",
    "mail.plaintext",
    "mail.ca_file",
];
/// The keys that name a target.
const TARGETS: [&str; 4] = ["url", "url_file", "program", "mail"];
/// Keys that have an effect with one kind of target alone, and the keys that name it.
const OF_TARGETS: [(&str, &[&str]); 6] = [
    ("secret_file", &["url", "url_file"]),
    ("unsigned", &["url", "url_file"]),
    ("header_file", &["url", "url_file"]),
    ("ca_file", &["url", "url_file"]),
    ("template", &["url", "url_file"]),
    ("pass_env", &["program"]),
];

const NAME: Text = Text(
    "a name of at most 60 lower-case letters, digits, - and _, such as \"editors\", by which its progress is found again",
    is_name,
);
const WORDS: Texts = Texts("a text or a list of texts, such as [\"price\"]");
const BEGIN: Choice<Begin> = Choice(&[("new", Begin::New), ("oldest", Begin::Oldest)]);
const FILE: Path = Path("the name of a file");
const LINE: Text = Text("a text", |text| !text.trim().is_empty() && !text.chars().any(char::is_control));
const TIMEOUT: Span = Span(Duration::from_millis(1), Duration::from_secs(3_600));
const GIVE_UP_AFTER: Span = Span(Duration::from_secs(1), Duration::from_secs(365 * 86_400));

fn is_name(text: &str) -> bool {
    let is_plain = |sign: u8| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == b'-' || sign == b'_';
    (1..=60).contains(&text.len()) && text.bytes().all(is_plain)
}

/// A text, or a list of them.
struct Texts(&'static str);

impl Form for Texts {
    type Value = Vec<String>;

    fn expected(&self) -> String {
        self.0.to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Vec<String>, String> {
        let text = |raw: &Raw| match raw {
            Raw::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            _ => None,
        };
        let texts = match raw {
            Raw::List(entries) => entries.iter().map(text).collect(),
            one => text(one).map(|text| vec![text]),
        };
        texts.ok_or_else(|| format!("cannot be {}", raw.describe()))
    }

    fn write(&self, value: &Vec<String>, _: crate::form::Secrets) -> Option<String> {
        Some(format!("[{}]", value.iter().map(|text| crate::form::quote(text)).collect::<Vec<_>>().join(", ")))
    }
}

/// The values of a table, and what is wrong with those that were read.
struct Table {
    raws: BTreeMap<&'static str, Raw>,
    faults: Vec<RuleFault>,
}

impl Table {
    fn fault(&mut self, key: &'static str, problem: impl Into<String>, remedy: impl Into<String>) {
        self.faults.push(RuleFault { key, problem: problem.into(), remedy: remedy.into() });
    }

    fn optional<F: Form>(&mut self, key: &'static str, form: &F) -> Option<F::Value> {
        match form.read(self.raws.get(key)?) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.fault(key, problem, format!("write {}", form.expected()));
                None
            }
        }
    }

    fn needed<F: Form>(&mut self, key: &'static str, form: &F) -> Option<F::Value> {
        if !self.raws.contains_key(key) {
            let short = key.strip_prefix("mail.").unwrap_or(key);
            self.fault(key, "is missing", format!("write {short} = …: {}", form.expected()));
        }
        self.optional(key, form)
    }

    fn has(&self, key: &str) -> bool {
        self.raws.contains_key(key)
    }

    fn target(&mut self) -> Option<Target> {
        let named: Vec<_> = TARGETS.into_iter().filter(|key| self.has(key)).collect();
        match named[..] {
            [] => {
                self.fault("name", "the receiver has no target", "write one of url, url_file, program or mail");
                return None;
            }
            [_] => {}
            [_, other, ..] => {
                let problem = format!("the receiver has {}", named.join(" and "));
                self.fault(other, problem, "leave one, or write a table for each");
            }
        }
        for (key, targets) in OF_TARGETS {
            if self.has(key) && !named.iter().any(|named| targets.contains(named)) {
                let with = targets.join(" or ");
                self.fault(key, format!("has no effect, because it goes with {with}"), "leave it out");
            }
        }
        match named[0] {
            "program" => Some(Target::Program {
                line: self.optional("program", &LINE)?,
                pass_env: self.optional("pass_env", &WORDS).unwrap_or_default(),
            }),
            "mail" => self.mail().map(Target::Mail),
            _ => self.webhook().map(Target::Webhook),
        }
    }

    fn webhook(&mut self) -> Option<WebhookTarget> {
        let template = self.optional("template", &LINE);
        if template.is_some() && self.has("digest") {
            let remedy = "leave it out: a digest is sent as JSON; or leave digest out";
            self.fault("template", "is for single changes, and this receiver gets digests", remedy);
        }
        Some(WebhookTarget {
            url: self.optional("url", &Phrase),
            url_file: self.optional("url_file", &FILE),
            secret_file: self.optional("secret_file", &FILE),
            unsigned: self.optional("unsigned", &Flag).unwrap_or_default(),
            header_file: self.optional("header_file", &FILE),
            ca_file: self.optional("ca_file", &FILE),
            template,
        })
    }

    fn mail(&mut self) -> Option<MailTarget> {
        let entries = match self.raws.get("mail") {
            Some(Raw::Table(entries)) => entries.clone(),
            other => {
                let problem = format!("cannot be {}", other.map(Raw::describe).unwrap_or_default());
                let remedy = "write { to = [\"ada@example.org\"], from = \"crawl@example.org\", server = \"smtps://mail.example.org\" }";
                self.fault("mail", problem, remedy);
                return None;
            }
        };
        for (name, raw) in entries {
            let name = format!("mail.{name}");
            match MAIL_KEYS.into_iter().find(|known| *known == name) {
                Some(known) => {
                    self.raws.insert(known, raw);
                }
                None => {
                    let short = |key: &'static str| key.trim_start_matches("mail.");
                    let remedy = match nearest(&name, MAIL_KEYS) {
                        Some(meant) => format!("did you mean {}?", meant.trim_start_matches("mail.")),
                        None => format!("it has {}", MAIL_KEYS.map(short).join(", ")),
                    };
                    self.fault("mail", format!("there is no such key: {name}"), remedy);
                }
            }
        }
        Some(MailTarget {
            to: self.needed("mail.to", &Texts("an address or a list of them, such as [\"ada@example.org\"]"))?,
            from: self.needed("mail.from", &LINE).unwrap_or_default(),
            server: self.needed("mail.server", &LINE).unwrap_or_default(),
            user: self.optional("mail.user", &LINE),
            password_file: self.optional("mail.password_file", &FILE),
            unsubscribe: self.optional("mail.unsubscribe", &LINE),
            plaintext: self.optional("mail.plaintext", &Flag).unwrap_or_default(),
            ca_file: self.optional("mail.ca_file", &FILE),
        })
    }
}

/// Reads the values of a table. `None`, or faults: it cannot be.
pub(crate) fn read(raws: BTreeMap<&'static str, Raw>) -> (Option<Receiver>, Vec<RuleFault>) {
    let mut table = Table { raws, faults: Vec::new() };
    let name = table.needed("name", &NAME);
    let choice = ChangeChoice {
        rules: table.optional("rules", &WORDS).unwrap_or_default(),
        verdicts: table.optional("verdicts", &WORDS).unwrap_or_default(),
        hosts: table.optional("hosts", &WORDS).unwrap_or_default(),
        uses: table.optional("uses", &WORDS).unwrap_or_default(),
        triggered: table.optional("triggered", &Flag).unwrap_or_default(),
    };
    let begin = table.optional("begin", &BEGIN).unwrap_or_default();
    let (timeout, give_up_after) =
        (table.optional("timeout", &TIMEOUT), table.optional("give_up_after", &GIVE_UP_AFTER));
    let digest = table.optional("digest", &LINE);
    let target = table.target();
    let receiver =
        name.zip(target).map(|(name, target)| Receiver { name, choice, begin, target, digest, timeout, give_up_after });
    (receiver, table.faults)
}

//! The receivers of the settings as what takes changes.

use super::schedule::Schedule;
use crate::encoder::mail::MailForm;
use crate::encoder::template::Template;
use crate::record::ChangeSelection;
use crate::sink::Receiver;
use crate::sink::mail::{MailAddress, MailServer, MailWay, Mailer, Security};
use crate::sink::program::Program;
use crate::sink::signature::Signer;
use crate::sink::webhook::{MATRIX, Manner, Target, Webhook, headers};
use daemon::web_client::authorities;
use lettre::transport::smtp::authentication::Credentials;
use messages::Digest;
use settings::{Draft, MailTarget, RuleFault, Secret, WebhookTarget};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Longest time of an attempt, if the settings do not say.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Longest time of a step of a mail, if the settings do not say. Servers look for viruses before they take one.
const MAIL_TIMEOUT: Duration = Duration::from_secs(60);
/// Most people of a receiver. Each has a position and a thread.
const MOST_PEOPLE: usize = 50;
/// Number of characters of the digest in the names of people's files.
const DIGEST_CHARACTERS: usize = 12;

/// One that takes changes, with a position of its own.
pub(super) struct Lane {
    /// The name of its file with the position.
    pub(super) file: String,
    /// Where the changes go, without what may be a secret.
    pub(super) shown: String,
    pub(super) receiver: Box<dyn Receiver>,
}

/// Adds the faults of all tables `[[deliver]]` that can be found without reading the files that they name.
pub fn check_receivers(draft: &mut Draft) {
    draft.check_receivers(|receiver| {
        let mut faults = ChangeSelection::of_receiver(&receiver.choice, true).err().unwrap_or_default();
        faults.extend(target_faults(receiver));
        if let Some(Err(problem)) = receiver.digest.as_deref().map(str::parse::<Schedule>) {
            let remedy = "or leave it out, so that each change is sent by itself".to_owned();
            faults.push(RuleFault { key: "digest", problem, remedy });
        }
        faults
    });
}

fn target_faults(receiver: &settings::Receiver) -> Vec<RuleFault> {
    let fault = |key, problem: String, remedy: &str| RuleFault { key, problem, remedy: remedy.to_owned() };
    match &receiver.target {
        settings::Target::Webhook(webhook) => {
            let remedy = "write an address such as https://hooks.example.org/recrawl";
            let problem = webhook.url.as_ref().and_then(|url| Target::new(url.reveal(), false).err());
            problem.map(|problem| fault("url", problem, remedy)).into_iter().collect()
        }
        settings::Target::Program { line, pass_env } => {
            let remedy = "write a program with its arguments, such as \"./on-change.sh --queue news\"";
            let problem = Program::new(line, TIMEOUT, pass_env).err();
            problem.map(|problem| fault("program", problem, remedy)).into_iter().collect()
        }
        settings::Target::Mail(mail) => mail_faults(mail),
    }
}

fn mail_faults(mail: &MailTarget) -> Vec<RuleFault> {
    let mut faults = Vec::new();
    let mut fault =
        |key, problem: String, remedy: &str| faults.push(RuleFault { key, problem, remedy: remedy.to_owned() });
    let address = "write an address such as ada@example.org";
    let mut people = BTreeSet::new();
    for to in &mail.to {
        match to.parse::<MailAddress>() {
            Ok(person) if !people.insert(person.to_string().to_ascii_lowercase()) => {
                fault("mail.to", format!("{person} is there twice, and would get each mail twice"), "write it once");
            }
            Ok(_) => {}
            Err(problem) => fault("mail.to", problem, address),
        }
    }
    if mail.to.is_empty() || mail.to.len() > MOST_PEOPLE {
        let problem = format!("there are {} addresses, and 1 to {MOST_PEOPLE} are possible", mail.to.len());
        fault("mail.to", problem, "write the address of a mailing list");
    }
    if let Err(problem) = mail.from.parse::<MailAddress>() {
        fault("mail.from", problem, address);
    }
    let leads_somewhere = |to: &String| ["mailto:", "https://"].iter().any(|scheme| to.starts_with(scheme));
    if mail.unsubscribe.as_ref().is_some_and(|to| !leads_somewhere(to) || to.contains(['<', '>', ' ', ','])) {
        fault("mail.unsubscribe", "is no address".to_owned(), "write mailto:… or https://…");
    }
    match (&mail.user, &mail.password_file) {
        (Some(_), None) => fault("mail.user", "needs a password".to_owned(), "name a file with it in password_file"),
        (None, Some(_)) => {
            fault("mail.password_file", "has no effect without user".to_owned(), "write user, or leave it out")
        }
        _ => {}
    }
    match mail.server.parse::<MailServer>() {
        Err(problem) => fault("mail.server", problem, "such as smtps://mail.example.org"),
        Ok(server) if mail.user.is_some() && !server.is_here() && server.security(mail.plaintext) == Security::None => {
            let problem = "a password would be read on its way to the server".to_owned();
            fault("mail.plaintext", problem, "leave it out, so that the connection changes to TLS");
        }
        Ok(_) => {}
    }
    faults
}

/// Those that take the changes of a receiver.
///
/// # Errors
/// Says which key is wrong, and what to do.
pub(super) fn lanes(receiver: &settings::Receiver) -> Result<Vec<Lane>, String> {
    let timeout = receiver.timeout.unwrap_or(TIMEOUT);
    let file = format!("deliver-{}.cursor", receiver.name);
    Ok(match &receiver.target {
        settings::Target::Webhook(target) => {
            let (webhook, shown) = webhook(target, timeout)?;
            vec![Lane { file, shown, receiver: Box::new(webhook) }]
        }
        settings::Target::Program { line, pass_env } => {
            let program = Program::new(line, timeout, pass_env).map_err(of_key("program"))?;
            let shown = program.name().to_owned();
            vec![Lane { file, shown, receiver: Box::new(program.printing_on_stderr()) }]
        }
        settings::Target::Mail(mail) => mail_lanes(&receiver.name, mail, receiver.timeout.unwrap_or(MAIL_TIMEOUT))?,
    })
}

fn webhook(target: &WebhookTarget, timeout: Duration) -> Result<(Webhook, String), String> {
    let WebhookTarget { url, url_file, secret_file, unsigned, header_file, ca_file, template } = target;
    let address = match (url, url_file) {
        (Some(url), _) => url.clone(),
        (None, Some(file)) => Secret::new(&text_of(file).map_err(of_key("url_file"))?),
        (None, None) => return Err("url: is missing; write one".to_owned()),
    };
    let to_room = template.as_deref() == Some(MATRIX);
    let target =
        Target::new(address.reveal(), to_room).map_err(of_key(if url.is_some() { "url" } else { "url_file" }))?;
    let template = template.as_deref().map(Template::find).transpose().map_err(of_key("template"))?;
    let signer = match (unsigned, secret_file) {
        (true, _) => None,
        (false, Some(file)) => Some(Signer::of_file(file).map_err(of_key("secret_file"))?),
        // Chat systems check no signature; their addresses are the secret.
        (false, None) if template.is_some() => None,
        (false, None) => {
            return Err(
                "there is no secret to sign with; name a file with one in secret_file, or write unsigned = true"
                    .to_owned(),
            );
        }
    };
    let headers = header_file.as_deref().map(headers).transpose().map_err(of_key("header_file"))?;
    let roots = authorities(ca_file.as_deref()).map_err(of_key("ca_file"))?;
    let shown = target.shown();
    let manner = Manner { timeout, headers: headers.unwrap_or_default(), signer, template, roots };
    Ok((Webhook::new(target, manner), shown))
}

/// Each person has a position of their own, so that mail to one holds that to no other.
fn mail_lanes(name: &str, mail: &MailTarget, timeout: Duration) -> Result<Vec<Lane>, String> {
    let server: MailServer = mail.server.parse().map_err(of_key("mail.server"))?;
    let from: MailAddress = mail.from.parse().map_err(of_key("mail.from"))?;
    let password = mail.password_file.as_deref().map(text_of).transpose().map_err(of_key("mail.password_file"))?;
    let login = mail.user.clone().zip(password).map(|(user, password)| Credentials::new(user, password));
    let tls = server.tls(mail.ca_file.as_deref()).map_err(of_key("mail.ca_file"))?;
    let lane = |to: &String| {
        let to: MailAddress = to.parse().map_err(of_key("mail.to"))?;
        let whose = Digest::of(to.to_string().as_bytes()).to_string();
        let file = format!("deliver-{name}-{}.cursor", &whose[..DIGEST_CHARACTERS]);
        let way = MailWay {
            security: server.security(mail.plaintext),
            server: server.clone(),
            tls: tls.clone(),
            login: login.clone(),
            timeout,
        };
        let form = MailForm::new(name, from.clone(), mail.unsubscribe.as_deref());
        Ok(Lane { file, shown: to.to_string(), receiver: Box::new(Mailer::new(form, to, way)) as Box<dyn Receiver> })
    };
    mail.to.iter().map(lane).collect()
}

/// The text of a file of one value.
fn text_of(file: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}; check the name", file.display()))?;
    Ok(text.trim().to_owned())
}

fn of_key(key: &'static str) -> impl Fn(String) -> String {
    move |problem| format!("{key}: {problem}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_there_once() {
        let faults = |to: &[&str]| {
            let mail = MailTarget {
                to: to.iter().map(|to| (*to).to_owned()).collect(),
                from: "crawl@example.org".to_owned(),
                server: "smtp://localhost".to_owned(),
                ..MailTarget::default()
            };
            mail_faults(&mail).into_iter().map(|fault| (fault.key, fault.problem)).collect::<Vec<_>>()
        };
        assert!(faults(&["ada@example.org", "bob@example.org"]).is_empty());
        let [(key, problem)] = &faults(&["ada@example.org", "Ada <Ada@Example.org>"])[..] else {
            panic!("one fault is due")
        };
        assert_eq!(*key, "mail.to");
        assert!(problem.contains("is there twice"), "{problem}");
    }
}

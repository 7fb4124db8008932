//! Receivers as TOML.

use super::{Begin, DELIVER, MailTarget, Receiver, Target, WebhookTarget};
use crate::form::{Secrets, quote, show};
use std::path::PathBuf;

/// Prints the receivers as TOML. The path of an address may be a secret, and so may arguments.
pub(crate) fn write(receivers: &[Receiver], secrets: Secrets, lines: &mut Vec<String>) {
    for receiver in receivers {
        let Receiver { name, choice, begin, target, digest, timeout, give_up_after } = receiver;
        lines.push(format!("[[{DELIVER}]]"));
        lines.push(format!("name = {}", quote(name)));
        list("rules", &choice.rules, lines);
        list("verdicts", &choice.verdicts, lines);
        list("hosts", &choice.hosts, lines);
        list("uses", &choice.uses, lines);
        lines.extend(choice.triggered.then(|| "triggered = true".to_owned()));
        lines.extend((*begin == Begin::Oldest).then(|| "begin = \"oldest\"".to_owned()));
        text("digest", digest, lines);
        text("timeout", &timeout.map(show), lines);
        text("give_up_after", &give_up_after.map(show), lines);
        match target {
            Target::Webhook(webhook) => write_webhook(webhook, secrets, lines),
            Target::Program { line, pass_env } => {
                lines.push(match secrets {
                    Secrets::Shown => format!("program = {}", quote(line)),
                    Secrets::Masked => {
                        let program = line.split_whitespace().next().unwrap_or_default();
                        format!("# program is set; its arguments may be secrets: {program}")
                    }
                });
                list("pass_env", pass_env, lines);
            }
            Target::Mail(mail) => write_mail(mail, lines),
        }
        lines.push(String::new());
    }
}

fn write_webhook(webhook: &WebhookTarget, secrets: Secrets, lines: &mut Vec<String>) {
    let WebhookTarget { url, url_file, secret_file, unsigned, header_file, ca_file, template } = webhook;
    lines.extend(url.iter().map(|url| match secrets {
        Secrets::Shown => format!("url = {}", quote(url.reveal())),
        Secrets::Masked => {
            let end = url.reveal().match_indices('/').nth(2).map_or(url.reveal().len(), |(at, _)| at);
            format!("# url is set; its path may be a secret: {}", url.reveal().get(..end).unwrap_or_default())
        }
    }));
    file("url_file", url_file, lines);
    file("secret_file", secret_file, lines);
    lines.extend(unsigned.then(|| "unsigned = true".to_owned()));
    file("header_file", header_file, lines);
    file("ca_file", ca_file, lines);
    text("template", template, lines);
}

fn write_mail(mail: &MailTarget, lines: &mut Vec<String>) {
    let MailTarget { to, from, server, user, password_file, unsubscribe, plaintext, ca_file } = mail;
    lines.push(format!("[{DELIVER}.mail]"));
    list("to", to, lines);
    lines.push(format!("from = {}", quote(from)));
    lines.push(format!("server = {}", quote(server)));
    text("user", user, lines);
    file("password_file", password_file, lines);
    text("unsubscribe", unsubscribe, lines);
    lines.extend(plaintext.then(|| "plaintext = true".to_owned()));
    file("ca_file", ca_file, lines);
}

fn list(key: &str, texts: &[String], lines: &mut Vec<String>) {
    if !texts.is_empty() {
        let texts: Vec<_> = texts.iter().map(|text| quote(text)).collect();
        lines.push(format!("{key} = [{}]", texts.join(", ")));
    }
}

fn text(key: &str, value: &Option<String>, lines: &mut Vec<String>) {
    lines.extend(value.iter().map(|value| format!("{key} = {}", quote(value))));
}

fn file(key: &str, value: &Option<PathBuf>, lines: &mut Vec<String>) {
    lines.extend(value.iter().map(|value| format!("{key} = {}", quote(&value.to_string_lossy()))));
}

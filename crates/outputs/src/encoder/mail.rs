//! Changes as mail: text and HTML, with headers by which programs know what it is, and people can end it.

use super::template::{environment, reported, values_of};
use crate::record::{excerpt, sentence};
use crate::sink::Parcel;
use crate::sink::mail::MailAddress;
use crate::stdout::{Keeps, harmless};
use lettre::Message;
use lettre::message::MultiPart;
use lettre::message::header::{HeaderName, HeaderValue};
use messages::Digest;
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use std::time::SystemTime;

/// The templates, by name. Those that end with `.html` have all values escaped.
const TEMPLATES: [(&str, &str); 4] = [
    ("change.txt", include_str!("templates/mail/change.txt")),
    ("change.html", include_str!("templates/mail/change.html")),
    ("digest.txt", include_str!("templates/mail/digest.txt")),
    ("digest.html", include_str!("templates/mail/digest.html")),
];
/// The most characters of a subject.
const SUBJECT_CHARACTERS: usize = 200;
/// Number of characters of the digest that distinguishes people.
const DIGEST_CHARACTERS: usize = 12;

/// Mail of a receiver.
pub struct MailForm {
    receiver: String,
    from: MailAddress,
    /// The value of `List-Unsubscribe` (RFC 2369).
    unsubscribe: String,
    templates: Environment<'static>,
}

/// A mail with its headers (RFC 5322), and who sends it.
pub struct WrittenMail {
    /// The sender of the envelope, too.
    pub from: MailAddress,
    /// ASCII, with lines of at most 998 bytes that end in CR LF.
    pub text: Vec<u8>,
}

impl MailForm {
    /// The mail of a receiver of this name. `unsubscribe` is where people end it, as `mailto:…` or `https://…`.
    pub fn new(receiver: &str, from: MailAddress, unsubscribe: Option<&str>) -> Self {
        let mut templates = environment();
        for (name, source) in TEMPLATES {
            templates.add_template(name, source).expect("the templates are part of the program and tested");
        }
        let usual = || format!("mailto:{from}?subject=unsubscribe%20{receiver}");
        let unsubscribe = unsubscribe.map_or_else(usual, str::to_owned);
        Self { receiver: receiver.to_owned(), from, unsubscribe, templates }
    }

    /// The mail of a parcel. All attempts have the same `Message-ID`; those of one page refer to the same thread.
    ///
    /// # Errors
    /// Says why a template does not take the parcel.
    pub fn write(&self, parcel: &Parcel<'_>, to: &MailAddress, now: SystemTime) -> Result<WrittenMail, String> {
        let (name, subject, values, thread) = match parcel {
            Parcel::Change(change) => {
                ("change", sentence(change), values_of(change), Some(format!("page-{}", change.page_id)))
            }
            Parcel::Digest(digest) => ("digest", digest.sentence.clone(), Value::from(Serde(digest)), None),
        };
        let values = context! { receiver => &self.receiver, unsubscribe => &self.unsubscribe, ..values };
        let body = |ending: &str| {
            let template = self.templates.get_template(&format!("{name}.{ending}"));
            let body = template.and_then(|template| template.render(&values)).map_err(|error| reported(&error))?;
            Ok::<_, String>(harmless(&body, Keeps::Lines).into_owned())
        };
        let mut mail = Message::builder()
            .from(self.from.mailbox().clone())
            .to(to.mailbox().clone())
            .date(now)
            // A line break in a text of the web would begin a header of its own.
            .subject(harmless(&excerpt(&subject, SUBJECT_CHARACTERS), Keeps::Nothing))
            .message_id(Some(self.id(parcel.id(), to)));
        if let Some(thread) = thread.map(|thread| self.id(&thread, to)) {
            mail = mail.in_reply_to(thread.clone()).references(thread);
        }
        let raw = |name, value: String| HeaderValue::new(HeaderName::new_from_ascii_str(name), value);
        let mail = mail
            .raw_header(raw("Auto-Submitted", "auto-generated".to_owned()))
            .raw_header(raw("List-Id", format!("<{}.recrawl.{}>", self.receiver, self.from.domain())))
            .raw_header(raw("List-Unsubscribe", format!("<{}>", self.unsubscribe)))
            .multipart(MultiPart::alternative_plain_html(body("txt")?, body("html")?));
        let mail = mail.map_err(|error| error.to_string())?;
        Ok(WrittenMail { from: self.from.clone(), text: mail.formatted() })
    }

    /// The id of a message or thread (RFC 5322, section 3.6.4), of this receiver and person alone.
    fn id(&self, of: &str, to: &MailAddress) -> String {
        let plain: String = of.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect();
        let whose = Digest::of(format!("{} {to}", self.receiver).as_bytes()).to_string();
        format!("<{plain}.{}@{}>", &whose[..DIGEST_CHARACTERS], self.from.domain())
    }
}

#[cfg(test)]
mod tests;

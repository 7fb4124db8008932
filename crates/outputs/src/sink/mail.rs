//! Mails a change to one person, through a server that speaks SMTP (RFC 5321). It is delivered when the server has answered
//! 250 to its last line.

mod address;
mod server;

pub use self::address::{MailAddress, MailServer, Security};

use self::server::Connection;
use super::{Parcel, Receiver, Undelivered};
use crate::encoder::mail::{MailForm, WrittenMail};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::TlsParameters;
use std::time::{Duration, Instant, SystemTime};

/// A connection that was not used for so long is not used again: its server may be about to close it.
const REUSED_WITHIN: Duration = Duration::from_secs(10);

/// A person who gets mail.
pub struct Mailer {
    form: MailForm,
    to: MailAddress,
    way: MailWay,
    /// The connection of the last mail, and when that was.
    open: Option<(Connection, Instant)>,
}

/// How mail gets to the server.
pub struct MailWay {
    /// The server that takes it.
    pub server: MailServer,
    /// How the connection is protected.
    pub security: Security,
    /// How the server proves who it is, where there is TLS.
    pub tls: TlsParameters,
    /// The login, if it asks for one.
    pub login: Option<Credentials>,
    /// Longest time of one step.
    pub timeout: Duration,
}

/// Where an attempt failed, after the server has taken the sender. It decides whose fault that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Recipient,
    Start,
    Content,
}

impl Mailer {
    /// Mails of a form, to this person, on this way.
    pub fn new(form: MailForm, to: MailAddress, way: MailWay) -> Self {
        Self { form, to, way, open: None }
    }

    /// A connection on which the sender is named. The one of the last mail may have been closed meanwhile.
    fn begun(&mut self, mail: &WrittenMail) -> Result<Connection, Undelivered> {
        if let Some((mut open, _)) = self.open.take().filter(|(_, used)| used.elapsed() < REUSED_WITHIN)
            && open.sender(&mail.from).is_ok()
        {
            return Ok(open);
        }
        let shown = &self.way.server;
        let failed = |problem: String| Undelivered::later(format!("{shown}: {problem}"));
        let mut open = Connection::open(&self.way).map_err(failed)?;
        open.sender(&mail.from).map_err(|refusal| failed(refusal.said))?;
        Ok(open)
    }
}

impl Receiver for Mailer {
    fn deliver(&mut self, parcel: &Parcel<'_>, _attempt: u32) -> Result<(), Undelivered> {
        let mail = self
            .form
            .write(parcel, &self.to, SystemTime::now())
            .map_err(|problem| Undelivered::SetAside(format!("the mail cannot be made: {problem}")))?;
        let mut open = self.begun(&mail)?;
        let server = &self.way.server;
        let judge =
            |step, done: Result<(), server::Refusal>| done.map_err(|refusal| judged(server, &self.to, step, refusal));
        judge(Step::Recipient, open.recipient(&self.to))?;
        judge(Step::Start, open.start())?;
        judge(Step::Content, open.content(&mail.text))?;
        // Nothing is waited for any more: the caller notes at once that it is delivered.
        self.open = Some((open, Instant::now()));
        Ok(())
    }
}

/// Whether a refusal is about this mail, for good, or may pass.
fn judged(server: &MailServer, to: &MailAddress, step: Step, refusal: server::Refusal) -> Undelivered {
    let about = match step {
        Step::Recipient => format!(" about {to}"),
        Step::Start => " before the mail".to_owned(),
        Step::Content => " about the mail".to_owned(),
    };
    let problem = format!("{server}{about}: {}", refusal.said);
    let is_about_mail = match step {
        // The server knows nothing of the mail yet.
        Step::Start => false,
        // A login, a limit or the policy of the server would refuse all mail alike.
        Step::Recipient | Step::Content => refusal.is_for_good && !refusal.is_of_policy,
    };
    if is_about_mail { Undelivered::SetAside(problem) } else { Undelivered::later(problem) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_set_aside_only_for_what_is_about_it_or_its_person() {
        let server = "smtp://mail.test".parse().expect("it is a server");
        let to = "ada@example.org".parse().expect("it is an address");
        let is_set_aside = |step, is_for_good, is_of_policy| {
            let refusal = server::Refusal { is_for_good, is_of_policy, said: "no".to_owned() };
            matches!(judged(&server, &to, step, refusal), Undelivered::SetAside(_))
        };
        for step in [Step::Recipient, Step::Content] {
            assert!(is_set_aside(step, true, false), "{step:?}");
            assert!(!is_set_aside(step, true, true) && !is_set_aside(step, false, false), "{step:?}");
        }
        assert!(!is_set_aside(Step::Start, true, false), "it does not know the mail");
    }
}

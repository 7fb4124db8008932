//! The conversation with a mail server.

use super::MailWay;
use super::address::{MailAddress, Security};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::Mechanism;
use lettre::transport::smtp::client::SmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use std::error::Error as _;
use std::io::ErrorKind;
use std::time::Duration;

/// The reply to `DATA`, before the mail.
const START: u16 = 354;
/// The reply to all else. After the mail it means that the server is responsible for it now.
const DONE: u16 = 250;

/// How long an unasked reply is waited for. What was read before TLS needs no time.
const UNASKED: Duration = Duration::from_millis(1);

/// A connection on which mails are sent one by one.
pub(super) struct Connection(SmtpConnection);

/// Something that the server did not take, or did not answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Whether it said that it never will (5xx).
    pub(super) is_for_good: bool,
    /// Whether it is about a login, a limit or the policy of the server, and not about the address or the mail.
    pub(super) is_of_policy: bool,
    /// The reason, in words.
    pub(super) said: String,
}

impl Connection {
    /// Connects, changes to TLS where that is asked for, and logs in.
    pub(super) fn open(way: &MailWay) -> Result<Self, String> {
        let MailWay { server, security, tls, login, timeout } = way;
        let name = own_name();
        let place = (server.host.as_str(), server.port);
        let first = (*security == Security::Tls).then_some(tls);
        let opened = SmtpConnection::connect(place, Some(*timeout), &name, first, None);
        let mut open = opened.map_err(|error| in_words(&error))?;
        if *security == Security::StartTls {
            if !open.can_starttls() {
                return Err("it does not offer STARTTLS, and mail would be read on its way; use smtps://, or write plaintext = true".to_owned());
            }
            open.starttls(tls, &name).map_err(|error| in_words(&error))?;
            refuse_unasked(&mut open, *timeout)?;
        }
        if let Some(login) = login {
            let done = open.auth(&[Mechanism::Plain, Mechanism::Login], login);
            done.map_err(|error| format!("the login was refused: {}", in_words(&error)))?;
        }
        Ok(Self(open))
    }

    pub(super) fn sender(&mut self, from: &MailAddress) -> Result<(), Refusal> {
        self.command(Mail::new(Some(from.address().clone()), Vec::new()), DONE)
    }

    pub(super) fn recipient(&mut self, to: &MailAddress) -> Result<(), Refusal> {
        self.command(Rcpt::new(to.address().clone(), Vec::new()), DONE)
    }

    /// Announces the mail.
    pub(super) fn start(&mut self) -> Result<(), Refusal> {
        self.command(Data, START)
    }

    /// Sends the mail. `Ok`: the server has it.
    pub(super) fn content(&mut self, text: &[u8]) -> Result<(), Refusal> {
        let reply = self.0.message(text).map_err(Refusal::of)?;
        expected(reply.code().into(), DONE)
    }

    fn command(&mut self, command: impl std::fmt::Display, code: u16) -> Result<(), Refusal> {
        let reply = self.0.command(command).map_err(Refusal::of)?;
        expected(reply.code().into(), code)
    }
}

/// Refuses a connection that has a reply where nothing was asked. lettre keeps what it has read before TLS, so whoever is
/// in between could have put the replies to a whole mail there.
fn refuse_unasked(open: &mut SmtpConnection, timeout: Duration) -> Result<(), String> {
    let limit = |open: &mut SmtpConnection, timeout| open.set_timeout(Some(timeout)).map_err(|error| error.to_string());
    limit(open, UNASKED)?;
    let reply = open.read_response();
    limit(open, timeout)?;
    match reply {
        Err(error) if is_over_time(&error) => Ok(()),
        _ => Err("it replied to commands before they were sent; somebody may have changed what it says".to_owned()),
    }
}

/// Checks the very code: a reply that belongs to another command must not pass for the one that takes the mail.
fn expected(code: u16, wanted: u16) -> Result<(), Refusal> {
    match code == wanted || (wanted == DONE && code == 251) {
        true => Ok(()),
        false => Err(Refusal {
            is_for_good: false,
            is_of_policy: false,
            said: format!("it answered {code} where {wanted} was due"),
        }),
    }
}

impl Refusal {
    fn of(error: Error) -> Self {
        let said = in_words(&error);
        let code = error.status().map_or(0, u16::from);
        let is_of_policy =
            matches!(code, 503 | 530 | 534 | 535 | 538) || enhanced(&error).is_some_and(|of| is_of_policy(&of));
        Self { is_for_good: error.is_permanent(), is_of_policy, said }
    }
}

/// Whether an enhanced status code is of the server's policy or of a limit on all mail (RFC 3463, X.7 and X.4.5).
fn is_of_policy(enhanced: &str) -> bool {
    enhanced.starts_with("5.7.") || enhanced == "5.4.5"
}

/// The enhanced status code of a reply (RFC 3463), such as `5.1.1`.
fn enhanced(error: &Error) -> Option<String> {
    let said = error.source()?.to_string();
    let first = said.split_whitespace().next()?;
    let is_code = first.split('.').count() == 3 && first.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.');
    is_code.then(|| first.to_owned())
}

/// The fault, as the server or the system says it.
fn in_words(error: &Error) -> String {
    let why = error.source().map(ToString::to_string).unwrap_or_default();
    match error.status() {
        Some(code) => format!("it answered {code} {}", crate::record::excerpt(&why, 300)),
        None if is_over_time(error) => "it did not answer in time".to_owned(),
        None if why.is_empty() => error.to_string(),
        None => why,
    }
}

/// Whether the system gave up waiting. A socket with a longest time says that it would block.
fn is_over_time(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(next) = cause {
        let kind = next.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        if matches!(kind, Some(ErrorKind::WouldBlock | ErrorKind::TimedOut)) {
            return true;
        }
        cause = next.source();
    }
    false
}

/// The name of this machine, if it is one that a server can believe.
fn own_name() -> ClientId {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy().into_owned();
    let is_plain = |sign: u8| sign.is_ascii_alphanumeric() || sign == b'.' || sign == b'-';
    match name.contains('.') && name.bytes().all(is_plain) {
        true => ClientId::Domain(name),
        false => ClientId::default(),
    }
}

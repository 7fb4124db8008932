//! Addresses of people and of mail servers.

use lettre::Address;
use lettre::message::Mailbox;
use lettre::transport::smtp::client::{Certificate, CertificateStore, TlsParameters};
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;

/// The address of a person, with a name if there is one: `Ada <ada@example.org>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress(Mailbox);

/// A server that takes mail: `smtp://HOST:PORT` or `smtps://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailServer {
    /// Its name, or its address without brackets.
    pub host: String,
    /// Its TCP port.
    pub port: u16,
    /// Whether TLS begins with the connection.
    pub is_tls: bool,
}

/// How a connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// TLS begins with the connection.
    Tls,
    /// Nothing is sent before the connection has changed to TLS.
    StartTls,
    /// Not at all: to this machine, or because the operator allows it.
    None,
}

impl MailAddress {
    /// The address with its name, as headers have it.
    pub fn mailbox(&self) -> &Mailbox {
        &self.0
    }

    /// The address alone, as servers are given it.
    pub fn address(&self) -> &Address {
        &self.0.email
    }

    /// The part behind the `@`.
    pub fn domain(&self) -> &str {
        self.0.email.domain()
    }
}

impl FromStr for MailAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mailbox: Mailbox = text.parse().map_err(|error| format!("{text:?} is no address of mail: {error}"))?;
        // Others need a server with SMTPUTF8 all the way.
        let address: &str = mailbox.email.as_ref();
        if !address.is_ascii() {
            return Err(format!("{text:?} is not ASCII; write the domain as xn--…"));
        }
        Ok(Self(mailbox))
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.email.fmt(formatter)
    }
}

impl MailServer {
    /// How connections to it are protected. `allows_plaintext`: the operator lets mail go to another machine as it is.
    pub fn security(&self, allows_plaintext: bool) -> Security {
        match (self.is_tls, self.is_here() || allows_plaintext) {
            (true, _) => Security::Tls,
            (false, true) => Security::None,
            (false, false) => Security::StartTls,
        }
    }

    /// How it proves who it is: by the authorities of Mozilla, or instead of them by those of a PEM file.
    ///
    /// # Errors
    /// Says what is wrong with the file, beginning with its name.
    pub fn tls(&self, file: Option<&Path>) -> Result<TlsParameters, String> {
        let parameters = TlsParameters::builder(self.host.clone());
        let Some(file) = file else {
            let parameters = parameters.certificate_store(CertificateStore::WebpkiRoots);
            return parameters.build_rustls().map_err(|error| error.to_string());
        };
        let wrong = |problem: String| format!("{}: {problem}; give a PEM file with certificates", file.display());
        let pem = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
        let certificates = Certificate::from_pem(&pem).map_err(|error| wrong(error.to_string()))?;
        let parameters = parameters.certificate_store(CertificateStore::None).add_root_certificate(certificates);
        parameters.build_rustls().map_err(|error| wrong(error.to_string()))
    }

    /// Whether it is on this machine.
    pub fn is_here(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for MailServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Before its text is quoted anywhere: a password may be in it.
        if text.contains('@') {
            return Err("the address of the server must not hold a login; write user and password_file".to_owned());
        }
        let wrong = || {
            format!(
                "{text:?} is no mail server; write smtp://HOST or smtps://HOST, with :PORT behind it if it is not usual"
            )
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let (is_tls, usual) = match scheme {
            "smtp" => (false, 25),
            "smtps" => (true, 465),
            _ => return Err(wrong()),
        };
        let rest = rest.trim_end_matches('/');
        let (host, port) = match rest.rsplit_once(':').filter(|_| !rest.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?),
            None => (rest, usual),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_plain = |sign: u8| sign.is_ascii_alphanumeric() || b".-:_".contains(&sign);
        if host.is_empty() || !host.bytes().all(is_plain) {
            return Err(wrong());
        }
        Ok(Self { host: host.to_ascii_lowercase(), port, is_tls })
    }
}

impl fmt::Display for MailServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "smtps" } else { "smtp" };
        match self.host.contains(':') {
            true => write!(formatter, "{scheme}://[{}]:{}", self.host, self.port),
            false => write!(formatter, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_addresses_are_read_and_others_refused() {
        let server = |text: &str| text.parse::<MailServer>();
        assert_eq!(
            server("smtp://Mail.example.org").map(|it| it.to_string()).as_deref(),
            Ok("smtp://mail.example.org:25")
        );
        assert_eq!(server("smtps://[::1]:2465/").map(|it| it.to_string()).as_deref(), Ok("smtps://[::1]:2465"));
        for wrong in
            ["mail.example.org", "http://a.test", "smtp://", "smtp://a.test:0", "smtp://a b", "smtp://me:pw@a.test"]
        {
            let problem = server(wrong).expect_err(wrong);
            assert!(problem.contains("write"), "{problem}");
        }
        for secret in ["me:tulip@a.test", "smtp:/me:tulip@a.test", "http://me:tulip@a.test", "smtp://me:tulip@a b"] {
            let problem = server(secret).expect_err(secret);
            assert!(!problem.contains("tulip") && problem.contains("password_file"), "{problem}");
        }
        let person = |text: &str| text.parse::<MailAddress>();
        assert_eq!(person("Ada <ada@example.org>").map(|it| it.to_string()).as_deref(), Ok("ada@example.org"));
        for wrong in ["", "ada", "ada@example.org\r\nBcc: x@y.z", "ada@bücher.example", "a@b.c, d@e.f"] {
            assert!(person(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn mail_goes_to_other_machines_with_tls_unless_the_operator_allows_otherwise() {
        let security = |text: &str, allowed| text.parse::<MailServer>().expect("it is one").security(allowed);
        for here in ["smtp://localhost:2525", "smtp://127.0.0.1", "smtp://[::1]"] {
            assert_eq!(security(here, false), Security::None);
        }
        assert_eq!(security("smtp://mail.example.org", false), Security::StartTls);
        assert_eq!(security("smtp://mail.example.org", true), Security::None);
        assert_eq!(security("smtps://localhost", true), Security::Tls);
    }
}

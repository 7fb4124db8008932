//! Values that are secrets or may contain one.

use super::{Form, Secrets, quote};
use crate::raw::Raw;
use crate::values::{Credentials, Proxy, Secret};
use page::CanonicalUrl;

/// A proxy. Messages never quote it, because it may contain a password.
pub(crate) struct Through;

impl Form for Through {
    type Value = Proxy;

    fn expected(&self) -> String {
        "a proxy's address, such as \"http://10.0.0.1:3128\" or \"http://user:password@proxy.example.org:3128\""
            .to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Proxy, String> {
        raw.text().and_then(Proxy::parse).ok_or_else(|| "is not the address of an HTTP proxy with its port".to_owned())
    }

    fn write(&self, value: &Proxy, secrets: Secrets) -> Option<String> {
        Some(quote(&value.with_password(|password| secrets.print(password))))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, value: &Proxy) -> bool {
        value.credentials.is_some()
    }
}

/// A user name and a password. Messages never quote it.
pub(crate) struct Password;

impl Form for Password {
    type Value = Credentials;

    fn expected(&self) -> String {
        "a name and a password, such as \"user:password\"".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Credentials, String> {
        raw.text().and_then(Credentials::parse).ok_or_else(|| "is not of the form name:password".to_owned())
    }

    fn write(&self, value: &Credentials, secrets: Secrets) -> Option<String> {
        Some(quote(&value.with_password(|password| secrets.print(password))))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, _: &Credentials) -> bool {
        true
    }
}

/// A secret without spaces, between two lengths in bytes. Messages never quote it.
pub(crate) struct Hidden(pub(crate) usize, pub(crate) usize);

impl Form for Hidden {
    type Value = Secret;

    fn expected(&self) -> String {
        format!(
            "{} to {} letters, digits and signs without spaces, preferably in an environment variable",
            self.0, self.1
        )
    }

    fn read(&self, raw: &Raw) -> Result<Secret, String> {
        let fault = || format!("is not a secret of {} to {} letters, digits and signs", self.0, self.1);
        raw.text().and_then(|text| Secret::parse(text, self.0..=self.1)).ok_or_else(fault)
    }

    fn write(&self, value: &Secret, secrets: Secrets) -> Option<String> {
        Some(quote(secrets.print(value.reveal())))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, _: &Secret) -> bool {
        true
    }
}

/// A password issued by others: any text on one line. Messages never quote it.
pub(crate) struct Phrase;

impl Form for Phrase {
    type Value = Secret;

    fn expected(&self) -> String {
        "a password, preferably in an environment variable or a file".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Secret, String> {
        raw.text().and_then(Secret::parse_phrase).ok_or_else(|| "is not a text of one line".to_owned())
    }

    fn write(&self, value: &Secret, secrets: Secrets) -> Option<String> {
        Some(quote(secrets.print(value.reveal())))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, _: &Secret) -> bool {
        true
    }
}

/// The address of a feed. Messages never quote it, because its query may contain a token.
pub(crate) struct Feed;

impl Form for Feed {
    type Value = CanonicalUrl;

    fn expected(&self) -> String {
        "the address of a feed, such as \"https://example.org/feed.xml\"".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<CanonicalUrl, String> {
        let fault = || "is not the address of a feed".to_owned();
        raw.text().and_then(|text| CanonicalUrl::parse(text).ok()).ok_or_else(fault)
    }

    fn write(&self, value: &CanonicalUrl, secrets: Secrets) -> Option<String> {
        let query = value.query().map(|query| format!("?{}", secrets.print(query))).unwrap_or_default();
        Some(quote(&format!("{}{}{query}", value.origin(), value.path())))
    }

    fn is_secret(&self) -> bool {
        true
    }

    fn hides(&self, value: &CanonicalUrl) -> bool {
        value.query().is_some()
    }
}

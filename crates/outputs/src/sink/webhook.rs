//! Delivers a change to a web server, by a POST that it answers with 2xx.

use super::signature::Signer;
use super::{Parcel, Receiver, Undelivered};
use crate::encoder::template::Template;
use crate::web_client::{pass_over, retry_after, said};
use daemon::web_client::agent;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use ureq::http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use ureq::tls::RootCerts;
use ureq::{Agent, Body};

/// The template whose receiver is a room of a Matrix server.
pub const MATRIX: &str = "matrix";

/// A web server that receives changes.
pub struct Webhook {
    target: Target,
    agent: Agent,
    timeout: Duration,
    headers: Vec<(HeaderName, HeaderValue)>,
    signer: Option<Signer>,
    template: Option<Template>,
}

/// Where changes go.
pub struct Target {
    uri: Uri,
    method: Method,
}

/// How changes get there.
pub struct Manner {
    pub timeout: Duration,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub signer: Option<Signer>,
    pub template: Option<Template>,
    pub roots: RootCerts,
}

impl Target {
    /// Reads an address. `to_room`: it is the address of a Matrix room, which takes each message by PUT, under a name
    /// of its own.
    ///
    /// # Errors
    /// Says what is wrong with the address, and does not quote it.
    pub fn new(address: &str, to_room: bool) -> Result<Self, String> {
        // An address may be a secret (those of chat systems are), so none is quoted.
        let wrong = |problem: &str| problem.to_owned();
        let address = address.trim();
        if !["https://", "http://"].iter().any(|scheme| address.starts_with(scheme)) {
            return Err(wrong("the URL must begin with https:// or http://"));
        }
        let uri: Uri = address.parse().map_err(|error| wrong(&format!("this is no URL: {error}")))?;
        match uri.authority() {
            Some(authority) if authority.as_str().contains('@') => Err(wrong(
                "the URL must not hold a user name or password; send them as a line Authorization: … of --header-file (header_file in the settings)",
            )),
            Some(authority) if !authority.host().is_empty() => {
                let method = if to_room { Method::PUT } else { Method::POST };
                Ok(Self { uri, method })
            }
            _ => Err(wrong("the URL has no host")),
        }
    }

    /// The part of the address that is no secret.
    pub fn shown(&self) -> String {
        let (scheme, authority) = (self.uri.scheme_str(), self.uri.authority());
        format!("{}://{}", scheme.unwrap_or_default(), authority.map_or("", |authority| authority.as_str()))
    }

    fn of(&self, parcel: &Parcel<'_>) -> String {
        if self.method == Method::POST {
            return self.uri.to_string();
        }
        // The server takes a message of the same name once (Matrix, section "Send a message event to the room").
        let name: String = parcel
            .id()
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
            .collect();
        let (path, query) = (self.uri.path().trim_end_matches('/'), self.uri.query());
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{path}/{name}{query}", self.shown())
    }
}

impl Webhook {
    pub fn new(target: Target, manner: Manner) -> Self {
        let Manner { timeout, headers, signer, template, roots } = manner;
        Self { target, agent: agent(roots, timeout, timeout), timeout, headers, signer, template }
    }

    fn request(&self, parcel: &Parcel<'_>) -> Result<Request<Vec<u8>>, Undelivered> {
        let (body, content_type) = match (&self.template, parcel) {
            (Some(template), Parcel::Change(change)) => {
                let body = template
                    .render(change)
                    .map_err(|problem| Undelivered::Refused(format!("the template: {problem}")))?;
                (body.into_bytes(), template.content_type())
            }
            (None, _) | (_, Parcel::Digest(_)) => (parcel.json(), "application/json"),
        };
        let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut request = Request::builder()
            .method(self.target.method.clone())
            .uri(self.target.of(parcel))
            .header("content-type", content_type)
            .header("webhook-id", parcel.id())
            .header("webhook-timestamp", timestamp);
        if let Some(signer) = &self.signer {
            request = request.header("webhook-signature", signer.sign(parcel.id(), timestamp, &body));
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(body).map_err(|error| Undelivered::Wrong(format!("the address: {error}")))
    }
}

impl Receiver for Webhook {
    fn deliver(&mut self, parcel: &Parcel<'_>, _attempt: u32) -> Result<(), Undelivered> {
        let response = self.agent.run(self.request(parcel)?);
        let shown = self.target.shown();
        match response {
            Ok(response) => judged(&shown, response),
            Err(ureq::Error::Timeout(_)) => {
                let timeout = humantime::format_duration(self.timeout);
                Err(Undelivered::later(format!("{shown} did not answer within {timeout}")))
            }
            Err(error) => Err(Undelivered::later(format!("{shown}: {error}"))),
        }
    }
}

/// Judges an answer: the change is delivered, refused for good, or to be sent again later.
fn judged(shown: &str, mut response: Response<Body>) -> Result<(), Undelivered> {
    let status = response.status().as_u16();
    let after = retry_after(&response);
    match status {
        200..=299 => {
            pass_over(&mut response);
            Ok(())
        }
        300..=399 => Err(Undelivered::Refused(format!(
            "{shown} answered {status}: redirects are not followed; give the address that it leads to"
        ))),
        // Answers about the request itself. Any other may be about the state of the server.
        400 | 405 | 410 | 411 | 413..=417 | 422 | 431 | 501 | 505 => {
            Err(Undelivered::Refused(format!("{shown} refused it with {status}{}", said(&mut response))))
        }
        _ => {
            let problem = format!("{shown} answered {status}{}", said(&mut response));
            Err(Undelivered::Later { problem, after })
        }
    }
}

/// The lines `Name: value` of a file. Their values are secrets and are not quoted.
///
/// # Errors
/// Says what is wrong, beginning with the name of the file.
pub fn headers(file: &Path) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let header = |(number, line): (usize, &str)| {
        let wrong = |problem: &str| format!("{shown}:{number}: {problem}");
        let (name, value) = line.split_once(':').ok_or_else(|| wrong("this is not Name: value"))?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| wrong("this is no name of a header"))?;
        if ["host", "content-length", "content-type", "transfer-encoding"].contains(&name.as_str())
            || name.as_str().starts_with("webhook-")
        {
            return Err(wrong("recrawl sets this header itself"));
        }
        let mut value = HeaderValue::try_from(value.trim()).map_err(|_| wrong("this is no value of a header"))?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    lines.map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::PublishedChange;

    #[test]
    fn an_address_is_checked_and_never_quoted() {
        let problem = |address| match Target::new(address, false) {
            Err(problem) => problem,
            Ok(_) => panic!("{address} was taken"),
        };
        for (address, part) in [
            ("ftp://host/secret", "must begin with https://"),
            ("host/secret", "must begin with https://"),
            ("/secret", "must begin with https://"),
            ("https://me:secret@host/", "must not hold a user name"),
            ("https:///secret", "this is no URL"),
            ("https://ho st/secret", "this is no URL"),
        ] {
            let problem = problem(address);
            assert!(problem.contains(part) && !problem.contains("secret"), "{address}: {problem}");
        }
        let target = Target::new("https://hooks.test:8443/services/secret?key=secret", false).expect("it is one");
        assert_eq!(target.shown(), "https://hooks.test:8443");
    }

    #[test]
    fn a_room_takes_each_message_under_its_own_name() {
        let [change, _] = PublishedChange::examples();
        let target = Target::new("https://m.test/rooms/!a:m.test/send/m.room.message/?x=1", true).expect("it is one");
        assert_eq!(
            target.of(&Parcel::Change(&change)),
            "https://m.test/rooms/!a:m.test/send/m.room.message/example-0-1-0?x=1"
        );
    }
}

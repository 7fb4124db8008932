//! Registers the schema of changes at a schema registry with Confluent's API.

use crate::web_client::one_line;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use daemon::web_client::{agent, authorities};
use messages::{ChangeForm, Message, PageChange, topics};
use serde_json::{Value, json};
use settings::{OutputFormat, Settings};
use std::time::Duration;
use stream::{ErrorKind, LogError};
use topology::LogNames;
use ureq::http::{HeaderValue, Request};

/// Longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Longest answer that is read.
const MAX_ANSWER: u64 = 4 << 20;
const MEDIA_TYPE: &str = "application/vnd.schemaregistry.v1+json";
/// Codes of the registry: there is no such subject, or no such schema below it.
const NOT_THERE: [i64; 2] = [40_401, 40_403];

/// The form in which the settings want changes. Registers their schema if that form needs it.
///
/// A registry that does not answer, or has trouble of its own, is to be asked again ([`ErrorKind::Retry`]). Everything
/// else is for the operator ([`ErrorKind::Stop`]).
pub fn change_form(settings: &Settings, names: &LogNames) -> Result<ChangeForm, LogError> {
    match settings.output.format {
        OutputFormat::Avro => Ok(ChangeForm::Avro),
        OutputFormat::Json => Ok(ChangeForm::Json),
        OutputFormat::Confluent => {
            let subject = format!("{}-value", names.topic(topics::PAGE_CHANGES));
            let schema_id = Registry::new(settings)?.id_of(&subject, PageChange::schema_record().json)?;
            tracing::info!(subject, schema_id, "the schema of changes is registered");
            Ok(ChangeForm::Confluent { schema_id })
        }
    }
}

struct Registry {
    address: String,
    agent: ureq::Agent,
    login: Option<HeaderValue>,
}

/// An answer: the status, and the body as JSON, or as it is.
struct Answer {
    status: u16,
    body: Value,
}

impl Registry {
    fn new(settings: &Settings) -> Result<Self, LogError> {
        let output = &settings.output;
        let address = output.registry.as_deref().unwrap_or_default().trim_end_matches('/').to_owned();
        let roots = authorities(output.registry_ca_file.as_deref());
        let roots = roots.map_err(|problem| stop(format!("output.registry_ca_file {problem}")))?;
        Ok(Self { address, agent: agent(roots, TIMEOUT, TIMEOUT), login: login(settings)? })
    }

    /// The id of a schema under a subject. Looked up first, so that a registry where others register schemas need only
    /// be readable.
    fn id_of(&self, subject: &str, schema: &str) -> Result<u32, LogError> {
        let found = self.ask(&format!("/subjects/{subject}"), schema)?;
        if found.status == 200 {
            return self.id_in(&found);
        }
        if found.status != 404 {
            return Err(self.problem(&found, subject));
        }
        if !found.body["error_code"].as_i64().is_some_and(|code| NOT_THERE.contains(&code)) {
            let said = self.said(&found);
            return Err(stop(format!(
                "{said}; is output.registry the address of Confluent's API? Apicurio's ends with /apis/ccompat/v7"
            )));
        }
        let registered = self.ask(&format!("/subjects/{subject}/versions"), schema)?;
        match registered.status {
            200 => self.id_in(&registered),
            _ => Err(self.problem(&registered, subject)),
        }
    }

    fn ask(&self, path: &str, schema: &str) -> Result<Answer, LogError> {
        let body = json!({ "schema": schema, "schemaType": "AVRO" }).to_string();
        let mut request = Request::post(format!("{}{path}", self.address))
            .header("content-type", MEDIA_TYPE)
            .header("accept", MEDIA_TYPE);
        if let Some(login) = &self.login {
            request = request.header("authorization", login);
        }
        let request = request.body(body).map_err(|error| stop(format!("output.registry: {error}")))?;
        let away = |error: ureq::Error| {
            let problem = format!(
                "the schema registry {} does not answer: {error}; see that it runs and that output.registry is its address",
                self.address
            );
            LogError::new(ErrorKind::Retry, problem)
        };
        let mut response = self.agent.run(request).map_err(away)?;
        let status = response.status().as_u16();
        let text =
            response.body_mut().with_config().limit(MAX_ANSWER).lossy_utf8(true).read_to_string().map_err(away)?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Answer { status, body })
    }

    fn id_in(&self, answer: &Answer) -> Result<u32, LogError> {
        let id = answer.body["id"].as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| stop(format!("{}; it names no id of the schema", self.said(answer))))
    }

    /// The error for an answer that is not the wanted one, with the remedy.
    fn problem(&self, answer: &Answer, subject: &str) -> LogError {
        let said = self.said(answer);
        match answer.status {
            408 | 429 | 500..=599 => LogError::new(ErrorKind::Retry, said),
            401 | 403 => stop(format!(
                "{said}; give output.registry_username and output.registry_password_file of a user who may read {subject}, \
                 and register schemas there unless somebody else does"
            )),
            409 => stop(format!(
                "{said}; the schema of changes of this version does not fit those of {subject}: set the compatibility of \
                 this subject to NONE until it is registered, or delete the subject"
            )),
            300..=399 => stop(format!("{said}; redirects are not followed: give the address that it leads to")),
            _ => stop(said),
        }
    }

    fn said(&self, answer: &Answer) -> String {
        let text = match (&answer.body["message"], &answer.body) {
            (Value::String(message), _) | (_, Value::String(message)) => message.clone(),
            (_, body) => body.to_string(),
        };
        let text: String = text.chars().take(300).collect();
        format!("the schema registry {} answered {}{}", self.address, answer.status, one_line(&text))
    }
}

/// The header of Basic authentication (RFC 7617).
fn login(settings: &Settings) -> Result<Option<HeaderValue>, LogError> {
    let output = &settings.output;
    let Some(user) = &output.registry_username else { return Ok(None) };
    let password = match (&output.registry_password, &output.registry_password_file) {
        (Some(password), _) => password.reveal().to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| stop(format!("output.registry_password_file: cannot read {}: {error}", file.display())))?
            .trim_end_matches(['\r', '\n'])
            .to_owned(),
        (None, None) => return Ok(None),
    };
    let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
    let mut value = HeaderValue::try_from(format!("Basic {pair}")).expect("base64 is a header value");
    value.set_sensitive(true);
    Ok(Some(value))
}

fn stop(problem: String) -> LogError {
    LogError::new(ErrorKind::Stop, problem)
}

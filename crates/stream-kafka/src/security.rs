//! Encryption and authentication of connections, as librdkafka properties.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use stream::{ErrorKind, LogError};

/// Protection of connections to brokers. The default has neither encryption nor authentication.
#[derive(Clone, Default)]
pub struct Security {
    /// TLS, if connections are encrypted.
    pub tls: Option<Tls>,
    /// SASL login, if brokers require one.
    pub sasl: Option<Sasl>,
}

/// Certificates of the brokers and of this client. All files are PEM.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Certificate authorities trusted for brokers; `None` for those the system trusts.
    pub ca_file: Option<PathBuf>,
    /// Client certificate.
    pub certificate_file: Option<PathBuf>,
    /// Private key of the client certificate.
    pub key_file: Option<PathBuf>,
    /// File with the password of the private key.
    pub key_password_file: Option<PathBuf>,
}

/// A SASL login.
#[derive(Clone)]
pub struct Sasl {
    /// SASL mechanism.
    pub mechanism: Mechanism,
    /// User name, or client id.
    pub username: String,
    /// Password, or client secret.
    pub password: PasswordSource,
}

/// A SASL mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// PLAIN.
    Plain,
    /// SCRAM-SHA-256.
    ScramSha256,
    /// SCRAM-SHA-512.
    ScramSha512,
    /// OAUTHBEARER with tokens obtained by client credentials (OpenID Connect).
    OAuthBearer {
        /// Token endpoint of the provider.
        token_url: String,
        /// Scope to request, if any.
        scope: Option<String>,
    },
}

/// Source of a password.
#[derive(Clone)]
pub enum PasswordSource {
    /// The password itself.
    Value(String),
    /// A file, with or without a newline at its end.
    File(PathBuf),
}

/// librdkafka properties derived from settings, each with the name of its setting.
const SETTINGS: &[(&str, &str)] = &[
    ("security.protocol", "kafka.security_protocol"),
    ("sasl.mechanisms", "kafka.sasl_mechanism"),
    ("sasl.username", "kafka.username"),
    ("sasl.password", "kafka.password"),
    ("sasl.oauthbearer.client.id", "kafka.username"),
    ("sasl.oauthbearer.client.secret", "kafka.password"),
    ("sasl.oauthbearer.token.endpoint.url", "kafka.oauth_token_url"),
    ("sasl.oauthbearer.scope", "kafka.oauth_scope"),
    ("ssl.ca.location", "kafka.ca_file"),
    ("ssl.certificate.location", "kafka.certificate_file"),
    ("ssl.key.location", "kafka.key_file"),
    ("ssl.key.password", "kafka.key_password_file"),
];

/// Replaces librdkafka's property names in a text with the names of our settings.
pub(crate) fn in_our_words(text: &str) -> String {
    SETTINGS.iter().fold(text.to_owned(), |text, (property, setting)| text.replace(property, setting))
}

/// Whether the value of a property must not appear in messages.
pub(crate) fn is_secret(property: &str) -> bool {
    ["password", "passphrase", "secret", "key.pem", "oauthbearer.config"].iter().any(|word| property.contains(word))
}

impl Security {
    /// Whether logins need tokens from a provider, which may be late.
    pub(crate) fn uses_tokens(&self) -> bool {
        self.sasl.as_ref().is_some_and(|sasl| matches!(sasl.mechanism, Mechanism::OAuthBearer { .. }))
    }

    /// The corresponding properties. Reads the password, and checks that librdkafka can read the other files, which it
    /// does for each client it creates.
    pub(crate) fn properties(&self) -> Result<BTreeMap<String, String>, LogError> {
        let mut properties = BTreeMap::new();
        let protocol = match (&self.tls, &self.sasl) {
            (None, None) => return Ok(properties),
            (Some(_), None) => "ssl",
            (None, Some(_)) => "sasl_plaintext",
            (Some(_), Some(_)) => "sasl_ssl",
        };
        let mut set = |name: &str, value: &str| {
            properties.insert(name.to_owned(), value.to_owned());
        };
        set("security.protocol", protocol);
        if let Some(tls) = &self.tls {
            for (name, setting, file) in [
                ("ssl.ca.location", "kafka.ca_file", &tls.ca_file),
                ("ssl.certificate.location", "kafka.certificate_file", &tls.certificate_file),
                ("ssl.key.location", "kafka.key_file", &tls.key_file),
            ] {
                if let Some(file) = file {
                    File::open(file).map_err(|error| unreadable(setting, file, &error))?;
                    set(name, &file.to_string_lossy());
                }
            }
            if let Some(file) = &tls.key_password_file {
                set("ssl.key.password", &secret_in("kafka.key_password_file", file)?);
            }
        }
        let Some(sasl) = &self.sasl else { return Ok(properties) };
        let password = match &sasl.password {
            PasswordSource::Value(password) => password.clone(),
            PasswordSource::File(file) => secret_in("kafka.password_file", file)?,
        };
        set("sasl.mechanisms", sasl.mechanism.name());
        match &sasl.mechanism {
            Mechanism::Plain | Mechanism::ScramSha256 | Mechanism::ScramSha512 => {
                set("sasl.username", &sasl.username);
                set("sasl.password", &password);
            }
            Mechanism::OAuthBearer { token_url, scope } => {
                set("sasl.oauthbearer.method", "oidc");
                set("sasl.oauthbearer.token.endpoint.url", token_url);
                set("sasl.oauthbearer.client.id", &sasl.username);
                set("sasl.oauthbearer.client.secret", &password);
                if let Some(scope) = scope {
                    set("sasl.oauthbearer.scope", scope);
                }
            }
        }
        Ok(properties)
    }
}

impl Mechanism {
    /// Kafka's name of the mechanism.
    fn name(&self) -> &'static str {
        match self {
            Mechanism::Plain => "PLAIN",
            Mechanism::ScramSha256 => "SCRAM-SHA-256",
            Mechanism::ScramSha512 => "SCRAM-SHA-512",
            Mechanism::OAuthBearer { .. } => "OAUTHBEARER",
        }
    }
}

fn secret_in(setting: &str, file: &Path) -> Result<String, LogError> {
    let text = fs::read_to_string(file).map_err(|error| unreadable(setting, file, &error))?;
    let secret = text.trim_end_matches(['\r', '\n']);
    if secret.is_empty() {
        let message = format!("{setting}: {} is empty; write the password into it", file.display());
        return Err(LogError::new(ErrorKind::Stop, message));
    }
    Ok(secret.to_owned())
}

fn unreadable(setting: &str, file: &Path, error: &std::io::Error) -> LogError {
    let message = format!(
        "{setting}: cannot read {}: {error}; name a file that this process may read, or leave {setting} out",
        file.display()
    );
    LogError::new(ErrorKind::Stop, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(mechanism: Mechanism, password: PasswordSource) -> Security {
        Security { tls: None, sasl: Some(Sasl { mechanism, username: "me".to_owned(), password }) }
    }

    #[test]
    fn without_tls_and_login_nothing_is_said() {
        assert_eq!(Security::default().properties().unwrap(), BTreeMap::new());
    }

    #[test]
    fn a_password_is_read_from_its_file_without_the_newline() {
        let directory = std::env::temp_dir().join(format!("recrawl-security-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("password");
        fs::write(&file, "a word \r\n").unwrap();
        let properties = login(Mechanism::Plain, PasswordSource::File(file.clone())).properties().unwrap();
        assert_eq!((&*properties["sasl.password"], &*properties["security.protocol"]), ("a word ", "sasl_plaintext"));
        fs::write(&file, "\n").unwrap();
        let error = login(Mechanism::Plain, PasswordSource::File(file)).properties().unwrap_err();
        assert!(error.message.starts_with("kafka.password_file: ") && error.message.contains("is empty"), "{error}");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_file_that_is_not_there_is_named_with_its_setting() {
        let file = PathBuf::from("/nowhere/at/all.pem");
        let nowhere = Some(file.clone());
        let check = |tls: Tls, setting: &str| {
            let error = Security { tls: Some(tls), sasl: None }.properties().unwrap_err();
            assert_eq!(error.kind, ErrorKind::Stop);
            assert!(
                error.message.starts_with(&format!("{setting}: cannot read /nowhere/at/all.pem: No such")),
                "{error}"
            );
        };
        check(Tls { ca_file: nowhere.clone(), ..Tls::default() }, "kafka.ca_file");
        check(Tls { certificate_file: nowhere.clone(), ..Tls::default() }, "kafka.certificate_file");
        check(Tls { key_file: nowhere.clone(), ..Tls::default() }, "kafka.key_file");
        check(Tls { key_password_file: nowhere, ..Tls::default() }, "kafka.key_password_file");
        let error = login(Mechanism::Plain, PasswordSource::File(file)).properties().unwrap_err();
        assert!(error.message.starts_with("kafka.password_file: cannot read /nowhere/at/all.pem"), "{error}");
    }

    #[test]
    fn tokens_are_asked_for_with_the_user_as_client() {
        let mechanism =
            Mechanism::OAuthBearer { token_url: "https://id/token".to_owned(), scope: Some("s".to_owned()) };
        let security = login(mechanism, PasswordSource::Value("x".to_owned()));
        let properties = security.properties().unwrap();
        assert!(security.uses_tokens() && !properties.contains_key("sasl.username"));
        assert_eq!(properties["sasl.mechanisms"], "OAUTHBEARER");
        assert_eq!(properties["sasl.oauthbearer.method"], "oidc");
        assert_eq!(properties["sasl.oauthbearer.client.id"], "me");
        assert_eq!(properties["sasl.oauthbearer.client.secret"], "x");
        assert_eq!(properties["sasl.oauthbearer.scope"], "s");
    }
}

//! Encryption and authentication of connections, as librdkafka properties.

use settings::{Kafka, SaslMechanism, SecurityProtocol};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use stream::{ErrorKind, LogError};

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

/// Whether logins need tokens from a provider, which may be late.
pub(crate) fn uses_tokens(kafka: &Kafka) -> bool {
    kafka.security_protocol.has_sasl() && kafka.sasl_mechanism == Some(SaslMechanism::OAuthBearer)
}

/// The properties of encryption and login. Reads the password, and checks that librdkafka can read the other files, which it
/// does for each client it creates.
pub(crate) fn security_properties(kafka: &Kafka) -> Result<BTreeMap<String, String>, LogError> {
    let mut properties = BTreeMap::new();
    if kafka.security_protocol == SecurityProtocol::Plaintext {
        return Ok(properties);
    }
    let mut set = |name: &str, value: &str| {
        properties.insert(name.to_owned(), value.to_owned());
    };
    set("security.protocol", kafka.security_protocol.name());
    if kafka.security_protocol.has_tls() {
        for (name, setting, file) in [
            ("ssl.ca.location", "kafka.ca_file", &kafka.ca_file),
            ("ssl.certificate.location", "kafka.certificate_file", &kafka.certificate_file),
            ("ssl.key.location", "kafka.key_file", &kafka.key_file),
        ] {
            if let Some(file) = file {
                File::open(file).map_err(|error| unreadable(setting, file, &error))?;
                set(name, &file.to_string_lossy());
            }
        }
        if let Some(file) = &kafka.key_password_file {
            set("ssl.key.password", &secret_in("kafka.key_password_file", file)?);
        }
    }
    let Some(mechanism) = kafka.sasl_mechanism.filter(|_| kafka.security_protocol.has_sasl()) else {
        return Ok(properties);
    };
    let username = kafka.username.as_deref().unwrap_or_default();
    let password = match (&kafka.password, &kafka.password_file) {
        (Some(password), _) => password.reveal().to_owned(),
        (None, Some(file)) => secret_in("kafka.password_file", file)?,
        (None, None) => String::new(),
    };
    set("sasl.mechanisms", mechanism.name());
    match mechanism {
        SaslMechanism::Plain | SaslMechanism::ScramSha256 | SaslMechanism::ScramSha512 => {
            set("sasl.username", username);
            set("sasl.password", &password);
        }
        SaslMechanism::OAuthBearer => {
            set("sasl.oauthbearer.method", "oidc");
            set("sasl.oauthbearer.token.endpoint.url", kafka.oauth_token_url.as_deref().unwrap_or_default());
            set("sasl.oauthbearer.client.id", username);
            set("sasl.oauthbearer.client.secret", &password);
            if let Some(scope) = &kafka.oauth_scope {
                set("sasl.oauthbearer.scope", scope);
            }
        }
    }
    Ok(properties)
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
    use settings::{Secret, Settings};
    use std::path::PathBuf;

    fn login(mechanism: SaslMechanism) -> Kafka {
        Kafka {
            security_protocol: SecurityProtocol::SaslPlaintext,
            sasl_mechanism: Some(mechanism),
            username: Some("me".to_owned()),
            ..Settings::default().kafka
        }
    }

    fn with_file(file: &Path) -> Result<BTreeMap<String, String>, LogError> {
        security_properties(&Kafka { password_file: Some(file.to_owned()), ..login(SaslMechanism::Plain) })
    }

    #[test]
    fn without_tls_and_login_nothing_is_said() {
        assert_eq!(security_properties(&Settings::default().kafka).unwrap(), BTreeMap::new());
    }

    #[test]
    fn a_password_is_read_from_its_file_without_the_newline() {
        let directory = std::env::temp_dir().join(format!("recrawl-security-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("password");
        fs::write(&file, "a word \r\n").unwrap();
        let properties = with_file(&file).unwrap();
        assert_eq!((&*properties["sasl.password"], &*properties["security.protocol"]), ("a word ", "sasl_plaintext"));
        fs::write(&file, "\n").unwrap();
        let error = with_file(&file).unwrap_err();
        assert!(error.message.starts_with("kafka.password_file: ") && error.message.contains("is empty"), "{error}");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_file_that_is_not_there_is_named_with_its_setting() {
        let file = PathBuf::from("/nowhere/at/all.pem");
        let nowhere = Some(file.clone());
        let tls = || Kafka { security_protocol: SecurityProtocol::Ssl, ..Settings::default().kafka };
        let check = |kafka: Kafka, setting: &str| {
            let error = security_properties(&kafka).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Stop);
            assert!(
                error.message.starts_with(&format!("{setting}: cannot read /nowhere/at/all.pem: No such")),
                "{error}"
            );
        };
        check(Kafka { ca_file: nowhere.clone(), ..tls() }, "kafka.ca_file");
        check(Kafka { certificate_file: nowhere.clone(), ..tls() }, "kafka.certificate_file");
        check(Kafka { key_file: nowhere.clone(), ..tls() }, "kafka.key_file");
        check(Kafka { key_password_file: nowhere, ..tls() }, "kafka.key_password_file");
        let error = with_file(&file).unwrap_err();
        assert!(error.message.starts_with("kafka.password_file: cannot read /nowhere/at/all.pem"), "{error}");
    }

    #[test]
    fn tokens_are_asked_for_with_the_user_as_client() {
        let kafka = Kafka {
            oauth_token_url: Some("https://id/token".to_owned()),
            oauth_scope: Some("s".to_owned()),
            password: Some(Secret::new("x")),
            ..login(SaslMechanism::OAuthBearer)
        };
        let properties = security_properties(&kafka).unwrap();
        assert!(uses_tokens(&kafka) && !properties.contains_key("sasl.username"));
        assert_eq!(properties["sasl.mechanisms"], "OAUTHBEARER");
        assert_eq!(properties["sasl.oauthbearer.method"], "oidc");
        assert_eq!(properties["sasl.oauthbearer.client.id"], "me");
        assert_eq!(properties["sasl.oauthbearer.client.secret"], "x");
        assert_eq!(properties["sasl.oauthbearer.scope"], "s");
    }
}

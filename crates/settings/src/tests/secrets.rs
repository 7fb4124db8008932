//! Secrets stay out of messages; logins to Kafka.

use super::*;

#[test]
fn a_password_among_the_properties_is_never_in_a_message() {
    let faults = faults_of("[kafka.properties]\nssl.keystore.password = [\"secret\"]\n");
    assert!(!faults.contains("secret"), "{faults}");
    let faults = layered("", &[("RECRAWL_KAFKA_PROPERTIES", "secret")], &[]).unwrap_err();
    assert!(!faults.contains("secret"), "{faults}");
}

#[test]
fn a_password_of_a_host_or_proxy_is_in_no_message_and_no_debug_line() {
    let file = "[fetch]\nauthentication = { \"a.test\" = \"me:swordfish\" }\nproxy = { \"*\" = \"http://me:swordfish@10.0.0.1:3128\" }\n";
    let settings = layered(file, &[], &[]).unwrap();
    assert!(!format!("{settings:?}").contains("swordfish"));
    assert_eq!(
        settings.fetch.credentials_for("https", "A.test", 443).map(|known| known.reveal()),
        Some("me:swordfish")
    );
    assert!(
        settings.fetch.credentials_for("https", "b.test", 443).is_none()
            && settings.fetch.proxy_for("b.test").is_some()
    );
    for faulty in
        ["authentication = { \"a.test\" = \":swordfish\" }", "proxy = { \"*\" = \"socks://me:swordfish@p:1\" }"]
    {
        let faults = faults_of(&format!("[fetch]\n{faulty}\n"));
        assert!(faults.contains("recrawl.toml:2: fetch.") && !faults.contains("swordfish"), "{faults}");
    }
}

#[test]
fn secrets_of_those_who_ping_are_words_and_in_no_message_and_no_debug_line() {
    let file = "[hints]\ntoken = \"a-secret-long-enough\"\nindexnow = { \"a.test:81\" = \"secret-key\" }\n\
                websub = { news = \"https://a.test/feed\" }\nwebsub_secrets = { news = \"a-secret-long-enough\" }\n";
    let settings = layered(file, &[("RECRAWL_HINTS_TOKEN", "another-secret-word")], &[]).unwrap();
    assert!(!format!("{settings:?}").contains("secret-"), "{settings:?}");
    assert_eq!(settings.hints.token.as_ref().map(|token| token.reveal()), Some("another-secret-word"));
    for faulty in [
        "token = \"secret\"",
        "token = \"a secret with spaces\"",
        "indexnow = { \"a.test\" = \"secret\" }",
        "indexnow = { \"A.test/x\" = \"secret-key\" }",
        "websub_secrets = { news = \"a-secret-long-enough\" }",
    ] {
        let faults = faults_of(&format!("[hints]\n{faulty}\n"));
        assert!(faults.contains("hints.") && !faults.contains("secret\"") && !faults.contains("secret-"), "{faults}");
    }
}

const WITH_SECRETS: &str = "\
[fetch]
authentication = { \"a.test\" = \"me:swordfish\" }
proxy = { \"*\" = \"http://me:swordfish@10.0.0.1:3128\", \"b.test\" = \"http://10.0.0.1:3128\" }
[hints]
token = \"swordfish-and-chips\"
indexnow = { \"a.test\" = \"swordfish\" }
websub = { news = \"https://a.test/feed?token=swordfish\", open = \"https://a.test/open\" }
websub_secrets = { news = \"swordfish-and-chips\", open = \"swordfish-and-chips\" }
[kafka]
security_protocol = \"sasl_ssl\"
sasl_mechanism = \"PLAIN\"
username = \"me\"
password = \"a swordfish\"
properties = { ssl.keystore.password = \"swordfish\", sasl.oauthbearer.config = \"swordfish\", ssl.key.pem = \"swordfish\", linger.ms = 5 }
";

#[test]
fn what_is_printed_says_which_secrets_are_set_and_shows_none() {
    let settings = layered(WITH_SECRETS, &[], &[]).unwrap();
    let printed = settings.to_toml(Secrets::Masked);
    assert!(!printed.contains("swordfish"), "{printed}");
    // The address of a feed is a page's, and pages have to be named.
    let mut without_feeds = settings.clone();
    without_feeds.hints.websub.clear();
    assert!(!format!("{without_feeds:?}").contains("swordfish"), "{without_feeds:?}");
    for line in [
        "# authentication is set; its secrets are masked: { \"a.test\" = \"me:********\" }",
        "# proxy is set; its secrets are masked: { \"*\" = \"http://me:********@10.0.0.1:3128\", \"b.test\" = \"http://10.0.0.1:3128\" }",
        "# token is set; its secrets are masked: \"********\"",
        "# indexnow is set; its secrets are masked: { \"a.test\" = \"********\" }",
        "# websub is set; its secrets are masked: { \"news\" = \"https://a.test/feed?********\", \"open\" = \"https://a.test/open\" }",
        "# websub_secrets is set; its secrets are masked: { \"news\" = \"********\", \"open\" = \"********\" }",
        "# password is set; its secrets are masked: \"********\"",
        "# properties is set; its secrets are masked: { \"linger.ms\" = \"5\", \"sasl.oauthbearer.config\" = \"********\", \
         \"ssl.key.pem\" = \"********\", \"ssl.keystore.password\" = \"********\" }",
        "username = \"me\"",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}: {printed}");
    }
    assert_eq!(settings.kafka.password.as_ref().map(|password| password.reveal()), Some("a swordfish"));
}

#[test]
fn a_mask_is_never_read_back_as_a_secret() {
    let mut settings =
        layered(WITH_SECRETS, &[("RECRAWL_KAFKA_PASSWORD", "")], &[("kafka.password_file", "p")]).unwrap();
    let read_back = layered(&settings.to_toml(Secrets::Masked), &[], &[]).unwrap();
    settings.fetch.authentication.clear();
    settings.fetch.proxy.clear();
    settings.hints = Settings::default().hints;
    settings.kafka.properties = KafkaProperties::default();
    assert_eq!(read_back, settings);
}

#[test]
fn settings_printed_with_their_secrets_are_read_back_as_they_were() {
    let settings = layered(WITH_SECRETS, &[], &[]).unwrap();
    let printed = settings.to_toml(Secrets::Shown);
    assert!(!printed.contains("masked") && !printed.contains("****"), "{printed}");
    assert_eq!(layered(&printed, &[], &[]).unwrap(), settings);
}

#[test]
fn the_address_of_a_feed_is_in_no_message() {
    for line in ["websub = { news = \"gopher://a.test/?swordfish\" }", "websub = { news = swordfish }"] {
        let faults = faults_of(&format!("[hints]\n{line}\n"));
        assert!(faults.contains("recrawl.toml:2: ") && !faults.contains("swordfish"), "{faults}");
    }
}

#[test]
fn a_secret_on_a_line_that_is_not_toml_is_in_no_message() {
    for line in ["[kafka]\npassword = swordfish", "[hints]\ntoken = swordfish", "[kafka]\nproperties = swordfish"] {
        let faults = faults_of(line);
        assert!(faults.contains("recrawl.toml:2: not valid TOML") && !faults.contains("swordfish"), "{faults}");
    }
}

#[test]
fn a_login_to_kafka_is_complete_or_a_fault_that_says_what_is_missing() {
    let check = |kafka: &str, expected: &[&str]| {
        let faults = faults_of(&format!("[kafka]\n{kafka}"));
        let found: Vec<_> = faults.lines().collect();
        let same = found.iter().zip(expected).all(|(line, part)| line.contains(part));
        assert!(found.len() == expected.len() && same, "{kafka}: {faults}");
    };
    let sasl = "security_protocol = \"sasl_ssl\"\n";
    check(
        sasl,
        &["recrawl.toml:2: kafka.security_protocol: kafka.security_protocol = \"sasl_ssl\" needs kafka.sasl_mechanism"],
    );
    check(
        &format!("{sasl}sasl_mechanism = \"SCRAM-SHA-512\"\n"),
        &["kafka.sasl_mechanism: SCRAM-SHA-512 needs a password; write", "needs a user; write kafka.username"],
    );
    let token = format!("{sasl}sasl_mechanism = \"OAUTHBEARER\"\n");
    check(
        &format!("{token}username = \"me\"\npassword = \"x\"\n"),
        &["OAUTHBEARER needs a token endpoint; write kafka.oauth_token_url"],
    );
    let login = format!("{sasl}sasl_mechanism = \"PLAIN\"\nusername = \"me\"\n");
    check(
        &format!("{login}password = \"x\"\npassword_file = \"x\"\n"),
        &["kafka.password and kafka.password_file are both set"],
    );
    check(
        &format!("{login}password_file = \"x\"\noauth_scope = \"x\"\n"),
        &["kafka.oauth_scope has no effect: PLAIN does not use tokens"],
    );
    check(
        "username = \"me\"\n",
        &["kafka.username has no effect: kafka.security_protocol = \"plaintext\" has no login"],
    );
    check(
        "ca_file = \"x\"\n",
        &["kafka.ca_file has no effect: kafka.security_protocol = \"plaintext\" does not use TLS"],
    );
    check(
        "security_protocol = \"ssl\"\nkey_file = \"x\"\n",
        &["kafka.certificate_file and kafka.key_file need each other"],
    );
    check(
        "security_protocol = \"ssl\"\nkey_password_file = \"x\"\n",
        &["kafka.key_password_file has no effect without kafka.key_file"],
    );
    check("security_protocol = \"tls\"\n", &["cannot be \"tls\"; write \"plaintext\" or \"ssl\" or"]);
    check("sasl_mechanism = \"GSSAPI\"\n", &["cannot be \"GSSAPI\"; write \"PLAIN\" or \"SCRAM-SHA-256\" or"]);
    check("[kafka.properties]\nsasl.password = \"x\"\n", &["is derived from kafka.password or kafka.password_file"]);
    check("password = \"a\\nb\"\n", &["kafka.password: is not a text of one line"]);
}

#[test]
fn protocols_and_mechanisms_have_the_names_kafka_gives_them() {
    for (index, (name, protocol)) in SecurityProtocol::NAMES.iter().enumerate() {
        assert_eq!((protocol.name(), *protocol as usize), (*name, index));
    }
    for (index, (name, mechanism)) in SaslMechanism::NAMES.iter().enumerate() {
        assert_eq!((mechanism.name(), *mechanism as usize), (*name, index));
    }
}

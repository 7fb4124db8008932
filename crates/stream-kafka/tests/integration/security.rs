//! TLS and logins on a real Kafka: what works, and what is said when it does not.

use crate::common::*;
use ::settings::{Kafka, SaslMechanism, Secret, SecurityProtocol};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use stream::{ErrorKind, Log, LogError, TopicPartition};
use stream_kafka::{KafkaLog, KafkaSettings};

/// Writes a record and reads it again.
fn round_trip(settings: KafkaSettings) {
    let log = KafkaLog::connect(settings).expect("Kafka lets us in");
    let topic = topic(&log, "recrawl-secure", 1);
    log.append(&[record(&topic, 0, "key", b"value")]).expect("written");
    assert_eq!(contents(&log, &topic, 0).len(), 1);
    assert_eq!(
        log.reader().and_then(|mut reader| reader.bounds(&[TopicPartition::new(topic, 0)])).expect("bounds")[0].start,
        0
    );
}

fn refused(settings: KafkaSettings) -> LogError {
    KafkaLog::connect(settings).err().expect("refused")
}

/// Stops, and says which setting to look at; the message is free of the password.
fn stops(settings: KafkaSettings, parts: &[&str]) {
    let error = refused(settings);
    assert_eq!(error.kind, ErrorKind::Stop, "{error}");
    assert!(parts.iter().all(|part| error.message.contains(part)), "{error}");
    assert!(!error.message.contains("cannot reach") && !error.message.contains("swordfish"), "{error}");
}

fn with_password(secrets: &Path, mechanism: SaslMechanism, password: &str) -> KafkaSettings {
    let mut settings = login(secrets, mechanism);
    settings.kafka.password = Some(Secret::new(password));
    settings
}

fn with_ca(secrets: &Path, ca: &str) -> KafkaSettings {
    let mut settings = login(secrets, SaslMechanism::ScramSha512);
    settings.kafka.ca_file = Some(secrets.join(ca));
    settings
}

/// The listener that asks for a certificate. `own` sets the files of ours.
fn mutual(secrets: &Path, own: impl FnOnce(&mut Kafka)) -> KafkaSettings {
    let mut settings = settings(&address(secrets, "mutual"));
    settings.kafka.security_protocol = SecurityProtocol::Ssl;
    settings.kafka.ca_file = Some(secrets.join("ca.pem"));
    own(&mut settings.kafka);
    settings
}

#[test]
fn records_travel_with_every_mechanism_that_takes_a_password() {
    let Some(secrets) = secrets() else { return };
    for mechanism in [SaslMechanism::Plain, SaslMechanism::ScramSha256] {
        round_trip(login(&secrets, mechanism));
    }
}

#[test]
fn records_travel_with_a_certificate_whose_key_is_encrypted() {
    let Some(secrets) = secrets() else { return };
    round_trip(mutual(&secrets, |kafka| {
        kafka.certificate_file = Some(secrets.join("client.pem"));
        kafka.key_file = Some(secrets.join("client-key.pem"));
        kafka.key_password_file = Some(secrets.join("key-password"));
    }));
}

#[test]
fn a_wrong_password_stops_with_the_settings_to_check() {
    let Some(secrets) = secrets() else { return };
    for mechanism in [SaslMechanism::ScramSha512, SaslMechanism::Plain] {
        let settings = with_password(&secrets, mechanism, "swordfish");
        stops(settings, &["recrawl was refused by Kafka at 127.0.0.1:", "; check kafka.username and kafka.password"]);
    }
}

#[test]
fn brokers_that_no_one_vouches_for_stop_with_the_setting_to_check() {
    let Some(secrets) = secrets() else { return };
    for ca in ["other-ca.pem", "client.pem"] {
        stops(with_ca(&secrets, ca), &["recrawl does not trust Kafka at 127.0.0.1:", "; check kafka.ca_file"]);
    }
    let mut settings = with_ca(&secrets, "ca.pem");
    settings.kafka.brokers = Some(address(&secrets, "login").replace("127.0.0.1", "localhost"));
    // The certificate is for both names.
    KafkaLog::connect(settings).unwrap();
}

#[test]
fn a_missing_certificate_of_ours_stops_with_the_setting_to_check() {
    let Some(secrets) = secrets() else { return };
    stops(mutual(&secrets, |_| {}), &["; check kafka.certificate_file and kafka.key_file"]);
}

#[test]
fn files_that_are_no_certificates_or_keys_are_named_by_their_setting() {
    let Some(secrets) = secrets() else { return };
    stops(with_ca(&secrets, "password"), &["kafka.ca_file"]);
    let wrong_password = mutual(&secrets, |kafka| {
        kafka.certificate_file = Some(secrets.join("client.pem"));
        kafka.key_file = Some(secrets.join("client-key.pem"));
        kafka.key_password_file = Some(secrets.join("password"));
    });
    stops(wrong_password, &["kafka.key_file"]);
}

#[test]
fn a_listener_of_another_protocol_is_distinguished_from_one_that_is_not_there() {
    let (Some(secrets), Some(plain)) = (secrets(), brokers()) else { return };
    let mut tls_to_plain = login(&secrets, SaslMechanism::ScramSha512);
    tls_to_plain.kafka.brokers = Some(plain);
    let plain_to_tls = settings(&address(&secrets, "login"));
    for settings in [tls_to_plain, plain_to_tls] {
        let error = refused(settings);
        assert!(error.message.contains("kafka.security_protocol"), "{error:?}");
    }
}

#[test]
fn what_the_user_may_not_do_is_said_with_what_would_allow_it() {
    let Some(secrets) = secrets() else { return };
    let log = KafkaLog::connect(login(&secrets, SaslMechanism::ScramSha512)).unwrap();
    let error = log.create_topics(&[topic_config("forbidden", 1)]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Stop);
    assert!(error.message.contains("grant the user of kafka.username"), "{error}");
    let input = topic(&log, "recrawl-allowed", 1);
    let id = unique("recrawl-id");
    let outcome = log
        .join(&spec("forbidden-group", &input, &id))
        .and_then(|mut member| poll_until(&mut *member, |_, events| !events.is_empty()).map(|_| ()));
    let error = outcome.unwrap_err();
    assert!(error.kind == ErrorKind::Stop && error.message.contains("that group"), "{error}");
    let error = log.join(&spec("recrawl-group", &input, "forbidden-id")).err().expect("refused");
    assert!(error.kind == ErrorKind::Stop && error.message.contains("kafka.group_prefix"), "{error}");
    let Some(anybody) = crate::common::log() else { return };
    let read_only = topic(&anybody, "read-only", 1);
    let error = log.append(&[record(&input, 0, "a", b"1"), record(&read_only, 0, "b", b"2")]).unwrap_err();
    assert!(error.kind == ErrorKind::Stop && error.message.contains("that topic"), "{error}");
    assert!(error.message.contains(&read_only), "{error}");
}

/// A token endpoint that knows one client, and gives tokens that a broker of the tests believes.
fn token_endpoint(answers: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/token", listener.local_addr().expect("bound"));
    let serve = move || {
        let mut requests = Vec::new();
        for stream in listener.incoming().take(answers) {
            let mut stream = stream.expect("a client");
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            // All of it is there when the body is: it names the grant.
            while !String::from_utf8_lossy(&request).contains("grant_type=") {
                let read = stream.read(&mut buffer).expect("a request");
                assert!(read > 0, "the request ended early");
                request.extend_from_slice(&buffer[..read]);
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            // recrawl:let-me-in
            let known = request.contains("Basic cmVjcmF3bDpsZXQtbWUtaW4=");
            let (status, body) = match known {
                true => ("200 OK", format!("{{\"access_token\":\"{}\",\"expires_in\":3600}}", token())),
                false => ("401 Unauthorized", "{\"error\":\"invalid_client\"}".to_owned()),
            };
            let head = "Content-Type: application/json\r\nConnection: close";
            let answer = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).expect("answered");
            requests.push(request);
        }
        requests
    };
    (url, std::thread::spawn(serve))
}

/// A JSON web token without signature.
fn token() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_secs();
    let claims = format!("{{\"sub\":\"recrawl\",\"iat\":{now},\"exp\":{}}}", now + 3600);
    format!("{}.{}.", base64(b"{\"alg\":\"none\"}"), base64(claims.as_bytes()))
}

/// For URLs, without padding (RFC 4648, section 5).
fn base64(bytes: &[u8]) -> String {
    const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let encode = |group: &[u8]| -> String {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        (0..=group.len()).map(|place| CHARACTERS[(bits >> (18 - 6 * place) & 63) as usize] as char).collect()
    };
    bytes.chunks(3).map(encode).collect()
}

fn with_tokens(secrets: &Path, token_url: String, secret: &str) -> KafkaSettings {
    let mut settings = with_password(secrets, SaslMechanism::OAuthBearer, secret);
    settings.kafka.oauth_token_url = Some(token_url);
    settings.kafka.oauth_scope = Some("kafka".to_owned());
    settings
}

#[test]
fn records_travel_with_tokens_of_a_provider() {
    let Some(secrets) = secrets() else { return };
    // Each client gets its own: two views, one for administration, an appender, two readers.
    let (url, endpoint) = token_endpoint(6);
    round_trip(with_tokens(&secrets, url, "let-me-in"));
    let requests = endpoint.join().unwrap();
    assert!(requests.iter().all(|request| request.contains("grant_type=client_credentials")), "{requests:?}");
    assert!(requests.iter().all(|request| request.contains("scope=kafka")), "{requests:?}");
}

#[test]
fn a_provider_that_does_not_know_us_stops_and_one_that_is_away_does_not() {
    let Some(secrets) = secrets() else { return };
    let (url, _endpoint) = token_endpoint(100);
    stops(with_tokens(&secrets, url, "swordfish"), &["cannot get a token for Kafka", "check kafka.oauth_token_url"]);
    let error = refused(with_tokens(&secrets, "http://127.0.0.1:1/token".to_owned(), "let-me-in"));
    assert_eq!(error.kind, ErrorKind::Retry);
    assert!(error.message.contains("cannot get a token for Kafka"), "{error}");
}

#[test]
fn settings_that_are_printed_for_debugging_hide_what_may_be_secret() {
    let mut settings = settings("127.0.0.1:1");
    settings.kafka.password = Some(Secret::new("swordfish"));
    settings.kafka.properties.0.insert("ssl.key.pem".to_owned(), "swordfish".to_owned());
    assert!(!format!("{settings:?}").contains("swordfish"));
}

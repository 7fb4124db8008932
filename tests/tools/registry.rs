//! Answers of a schema registry, and their effect on the form of changes: used, refused or tried again.

use messages::ChangeForm;
use outputs::schema_registry::change_form;
use settings::{OutputFormat, Settings};
use stream::{ErrorKind, LogError};
use tests::{Reply, WebhookReceiver, deserted};
use topology::LogNames;

const NOT_THERE: &str = r#"{"error_code":40401,"message":"Subject not found"}"#;

/// Registers at a registry; `adapt` adapts the settings.
fn registered(url: &str, adapt: impl FnOnce(&mut Settings)) -> Result<ChangeForm, LogError> {
    let mut settings = Settings::default();
    settings.output.format = OutputFormat::Confluent;
    settings.output.registry = Some(url.trim_end_matches("/hook").to_owned());
    adapt(&mut settings);
    change_form(&settings, &LogNames::new(&settings))
}

/// A registry that does not know the schema and answers so when it is to register it.
fn registry(status: u16, body: &'static str) -> WebhookReceiver {
    WebhookReceiver::start(move |request| match request.target.ends_with("/versions") {
        true => Reply::Body(status, body.to_owned()),
        false => Reply::Body(404, NOT_THERE.to_owned()),
    })
}

#[test]
fn other_forms_need_no_registry() {
    for (format, form) in [(OutputFormat::Avro, ChangeForm::Avro), (OutputFormat::Json, ChangeForm::Json)] {
        assert_eq!(registered("", |settings| settings.output.format = format).unwrap(), form);
    }
}

#[test]
fn a_schema_that_is_there_is_not_registered_again() {
    let there = WebhookReceiver::start(|_| Reply::Body(200, r#"{"subject":"x","version":1,"id":77}"#.to_owned()));
    assert_eq!(registered(&there.url(), |_| {}).unwrap(), ChangeForm::Confluent { schema_id: 77 });
    let targets: Vec<_> = there.seen().into_iter().map(|request| request.target).collect();
    assert_eq!(targets, ["POST /subjects/recrawl.page-changes-value"]);
}

#[test]
fn answers_are_tried_again_or_explained() {
    let check = |status, body, kind, part: &str| {
        let error = registered(&registry(status, body).url(), |_| {}).unwrap_err();
        assert_eq!((error.kind, error.message.contains(part)), (kind, true), "{status}: {}", error.message);
    };
    check(500, "a\nstack trace", ErrorKind::Retry, "answered 500: a stack trace");
    check(503, "", ErrorKind::Retry, "answered 503");
    check(429, "{}", ErrorKind::Retry, "answered 429");
    check(
        409,
        r#"{"message":"READER_FIELD_MISSING"}"#,
        ErrorKind::Stop,
        "409: READER_FIELD_MISSING; the schema of changes",
    );
    check(401, "", ErrorKind::Stop, "give output.registry_username and output.registry_password_file");
    check(403, "", ErrorKind::Stop, "recrawl.page-changes-value");
    check(422, r#"{"message":"invalid schema"}"#, ErrorKind::Stop, "answered 422: invalid schema");
    check(302, "", ErrorKind::Stop, "redirects are not followed");
    check(200, "{\"id\":-1}", ErrorKind::Stop, "it names no id of the schema");
    check(200, "<html>", ErrorKind::Stop, "it names no id of the schema");

    let page = WebhookReceiver::start(|_| Reply::Body(404, "<html>no such page</html>".to_owned()));
    let error = registered(&page.url(), |_| {}).unwrap_err();
    assert!(error.kind == ErrorKind::Stop && error.message.contains("ends with /apis/ccompat/v7"), "{}", error.message);
    for reply in [Reply::Close, Reply::BreakOff] {
        let broken = WebhookReceiver::start(move |_| reply.clone());
        assert_eq!(registered(&broken.url(), |_| {}).unwrap_err().kind, ErrorKind::Retry);
    }
    let error = registered(&format!("http://{}", deserted()), |_| {}).unwrap_err();
    assert!(error.kind == ErrorKind::Retry && error.message.contains("see that it runs"), "{}", error.message);
}

#[test]
fn the_login_is_sent_to_a_server_whose_certificate_is_verified() {
    let registry = WebhookReceiver::start_with_tls(|request| {
        // me:a secret
        match request.headers.get("authorization").map(String::as_str) {
            Some("Basic bWU6YSBzZWNyZXQ=") => Reply::Body(200, r#"{"id":5}"#.to_owned()),
            _ => Reply::status(401),
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let password = directory.path().join("password");
    std::fs::write(&password, "a secret\n").unwrap();
    let with = |settings: &mut Settings, authority| {
        settings.output.registry_username = Some("me".to_owned());
        settings.output.registry_password_file = Some(password.clone());
        settings.output.registry_ca_file = authority;
    };
    let known = registered(&registry.url(), |settings| with(settings, registry.authority()));
    assert_eq!(known.unwrap(), ChangeForm::Confluent { schema_id: 5 });
    let error = registered(&registry.url(), |settings| with(settings, None)).unwrap_err();
    assert!(error.message.contains("does not answer") && !error.message.contains("secret"), "{}", error.message);
    let error = registered(&registry.url(), |settings| settings.output.registry_ca_file = registry.authority());
    assert!(error.unwrap_err().message.contains("answered 401"), "without a login");
    let missing = Some(directory.path().join("missing"));
    let error = registered(&registry.url(), |settings| {
        with(settings, registry.authority());
        settings.output.registry_password_file = missing.clone();
    });
    assert!(error.unwrap_err().message.starts_with("output.registry_password_file: cannot read"));
    let error = registered(&registry.url(), |settings| with(settings, missing.clone())).unwrap_err();
    assert!(
        error.kind == ErrorKind::Stop && error.message.starts_with("output.registry_ca_file "),
        "{}",
        error.message
    );
}

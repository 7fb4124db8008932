//! Cross-checks of settings that are each valid but contradict each other.

use crate::form::show;
use crate::kafka::SaslMechanism;
use crate::reader::SettingsReader;
use crate::sections::{Identity, Kafka, Output, OutputFormat, RankMethod, Settings, Signing};
use std::time::Duration;

pub(crate) fn check(settings: &Settings, reader: &mut SettingsReader) {
    let Settings { budget, policy, politeness, fetch, hints, clock, kafka, ranker, .. } = settings;

    ordered(reader, "policy", ("min_interval", policy.min_interval), ("max_interval", policy.max_interval));
    ordered(reader, "policy", ("retry_base", policy.retry_base), ("retry_max", policy.retry_max));
    let (base, max) = (politeness.backoff_base, politeness.backoff_max);
    ordered(reader, "politeness", ("backoff_base", base), ("backoff_max", max));
    let (delay, max) = (politeness.crawl_delay, politeness.max_crawl_delay);
    ordered(reader, "politeness", ("crawl_delay", delay), ("max_crawl_delay", max));

    if policy.lease_timeout <= fetch.total_timeout {
        reader.contradiction(
            &[("policy", "lease_timeout"), ("fetch", "total_timeout")],
            format!(
                "a request counts as lost after {} (policy.lease_timeout), but it may take {} (fetch.total_timeout)",
                show(policy.lease_timeout),
                show(fetch.total_timeout)
            ),
            "make policy.lease_timeout several times as long as fetch.total_timeout",
        );
    }
    if let Some(host_rate) = budget.host_fetches_per_second
        && host_rate > budget.fetches_per_second
    {
        reader.contradiction(
            &[("budget", "host_fetches_per_second"), ("budget", "fetches_per_second")],
            format!(
                "the limit for one host is {host_rate} fetches per second, the limit for all hosts together only {}",
                budget.fetches_per_second
            ),
            "lower budget.host_fetches_per_second, or leave it out",
        );
    }
    if ranker.importance == RankMethod::TrustRank && ranker.trusted.is_empty() {
        reader.contradiction(
            &[("ranker", "importance"), ("ranker", "trusted")],
            "ranker.importance = \"trustrank\" needs pages at which trust begins, and ranker.trusted names none"
                .to_owned(),
            "name trusted hosts in ranker.trusted, or write ranker.importance = \"opic\"",
        );
    }
    if !ranker.importance.has_cash() && !ranker.trusted.is_empty() {
        reader.contradiction(
            &[("ranker", "importance"), ("ranker", "trusted")],
            "ranker.trusted has no effect, because trust travels with importance by links, which is not computed"
                .to_owned(),
            "write ranker.importance = \"opic\", \"pagerank\" or \"trustrank\", or leave ranker.trusted out",
        );
    }
    if fetch.memory < 4 * fetch.max_body {
        reader.contradiction(
            &[("fetch", "memory"), ("fetch", "max_body")],
            format!("there is memory for {} bytes of bodies, and one may have {}", fetch.memory, fetch.max_body),
            "make fetch.memory at least four times fetch.max_body",
        );
    }
    if fetch.record_failures && !fetch.record_heads {
        reader.contradiction(
            &[("fetch", "record_failures"), ("fetch", "record_heads")],
            "fetch.record_failures has no effect, because bodies are kept with the heads of their answers".to_owned(),
            "write fetch.record_heads = true, or leave fetch.record_failures out",
        );
    }
    if fetch.extra_ca.is_some() && !fetch.tls_verify {
        reader.contradiction(
            &[("fetch", "extra_ca"), ("fetch", "tls_verify")],
            "fetch.extra_ca has no effect, because fetch.tls_verify = false switches off the check of certificates"
                .to_owned(),
            "write fetch.tls_verify = true, or leave fetch.extra_ca out",
        );
    }
    if !hints.websub.keys().eq(hints.websub_secrets.keys()) {
        reader.contradiction(
            &[("hints", "websub"), ("hints", "websub_secrets")],
            "hints.websub and hints.websub_secrets contain different names, but every callback needs a secret"
                .to_owned(),
            "write each name in both tables",
        );
    }
    if clock.origin.is_some() != clock.anchor.is_some() {
        reader.contradiction(
            &[("clock", "origin"), ("clock", "anchor")],
            "clock.origin and clock.anchor need each other".to_owned(),
            "write both or neither",
        );
    }
    if clock.speed != 1.0 && clock.anchor.is_none() && kafka.brokers.is_some() {
        reader.contradiction(
            &[("clock", "speed"), ("kafka", "brokers")],
            "several processes with clock.speed other than 1.0 need a common start of their clock".to_owned(),
            "write clock.origin and clock.anchor, or leave clock.speed at 1.0",
        );
    }
    if settings.http.tls_certificate.is_some() != settings.http.tls_key.is_some() {
        reader.contradiction(
            &[("http", "tls_certificate"), ("http", "tls_key")],
            "http.tls_certificate and http.tls_key need each other".to_owned(),
            "write both or neither",
        );
    }
    if settings.http.token.is_some() && settings.http.token_file.is_some() {
        reader.contradiction(
            &[("http", "token"), ("http", "token_file")],
            "http.token and http.token_file are both set".to_owned(),
            "leave one of them out",
        );
    }
    check_identity(&settings.identity, reader);
    check_registry(&settings.output, reader);
    check_login(kafka, reader);
    check_tls(kafka, reader);
}

/// Checks what signatures need.
fn check_identity(identity: &Identity, reader: &mut SettingsReader) {
    if identity.sign == Signing::Always && identity.key_file.is_none() {
        reader.contradiction(
            &[("identity", "sign"), ("identity", "key_file")],
            "identity.sign = \"always\" needs a key".to_owned(),
            "make one with `recrawl identity new FILE` and write identity.key_file, or write identity.sign = \"asked\"",
        );
    }
    if identity.sign != Signing::Never && identity.key_file.is_some() && identity.directory.is_none() {
        reader.contradiction(
            &[("identity", "key_file"), ("identity", "directory")],
            "a signed request names the address of its public keys, and identity.directory is not set".to_owned(),
            "write identity.directory, or identity.sign = \"never\"",
        );
    }
}

/// Checks what a schema registry needs.
fn check_registry(output: &Output, reader: &mut SettingsReader) {
    if output.format == OutputFormat::Confluent && output.registry.is_none() {
        reader.contradiction(
            &[("output", "format"), ("output", "registry")],
            "output.format = \"confluent\" needs a schema registry".to_owned(),
            "write output.registry, or another output.format",
        );
    }
    if output.registry_password.is_some() && output.registry_password_file.is_some() {
        reader.contradiction(
            &[("output", "registry_password"), ("output", "registry_password_file")],
            "output.registry_password and output.registry_password_file are both set".to_owned(),
            "leave one of them out",
        );
    }
    let has_password = output.registry_password.is_some() || output.registry_password_file.is_some();
    if output.registry_username.is_some() != has_password {
        reader.contradiction(
            &[("output", "registry_username"), ("output", "registry_password_file")],
            "user and password at the schema registry need each other".to_owned(),
            "write output.registry_username and output.registry_password_file, or neither",
        );
    }
    if output.registry_ca_file.is_some()
        && let Some(registry) = &output.registry
        && !registry.starts_with("https://")
    {
        reader.contradiction(
            &[("output", "registry"), ("output", "registry_ca_file")],
            "output.registry_ca_file has no effect, because output.registry does not begin with https://".to_owned(),
            "write https:// in output.registry, or leave output.registry_ca_file out",
        );
    }
}

/// Checks the settings that each login requires, and those without effect.
fn check_login(kafka: &Kafka, reader: &mut SettingsReader) {
    let protocol = kafka.security_protocol;
    let only_with_tokens =
        [("oauth_token_url", kafka.oauth_token_url.is_some()), ("oauth_scope", kafka.oauth_scope.is_some())];
    let Some(mechanism) = kafka.sasl_mechanism.filter(|_| protocol.has_sasl()) else {
        if protocol.has_sasl() {
            reader.contradiction(
                &[("kafka", "security_protocol"), ("kafka", "sasl_mechanism")],
                format!("kafka.security_protocol = {:?} needs kafka.sasl_mechanism", protocol.name()),
                "write kafka.sasl_mechanism = \"SCRAM-SHA-512\", or another mechanism that the brokers offer",
            );
        }
        let login = [
            ("sasl_mechanism", kafka.sasl_mechanism.is_some()),
            ("username", kafka.username.is_some()),
            ("password", kafka.password.is_some()),
            ("password_file", kafka.password_file.is_some()),
        ];
        if !protocol.has_sasl() {
            let why = format!("kafka.security_protocol = {:?} has no login", protocol.name());
            let remedy = "write kafka.security_protocol = \"sasl_ssl\", or leave it out";
            without_effect(reader, "security_protocol", &why, remedy, login.into_iter().chain(only_with_tokens));
        }
        return;
    };
    let has_tokens = mechanism == SaslMechanism::OAuthBearer;
    let missing = |key: &'static str, problem: &str, remedy: &str, reader: &mut SettingsReader| {
        let problem = format!("{} needs {problem}", mechanism.name());
        reader.contradiction(&[("kafka", "sasl_mechanism"), ("kafka", key)], problem, remedy);
    };
    if kafka.username.is_none() {
        let who = if has_tokens { "a client id" } else { "a user" };
        missing("username", who, "write kafka.username", reader);
    }
    match (&kafka.password, &kafka.password_file) {
        (None, None) => {
            let what = if has_tokens { "a client secret" } else { "a password" };
            missing("password", what, "write kafka.password_file, or set RECRAWL_KAFKA_PASSWORD", reader);
        }
        (Some(_), Some(_)) => reader.contradiction(
            &[("kafka", "password"), ("kafka", "password_file")],
            "kafka.password and kafka.password_file are both set".to_owned(),
            "leave one of them out",
        ),
        _ => {}
    }
    if has_tokens && kafka.oauth_token_url.is_none() {
        missing("oauth_token_url", "a token endpoint", "write kafka.oauth_token_url", reader);
    }
    if !has_tokens {
        let why = format!("{} does not use tokens", mechanism.name());
        let remedy = "write kafka.sasl_mechanism = \"OAUTHBEARER\", or leave it out";
        without_effect(reader, "sasl_mechanism", &why, remedy, only_with_tokens);
    }
}

/// Checks which TLS files belong together, and which settings have no effect without TLS.
fn check_tls(kafka: &Kafka, reader: &mut SettingsReader) {
    let protocol = kafka.security_protocol;
    if !protocol.has_tls() {
        let files = [
            ("ca_file", kafka.ca_file.is_some()),
            ("certificate_file", kafka.certificate_file.is_some()),
            ("key_file", kafka.key_file.is_some()),
            ("key_password_file", kafka.key_password_file.is_some()),
        ];
        let why = format!("kafka.security_protocol = {:?} does not use TLS", protocol.name());
        let remedy = "write kafka.security_protocol = \"ssl\" or \"sasl_ssl\", or leave it out";
        without_effect(reader, "security_protocol", &why, remedy, files);
        return;
    }
    if kafka.certificate_file.is_some() != kafka.key_file.is_some() {
        reader.contradiction(
            &[("kafka", "certificate_file"), ("kafka", "key_file")],
            "kafka.certificate_file and kafka.key_file need each other".to_owned(),
            "write both or neither; they may name the same file",
        );
    }
    if kafka.key_password_file.is_some() && kafka.key_file.is_none() {
        reader.contradiction(
            &[("kafka", "key_password_file"), ("kafka", "key_file")],
            "kafka.key_password_file has no effect without kafka.key_file".to_owned(),
            "write kafka.key_file, or leave kafka.key_password_file out",
        );
    }
}

/// Reports each `[kafka]` setting in the list that is present but made meaningless by `decisive`.
fn without_effect(
    reader: &mut SettingsReader,
    decisive: &'static str,
    why: &str,
    remedy: &str,
    settings: impl IntoIterator<Item = (&'static str, bool)>,
) {
    for (key, is_there) in settings {
        if is_there {
            let problem = format!("kafka.{key} has no effect: {why}");
            reader.contradiction(&[("kafka", decisive), ("kafka", key)], problem, remedy);
        }
    }
}

fn ordered(
    reader: &mut SettingsReader,
    section: &'static str,
    (lesser_key, lesser): (&'static str, Duration),
    (greater_key, greater): (&'static str, Duration),
) {
    if lesser > greater {
        reader.contradiction(
            &[(section, lesser_key), (section, greater_key)],
            format!("{section}.{lesser_key} is {} and {section}.{greater_key} is {}", show(lesser), show(greater)),
            &format!("make {section}.{lesser_key} the shorter one"),
        );
    }
}

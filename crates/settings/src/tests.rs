mod focus;
mod identity;
mod secrets;

use crate::reader::SettingsReader;
use crate::sections::KEYS;
use crate::{DEFAULT_TOML, Discover, KafkaProperties, Layers, SaslMechanism, Secrets, SecurityProtocol, Settings};
use proptest::prelude::*;
use std::net::SocketAddr;
use std::time::Duration;

fn layered(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Settings, String> {
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    };
    let (environment, overrides) = (own(environment), own(flags));
    let layers = Layers { files: &[("recrawl.toml", file)], environment, overrides: &overrides };
    Settings::from_layers(layers).map_err(|faults| faults.to_string())
}

fn faults_of(file: &str) -> String {
    layered(file, &[], &[]).expect_err("the file is faulty")
}

/// Every `key = value` line with its section, commented out or not.
fn keys_written_in(text: &str) -> Vec<(String, String)> {
    let (mut section, mut keys) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.to_owned();
        } else if let Some((key, _)) = line.trim_start_matches("# ").split_once(" = ")
            && key
                .chars()
                .all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_')
        {
            keys.push((section.clone(), key.to_owned()));
        }
    }
    keys
}

#[test]
fn default_toml_has_exactly_the_known_keys_in_order() {
    let known: Vec<_> = KEYS
        .iter()
        .flat_map(|(section, keys)| keys.iter().map(move |key| (section.to_string(), key.to_string())))
        .collect();
    assert_eq!(keys_written_in(DEFAULT_TOML), known);
}

#[test]
fn default_toml_parsed_as_a_file_gives_the_defaults() {
    let mut reader = SettingsReader::default();
    reader.add_file("default.toml", DEFAULT_TOML);
    let parsed = Settings::read(&mut reader);
    assert_eq!(reader.finish(parsed).unwrap(), Settings::default());
    assert_eq!(layered(DEFAULT_TOML, &[], &[]).unwrap(), Settings::default());
}

#[test]
fn what_default_toml_suggests_in_comments_is_valid() {
    // Keep only one of settings that exclude each other.
    let left_out = ["# password =", "# registry_password =", "# token_file =", "# oauth_"];
    let uncommented: String = DEFAULT_TOML
        .replace("security_protocol = \"plaintext\"", "security_protocol = \"sasl_ssl\"")
        .lines()
        .filter(|line| !left_out.iter().any(|start| line.starts_with(start)))
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if !keys_written_in(line).is_empty() => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let settings = layered(&uncommented, &[], &[]).unwrap();
    assert_eq!(settings.budget.bytes_per_second, Some(2 << 20));
    assert_eq!(settings.crawl.user_agent_header(), "recrawl/0.1 (+https://example.org/our-crawler)");
    assert_eq!(
        settings.to_toml(Secrets::Masked).matches("is not set").count(),
        5,
        "{}",
        settings.to_toml(Secrets::Masked)
    );
}

#[test]
fn the_defaults_are_pinned() {
    let settings = Settings::default();
    assert_eq!(settings.budget.fetches_per_second, 10.0);
    assert_eq!((&*settings.policy.name, &*settings.estimator.name), ("live", "sweeps"));
    assert_eq!((settings.policy.theta, settings.policy.audit_share), (0.01, 0.01));
    assert_eq!(settings.policy.max_interval, Duration::from_secs(180 * 86_400));
    assert_eq!(settings.estimator.forgetting_days, Some(1_000.0));
    assert_eq!(settings.politeness.crawl_delay, Duration::from_secs(1));
    assert_eq!(settings.fetch.max_body, 4 << 20);
    assert!(settings.fetch.tls_verify && settings.fetch.allow_private_addresses.is_empty());
    assert_eq!(settings.http.bind, "127.0.0.1:9464".parse::<SocketAddr>().unwrap());
    assert_eq!((settings.crawl.contact, settings.kafka.brokers, settings.clock.anchor), (None, None, None));
}

#[test]
fn a_flag_counts_above_a_variable_above_a_file_above_the_default() {
    let file = "[politeness]\ncrawl_delay = \"2s\"\n[budget]\nin_flight = 20\nburst = \"20s\"\n";
    let environment = [("RECRAWL_BUDGET_IN_FLIGHT", "30"), ("RECRAWL_BUDGET_BURST", "30s"), ("PATH", "/bin")];
    let settings = layered(file, &environment, &[("budget.burst", "40s"), ("budget.burst", "50s")]).unwrap();
    assert_eq!(settings.politeness.max_crawl_delay, Duration::from_secs(60));
    assert_eq!(settings.politeness.crawl_delay, Duration::from_secs(2));
    assert_eq!(settings.budget.in_flight, 30);
    assert_eq!(settings.budget.burst, Duration::from_secs(50));
}

#[test]
fn a_later_file_counts_above_an_earlier_one() {
    let files = [("a.toml", "[crawl]\nmax_depth = 1\nmax_pages = 7\n"), ("b.toml", "[crawl]\nmax_depth = 2\n")];
    let settings = Settings::from_layers(Layers { files: &files, environment: [], overrides: &[] }).unwrap();
    assert_eq!((settings.crawl.max_depth, settings.crawl.max_pages), (2, 7));
}

#[test]
fn variables_and_flags_can_say_everything_a_file_can() {
    let settings = layered(
        "[kafka]\nbrokers = \"kafka:9092\"\n",
        &[
            ("RECRAWL_CRAWL_DISCOVER", "same-site"),
            ("RECRAWL_FETCH_TLS_VERIFY", "false"),
            ("RECRAWL_ESTIMATOR_FORGETTING_DAYS", "off"),
            ("RECRAWL_FETCH_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8, ::1"),
            ("RECRAWL_FETCH_RESOLVE", "*.test=127.0.0.1:8080,a.example=[::1]:1"),
            ("RECRAWL_KAFKA_BROKERS", ""),
        ],
        &[
            ("kafka.properties", "{ \"ssl.keystore.password\" = \"a,b=c\", linger.ms = 5 }"),
            ("crawl.max_pages", "1_000"),
        ],
    )
    .unwrap();
    assert_eq!(settings.crawl.discover, Discover::SameSite);
    assert!(!settings.fetch.tls_verify);
    assert_eq!(settings.estimator.forgetting_days, None);
    assert!(settings.fetch.allows_private("x", "127.1.2.3".parse().unwrap()));
    assert_eq!(settings.fetch.resolve.len(), 2);
    assert_eq!(settings.kafka.brokers, None, "an empty text takes the file's value back");
    let properties = [("linger.ms", "5"), ("ssl.keystore.password", "a,b=c")];
    assert_eq!(settings.kafka.properties.0, properties.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    assert_eq!(settings.crawl.max_pages, 1_000);
}

#[test]
fn all_faults_are_reported_together_in_order() {
    let file = "\
[budget]
fetches_per_secnd = 3
in_flight = \"many\"

[politness]
crawl_delay = \"1s\"

[policy]
theta = 7
min_interval = 30
retry_base = \"2d\"
crawl_delay = \"1s\"
";
    let faults = layered(
        file,
        &[("RECRAWL_FETCH_MAX_BODY", "4"), ("RECRAWL_FETCH_MAX_BDOY", "4MiB"), ("RECRAWL_KAFKA_PORT_9092_TCP", "x")],
        &[("fetch.max_redirects", "99"), ("max_depth", "2")],
    )
    .unwrap_err();
    let expected = "\
recrawl.toml:2: budget.fetches_per_secnd: there is no such setting; did you mean budget.fetches_per_second?
recrawl.toml:3: budget.in_flight: cannot be \"many\"; write a whole number from 1 to 10000000
recrawl.toml:5: politness: there is no such section; did you mean politeness?
recrawl.toml:9: policy.theta: 7.0 is out of range; write a number from 0 to 1
recrawl.toml:10: policy.min_interval: cannot be the number 30; write a duration with its unit, from \"1s\" to \"365d\", \
such as \"30s\", \"5m\" or \"12h\"
recrawl.toml:11: policy.retry_base: policy.retry_base is 2d and policy.retry_max is 1d; make policy.retry_base the \
shorter one
recrawl.toml:12: policy.crawl_delay: there is no such setting; it belongs to another section: write \
politeness.crawl_delay
environment variable RECRAWL_FETCH_MAX_BDOY: fetch.max_bdoy: there is no such setting; did you mean fetch.max_body?
environment variable RECRAWL_FETCH_MAX_BODY: fetch.max_body: cannot be \"4\"; write a size with its unit, from 1KiB to \
7MiB, such as 64KiB or 2MiB
flag: fetch.max_redirects: 99 is out of range; write a whole number from 0 to 50
flag: max_depth: there is no such section; it is a setting of section crawl: write crawl.max_depth";
    assert_eq!(faults, expected);
}

#[test]
fn each_kind_of_fault_says_what_to_write() {
    let check = |file: &str, expected: &str| {
        let faults = faults_of(file);
        assert!(faults.contains(expected), "{file}: {faults}");
    };
    check(
        "[estimator]\nforgetting_days = 0\n",
        "0.0 is out of range; write a number from 0.001 to 1000000, or \"off\"",
    );
    check("[crawl]\ndiscover = \"all\"\n", "cannot be \"all\"; write \"none\" or \"same-host\" or \"same-site\"");
    check("[crawl]\ncontact = \"me\"\n", "such as \"https://example.org/our-crawler\"");
    check("[crawl]\nuser_agent = \"a\\r\\nb\"\n", "such as \"recrawl/0.1\"");
    check("[fetch]\ntls_verify = \"yes\"\n", "cannot be \"yes\"; write true or false");
    check("[fetch]\nallow_private_addresses = [\"10.0.0.0/99\"]\n", "cannot contain \"10.0.0.0/99\"");
    check("[fetch]\nresolve = { \"a b\" = \"127.0.0.1:1\" }\n", "\"a b\" is not a host name or pattern");
    check(
        "[fetch.resolve]\n\"*.test\" = \"localhost\"\n",
        "\"*.test\" cannot be \"localhost\"; write an address for each host pattern",
    );
    check("[kafka.properties]\ngroup.id = \"x\"\n", "\"group.id\" is derived from kafka.group_prefix");
    check("[kafka.properties]\nacks = 1\n", "\"acks\" is part of the commit protocol");
    check("[http]\nbind = \"localhost\"\n", "write an IP address with a port");
    check("budget = 3\n", "recrawl.toml:1: budget: is a section, not a setting");
    check("[zebra]\n", "the sections are crawl, urls, budget, policy");
    check("[http]\nzebra = 1\n", "section http has bind");
    check("[log]\npartitions = 1979-05-27\n", "cannot be 1979-05-27");
}

#[test]
fn contradictions_between_settings_are_faults() {
    let check = |file: &str, expected: &str| {
        let faults = faults_of(file);
        assert!(faults.starts_with(expected) && faults.lines().count() == 1, "{file}: {faults}");
    };
    check("[policy]\nmin_interval = \"200d\"\n", "recrawl.toml:2: policy.min_interval: ");
    check("[politeness]\nbackoff_max = \"1s\"\n", "recrawl.toml:2: politeness.backoff_max: ");
    check("[politeness]\ncrawl_delay = \"2m\"\n", "recrawl.toml:2: politeness.crawl_delay: ");
    check("[fetch]\ntotal_timeout = \"10m\"\n", "recrawl.toml:2: fetch.total_timeout: a request counts as lost");
    check("[budget]\nhost_fetches_per_second = 11\n", "recrawl.toml:2: budget.host_fetches_per_second: ");
    check("[fetch]\nrecord_heads = false\nrecord_failures = true\n", "recrawl.toml:3: fetch.record_failures: ");
    check("[fetch]\ntls_verify = false\nextra_ca = \"ca.pem\"\n", "recrawl.toml:3: fetch.extra_ca: ");
    check("[output]\nformat = \"confluent\"\n", "recrawl.toml:2: output.format: output.format = \"confluent\" needs");
    check("[output]\nregistry_username = \"me\"\n", "recrawl.toml:2: output.registry_username: user and password");
    check(
        "[output]\nregistry_username = \"me\"\nregistry_password = \"x\"\nregistry_password_file = \"x\"\n",
        "recrawl.toml:4: output.registry_password_file: output.registry_password and output.registry_password_file are",
    );
    check(
        "[output]\nregistry = \"http://r.test\"\nregistry_ca_file = \"x\"\n",
        "recrawl.toml:3: output.registry_ca_file: output.registry_ca_file has no effect",
    );
    check("[output]\nregistry = \"http://me:x@r.test\"\n", "recrawl.toml:2: output.registry: ");
    check("[clock]\norigin = 1.7e9\n", "recrawl.toml:2: clock.origin: ");
    check("[clock]\nspeed = 60\n[kafka]\nbrokers = \"k:1\"\n", "recrawl.toml:4: kafka.brokers: several processes");
}

#[test]
fn every_broken_line_is_reported_and_the_lines_around_it_are_still_checked() {
    let faults = faults_of(
        "[politeness]\ncrawl_delay = 30s # slow\n\n[budget]\nburst = \nburts = 1\n[crawl]\nmax_depth = -2\n\
         max_pages = 7\nmax_pages = 8\nuser_agent = \"x\n",
    );
    let starts = [
        "recrawl.toml:2: not valid TOML",
        "recrawl.toml:5: not valid TOML",
        "recrawl.toml:6: budget.burts: there is no such setting; did you mean budget.burst?",
        "recrawl.toml:8: crawl.max_depth: -2 is out of range",
        "recrawl.toml:10: not valid TOML: duplicate key",
        "recrawl.toml:11: not valid TOML",
    ];
    let lines: Vec<_> = faults.lines().collect();
    assert!(
        lines.len() == starts.len() && lines.iter().zip(starts).all(|(line, start)| line.starts_with(start)),
        "{faults}"
    );
    assert!(lines[0].ends_with("write crawl_delay = \"30s\""), "{faults}");
}

#[test]
fn past_a_broken_section_header_nothing_is_guessed() {
    let faults = faults_of("[crawl]\nmax_depth = -1\n[budget\nburst = \"1s\"\n");
    assert!(faults.starts_with("recrawl.toml:3: not valid TOML") && faults.lines().count() == 1, "{faults}");
}

#[test]
fn a_layer_is_checked_also_where_a_higher_one_overrides_it() {
    let faults = layered("[budget]\nburst = 3\n", &[("RECRAWL_BUDGET_BURST", "3s")], &[]).unwrap_err();
    assert!(faults.starts_with("recrawl.toml:2: budget.burst"), "{faults}");
}

#[test]
fn variables_of_others_are_passed_over_and_near_misses_are_not() {
    let others = [
        ("RECRAWL_CORPORA", "x"),
        ("RECRAWL_CASES", "x"),
        ("RECRAWL_CONFIG", "x"),
        ("RECRAWL_SCHEDULER_SERVICE_HOST", "10.0.0.1"),
        ("RECRAWL_KAFKA_SERVICE_PORT_BROKER", "9092"),
        ("RECRAWL_HTTP_PORT", "tcp://10.0.0.1:80"),
        ("RECRAWL", "x"),
        ("CRAWL_SEEDS", "x"),
    ];
    assert_eq!(layered("", &others, &[]).unwrap(), Settings::default());
    let faults = layered("", &[("RECRAWL_BUGDET_BURST", "3s")], &[]).unwrap_err();
    assert!(faults.contains("did you mean budget?"), "{faults}");
}

#[test]
fn a_contact_is_required_for_all_but_loopback() {
    let crawl = Settings::default().crawl;
    assert_eq!(crawl.contact_required_fault(true), None);
    let fault = crawl.contact_required_fault(false).unwrap().to_string();
    assert!(fault.starts_with("crawl.contact: is not set") && fault.contains("mailto:"), "{fault}");
    let check = |contact: &str| layered(&format!("[crawl]\ncontact = {contact:?}\n"), &[], &[]).map(|set| set.crawl);
    assert_eq!(check("mailto:me@example.org").unwrap().contact_required_fault(false), None);
    assert!(check("https://example.org/bot").is_ok() && check("mailto:me").is_err() && check("ftp://x/").is_err());
}

prop_compose! {
    fn some_settings()(
        seeds in proptest::option::of("[^\u{0}]{1,20}"),
        contact in proptest::option::of("mailto:[a-z]{1,9}@[a-z]{1,9}"),
        discover in prop_oneof![Just(Discover::None), Just(Discover::SameHost), Just(Discover::SameSite)],
        fetches_per_second in 1.0..1e6,
        bytes_per_second in proptest::option::of(1_u64 << 10..1 << 40),
        burst_millis in 1_000_u64..86_400_000,
        forgetting_days in proptest::option::of(0.001..1e6),
        theta in 0.0..=1.0,
        batch_nanos in 0_u64..60_000_000_000,
        max_body in 1_u64 << 10..7 << 20,
        allowed in proptest::collection::vec((any::<std::net::Ipv6Addr>(), 0_u8..=128), 0..4),
        resolve in proptest::collection::btree_map("(\\*\\.)?[a-z]{1,8}\\.test", any::<(std::net::IpAddr, u16)>().prop_map(SocketAddr::from), 0..4),
        properties in proptest::collection::btree_map("[a-z.]{1,12}\\.x", ".{0,12}", 0..4),
        clock in proptest::option::of((0.0..2e11, 0.0..2e11)),
    ) -> Settings {
        let mut settings = Settings::default();
        settings.crawl.seeds = seeds.map(Into::into);
        settings.crawl.contact = contact;
        settings.crawl.discover = discover;
        settings.budget.fetches_per_second = fetches_per_second;
        settings.budget.bytes_per_second = bytes_per_second;
        settings.budget.burst = Duration::from_millis(burst_millis);
        settings.estimator.forgetting_days = forgetting_days;
        settings.policy.theta = theta;
        settings.log.batch_interval = Some(Duration::from_nanos(batch_nanos));
        settings.fetch.max_body = max_body;
        settings.fetch.allow_private_addresses = allowed
            .into_iter()
            .map(|(address, prefix_bits)| crate::AllowedAddress::Network { address: address.into(), prefix_bits })
            .collect();
        settings.fetch.resolve = resolve;
        settings.kafka.properties = KafkaProperties(properties);
        (settings.clock.origin, settings.clock.anchor) = clock.unzip();
        settings
    }
}

proptest! {
    #[test]
    fn effective_settings_read_back_give_the_same_settings(settings in some_settings()) {
        let text = settings.to_toml(Secrets::Masked);
        prop_assert_eq!(layered(&text, &[], &[]).map_err(TestCaseError::fail)?, settings, "{}", text);
    }

    #[test]
    fn no_text_makes_reading_panic(text in "([a-z_.=\\[\\]{}\"'0-9 #\n]|budget|burst|\\[fetch\\]\n|é){0,40}") {
        let _ = layered(&text, &[("RECRAWL_FETCH_RESOLVE", &text), ("RECRAWL_BUDGET_BURST", &text)], &[(&text, &text)]);
    }
}

#[test]
fn variables_of_the_tests_and_the_deployed_files_are_no_faults() {
    let environment =
        ["RECRAWL_KAFKA", "RECRAWL_KAFKA_REQUIRED", "RECRAWL_KAFKA_SECURE", "RECRAWL_CORPORA", "RECRAWL_CASES"];
    let environment = environment.map(|name| (name.to_owned(), "x".to_owned()));
    for file in [
        include_str!("../../../compose/recrawl.toml"),
        include_str!("../../../k8s/base/recrawl.toml"),
        include_str!("../../../k8s/overlays/dev/recrawl.toml"),
        include_str!("../../../k8s/overlays/prod/recrawl.toml"),
    ] {
        let layers = Layers { files: &[("recrawl.toml", file)], environment: environment.clone(), overrides: &[] };
        if let Err(faults) = Settings::from_layers(layers) {
            panic!("{faults}");
        }
    }
}

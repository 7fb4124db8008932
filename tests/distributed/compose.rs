//! `compose.yaml` without Docker: its services run as processes, with the commands, settings and environment that stand there.
//!
//! Differences from a container are set by variables, which only the test has: Kafka's address, and where a stage listens,
//! since all stages share this machine's network. The image itself is tried by `make image-e2e`, and the rest of the file is
//! read by `make k8s-check`.

use crate::services::{SOON, Service, given_again, kafka};
use recrawl::stages::{STAGES, StageEntry};
use serde_json::Value;
use settings::Settings;
use simweb::SeededConfig;
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;
use tests::{HttpAnswer, Process, Reply, SimulatedWeb, WebhookReceiver, programs, wait_for};

fn yaml(file: &str) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(tests::workspace().join(file)).unwrap()).unwrap()
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// The command of the image's health check.
fn health_check() -> Vec<String> {
    let dockerfile = fs::read_to_string(tests::workspace().join("k8s/Dockerfile")).unwrap();
    let line = dockerfile.lines().find(|line| line.starts_with("HEALTHCHECK")).unwrap();
    words(&serde_json::from_str(line.split_once("CMD ").unwrap().1).unwrap())
}

/// The services of `compose.yaml` on this machine.
struct Composition {
    services: Value,
    directory: TempDir,
    here: BTreeMap<&'static str, String>,
}

impl Composition {
    fn new(web: &SimulatedWeb, brokers: &str) -> Self {
        let directory = tempfile::Builder::new().prefix("recrawl-compose-").tempdir().unwrap();
        let unique = directory.path().file_name().unwrap().to_str().unwrap().to_owned();
        let here = BTreeMap::from([
            ("RECRAWL_KAFKA_BROKERS", brokers.to_owned()),
            ("RECRAWL_KAFKA_TOPIC_PREFIX", format!("{unique}.")),
            ("RECRAWL_KAFKA_GROUP_PREFIX", format!("{unique}-")),
            ("RECRAWL_HTTP_BIND", "127.0.0.1:0".to_owned()),
            ("RECRAWL_FETCH_RESOLVE", format!("*.test={}", web.address())),
        ]);
        Self { services: yaml("compose.yaml")["services"].take(), directory, here }
    }

    /// Where a path of a container lies here: below the repository if it is mounted from there, else in the test's directory.
    fn path(&self, service: &str, path: &str) -> PathBuf {
        let volumes = words(&self.services[service]["volumes"]);
        let source = volumes.iter().find_map(|volume| {
            let (source, target) = volume.split_once(':')?;
            (target.trim_end_matches(":ro") == path).then_some(source)
        });
        let source = source.unwrap_or_else(|| panic!("{service} has nothing at {path}"));
        match source.strip_prefix("./") {
            Some(file) => tests::workspace().join(file),
            None => self.directory.path().join(source),
        }
    }

    /// A word of a command with this machine's paths.
    fn word(&self, service: &str, word: &str) -> String {
        let secrets = self.directory.path().join("secrets").display().to_string();
        let word = word.replace("/run/secrets", &secrets);
        match word.split_once("/var/lib/recrawl") {
            Some((before, after)) => format!("{before}{}{after}", self.path(service, "/var/lib/recrawl").display()),
            None => word,
        }
    }

    /// A command with a service's environment. The image's paths are replaced by this machine's.
    fn command(&self, service: &str, words: &[String]) -> Command {
        let mut command = programs().command(&words[0]);
        command.args(words[1..].iter().map(|word| self.word(service, word)));
        command.envs(&self.here).current_dir(&self.directory);
        for (variable, value) in self.services[service]["environment"].as_object().unwrap() {
            let value = value.as_str().unwrap();
            command.env(variable, if value.starts_with('/') { self.path(service, value) } else { value.into() });
        }
        command
    }

    /// Runs `docker compose run SERVICE WORD…`, or the service's own command, to its end.
    fn run(&self, service: &str, instead: &[&str]) -> tests::Output {
        let own = words(&self.services[service]["command"]);
        let instead: Vec<_> = instead.iter().map(|word| (*word).to_owned()).collect();
        let words = if instead.is_empty() { &own } else { &instead };
        given_again(|| Process::start(self.command(service, words), self.directory.path()).finish()).exits_with(0)
    }

    fn start(&self, stage: &'static str) -> Service {
        let command = self.command(stage, &words(&self.services[stage]["command"]));
        Service::start(stage, command, self.directory.path())
    }
}

#[test]
fn services_of_compose_yaml_crawl_with_its_settings_and_answer_prometheus_and_the_health_check() {
    let Some(brokers) = kafka() else { return };
    let web = SimulatedWeb::start(SeededConfig { hosts: 2, pages_per_host: 2, ..SeededConfig::default() }, 1.0, |_| ());
    let composition = Composition::new(&web, &brokers);
    composition.run("topics", &[]);
    let stages: BTreeMap<_, _> =
        STAGES.iter().map(StageEntry::name).map(|stage| (stage, composition.start(stage))).collect();
    for (name, stage) in &stages {
        wait_for(&format!("{name} is healthy"), SOON, || {
            let Some(address) = stage.address() else { return false };
            let check = health_check()
                .iter()
                .map(|word| word.replace("127.0.0.1:9464", &address.to_string()))
                .collect::<Vec<_>>();
            let check = composition.command(name, &check);
            Process::start(check, composition.directory.path()).finish().status.success()
        });
    }

    let prometheus = yaml("compose/prometheus.yaml");
    let found = &prometheus["scrape_configs"][0]["dns_sd_configs"][0];
    let (names, port) = (words(&found["names"]), &found["port"]);
    assert_eq!(names.len(), stages.len() + 1, "the stages and the delivery");
    for name in names.iter().filter(|name| *name != "delivery") {
        let ready = format!("recrawl_stage_ready{{stage=\"{name}\"}}");
        // Prometheus asks by the address, people by the name.
        for host in [format!("{name}:{port}"), format!("172.18.0.7:{port}")] {
            let answer = HttpAnswer::of_host(stages[name.as_str()].address().unwrap(), &host, "/metrics").unwrap();
            assert!(answer.status == 200 && answer.body.contains(&ready), "{host}: {}\n{}", answer.head, answer.body);
        }
    }
    // `docker compose up --scale detector=2`
    let second = composition.start("detector");
    let first = &stages["detector"];
    wait_for("both share the partitions", SOON, || {
        let (one, other) = (first.partitions(), second.partitions());
        one.min(other) > 0 && one + other == u64::from(Settings::default().kafka.partitions)
    });

    let urls = web.urls();
    let seed: Vec<_> = ["recrawl", "seed"].into_iter().chain(urls.iter().map(String::as_str)).collect();
    composition.run("command", &seed);
    wait_for("the first copy of every page is told", SOON, || {
        let reported = composition.run("command", &["recrawl", "--format", "json", "changes"]).stdout;
        urls.iter().all(|url| reported.contains(&format!("\"{url}\"")))
    });
    composition.run("command", &[]);
    delivers(&composition, urls.len());
    second.stop();
    for stage in stages.into_values() {
        stage.stop();
    }
}

/// The service `delivery` posts the changes to a web server, and is healthy.
fn delivers(composition: &Composition, changes: usize) {
    let receiver = WebhookReceiver::start(|_| Reply::status(200));
    let secrets = composition.directory.path().join("secrets");
    fs::create_dir(&secrets).unwrap();
    fs::write(secrets.join("webhook-address"), receiver.url()).unwrap();
    fs::write(secrets.join("webhook-secret"), "a secret of our own making").unwrap();
    let own = words(&composition.services["delivery"]["command"]);
    let delivery = Process::start(composition.command("delivery", &own), composition.directory.path());
    wait_for("every change is told", SOON, || receiver.taken().len() == changes);
    assert!(receiver.taken().iter().all(|webhook| webhook.headers.contains_key("webhook-signature")));
    let said = delivery.stderr();
    let address = said.split_once("metrics are at http://").and_then(|(_, rest)| rest.split_once('/')).unwrap().0;
    let check: Vec<_> = health_check().iter().map(|word| word.replace("127.0.0.1:9464", address)).collect();
    Process::start(composition.command("delivery", &check), composition.directory.path()).finish().exits_with(0);
    let address = address.parse::<SocketAddr>().unwrap();
    let answer = HttpAnswer::of_host(address, "delivery:9464", "/metrics").unwrap();
    assert!(answer.body.contains("recrawl_stage_ready{stage=\"delivery\"} 1.0"), "{}", answer.body);
    delivery.signal(libc::SIGTERM);
    delivery.finish().exits_with(0);
}

//! The console of a crawl over Kafka: processes without state that ask the stages, as the pods of `k8s/components/console`.

use crate::delivery_pod::manifest;
use crate::services::{Distributed, SOON, Service, kafka};
use simweb::SeededConfig;
use std::path::Path;
use std::process::Command;
use tests::{HttpAnswer, Process, SimulatedWeb, programs, wait_for};

/// The pages of each host, and the hosts.
const PAGES: usize = 3;
const HOSTS: usize = 2;

/// The command of the pod, with its environment. A directory is its Secret, and flags are its settings.
fn pod(distributed: &Distributed, secret: &Path) -> Command {
    let deployment = manifest("k8s/components/console/console.yaml", "Deployment");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let words: Vec<_> = container["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut command = programs().command(words[0]);
    // It listens as in a pod, where other machines reach it.
    command.arg(words[1]).args(distributed.crawl.flags()).args(["--wait", "1m", "--set", "http.bind=0.0.0.0:0"]);
    for variable in container["env"].as_array().unwrap() {
        let value = variable["value"].as_str().unwrap();
        let value = value.replace("/run/secrets/console", &secret.display().to_string());
        command.env(variable["name"].as_str().unwrap(), value);
    }
    command
}

#[test]
fn a_console_shows_a_crawl_over_kafka_and_gives_orders_to_it() {
    let Some(brokers) = kafka() else { return };
    let config = SeededConfig { hosts: HOSTS, pages_per_host: PAGES, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |_| ());
    let distributed = Distributed::of(&web, &brokers, &[("policy.min_interval", "1h")]);
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);

    let directory = distributed.crawl.directory.path();
    let program = |arguments: &[&str]| {
        let mut command = programs().command("recrawl");
        command.args(arguments).args(distributed.crawl.flags());
        command
    };
    let locked = Process::start(program(&["console"]), directory).finish().exits_with(2);
    assert!(locked.stderr.contains("nobody could log in"), "{}", locked.stderr);
    let keys = directory.join("keys.toml").display().to_string();
    let [token, admin] = [("alice", "operator"), ("carol", "admin")].map(|(name, role)| {
        let mut command = programs().command("recrawl");
        command.args(["--format", "json", "key", name, "--role", role, "--file", &keys]);
        let key = Process::start(command, directory).finish().exits_with(0).json();
        key["token"].as_str().unwrap().to_owned()
    });
    let (token, admin) = (&*token, &*admin);
    std::fs::write(directory.join("forms-key"), "a-secret-of-both-consoles-of-the-crawl\n").unwrap();
    let consoles = [(); 2].map(|()| Service::start("console", pod(&distributed, directory), directory));
    wait_for("the consoles listen", SOON, || consoles.iter().all(|console| console.address().is_some()));
    let [address, other_address] = [0, 1].map(|number: usize| consoles[number].address().unwrap());
    let screen = |path: &str| HttpAnswer::with_token(address, path, token).unwrap();

    assert_eq!(HttpAnswer::to(address, "/").unwrap().status, 401);
    assert_eq!(HttpAnswer::to(address, "/healthz").unwrap().status, 200);
    let url = web.urls()[0].clone();
    let of_page: String = form_urlencoded::byte_serialize(url.as_bytes()).collect();
    let page = format!("/page?url={of_page}");
    for (path, shown) in [
        ("/", "6 of 6 pages were fetched"),
        ("/changes", "is new here"),
        ("/pages", "6 pages"),
        (&*page, "Fetch it now"),
        ("/hosts", "host-0001.test"),
        ("/watches", "No rule watches anything"),
        ("/seeds", "Check these"),
        ("/trouble", "Nothing needs you"),
        ("/stages", "detector"),
    ] {
        let screen = screen(path);
        assert!(screen.status == 200 && screen.body.contains(shown), "{path}: {} {}", screen.status, screen.body);
    }
    assert_eq!(screen("/people").status, 403);
    assert_eq!(HttpAnswer::to(address, "/readyz").unwrap().status, 200);
    assert_eq!(screen("/api/v1/changes").status, 404);

    let form_token = |path: &str| {
        let body = screen(path).body;
        let (_, rest) = body.split_once("name=\"form_token\" value=\"").expect("a form");
        rest.split('"').next().unwrap().to_owned()
    };
    // A form goes to another process than its screen came from, as it may behind one address.
    let send = |path: &str, from: &str, names: &str| {
        let fields = [("form_token", &*form_token(from)), ("names", names), ("back", "/")];
        HttpAnswer::to_form(other_address, path, token, &fields).unwrap()
    };
    let looks = || web.page_requests();
    let before = looks();
    let answer = send("/pages/refetch", &page, &url);
    assert!(answer.status == 200 && answer.body.contains("1 page to be fetched"), "{}", answer.body);
    wait_for("the page is fetched again", SOON, || looks() > before);
    let answer = send("/hosts/block", "/hosts", "host-0001.test");
    assert!(answer.body.contains("1 host blocked"), "{}", answer.body);
    wait_for("the host is blocked", SOON, || screen("/hosts").body.contains("<td>blocked</td>"));
    // A rule that is saved counts in the detectors at once.
    let host = url.split('/').nth(2).unwrap();
    // The host of the first page is blocked.
    let second = web.urls().into_iter().find(|other| !other.contains(host)).unwrap();
    let fields = [
        ("form_token", &*form_token("/watches")),
        ("url", &*second),
        ("watch", "h1"),
        ("name", "heads"),
        ("act", "save"),
    ];
    let saved = HttpAnswer::to_form(other_address, "/rules/change", token, &fields).unwrap();
    assert!(saved.body.contains("The rule heads is saved"), "{}", saved.body);
    assert!(screen("/watches").body.contains("One rule watches one page"), "{}", screen("/watches").body);
    wait_for("the rule has looked at its page", SOON, || {
        send("/pages/refetch", &page, &second);
        screen("/watches").body.contains("<code>h1</code>: ")
    });
    let orders = distributed.ask(&["audit"]).exits_with(0).stdout;
    assert!(orders.contains("alice"), "the record has the owner of the key: {orders}");
    assert_eq!(send("/pages/forget", &page, &url).status, 403, "it takes an admin");
    let people = || HttpAnswer::with_token(address, "/people", admin).unwrap().body;
    wait_for("the refused order is shown", SOON, || people().contains("has the role operator"));
    let people = people();
    for shown in ["<bdi>alice</bdi>", "<bdi>carol</bdi>", "class=\"lacks\"", "<td>block</td>"] {
        assert!(people.contains(shown), "{shown}: {people}");
    }
    assert!(!people.contains("the data directory"), "{people}");
    consoles.into_iter().for_each(|console| _ = console.stop());
    services.into_iter().for_each(|service| _ = service.stop());
}

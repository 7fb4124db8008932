//! The dev overlay on a real control plane and a real Kafka with TLS, and what operators do to it: `make k8s-e2e`.
//!
//! One test, because a cluster with the loop on it takes half a minute to come up. It prints its steps.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use k8s_openapi::api::core::v1::Pod;
use kubernetes::cluster::{Cluster, IMAGES, NAMESPACE, Overlay, SOON, STAGES, container, urls};
use kubernetes::kubelet::Kubelet;
use kubernetes::site::{Entry, Site};
use kubernetes::wait_for;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Every page every five seconds, whatever is known of it, so that what is lost shows soon.
const SETTINGS: &str = "[policy]\nname = \"uniform\"\nmin_interval = \"2s\"\n[budget]\nfetches_per_second = 20\n\
                        [politeness]\ncrawl_delay = \"100ms\"\n";

const HOSTS: usize = 12;
const CRAWL_DELAY: Duration = Duration::from_millis(100);

fn overlay(settings: String, image: &'static str, [schedulers, detectors, fetchers]: [usize; 3]) -> Overlay {
    let replicas =
        vec![("recrawl-scheduler", schedulers), ("recrawl-detector", detectors), ("recrawl-fetcher", fetchers)];
    Overlay { settings, image, replicas, further: String::new() }
}

/// Changes all pages and waits until they have been fetched: the loop turns, and no page is lost.
async fn turns(cluster: &Cluster, urls: &[String], version: u32) {
    cluster.site.change();
    cluster.wait_until_sent(urls, version).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dev_overlay_runs_and_takes_what_operators_do_to_it() {
    let mut cluster = Cluster::start().await;
    let settings =
        cluster.settings(&format!("[fetch]\nresolve = {{ \"*.test\" = \"{}\" }}\n{SETTINGS}", cluster.site.address));
    cluster.bring_up(&overlay(settings.clone(), IMAGES[0], [1, 1, 1])).await;

    let urls = urls("h", HOSTS, 8);
    cluster.seed(&urls).await;
    cluster.wait_until_sent(&urls, 0).await;
    cluster.step("every page is fetched");

    cluster.kubectl("scale statefulset/recrawl-scheduler statefulset/recrawl-detector --replicas=2").await;
    cluster.kubectl("scale deployment/recrawl-fetcher --replicas=3").await;
    cluster.wait_until_rolled_out().await;
    turns(&cluster, &urls, 1).await;
    cluster.step("scaled: two schedulers, two detectors, three fetchers");

    block_a_host(&cluster).await;

    let formed = cluster.kafka.rebalances();
    for stage in STAGES {
        cluster.kubectl(&format!("set image {stage} main={}", IMAGES[1])).await;
    }
    cluster.wait_until_rolled_out().await;
    turns(&cluster, &urls, 2).await;
    let rebalances = rebalances_since(&cluster, &formed);
    cluster.step(&format!("rolled over to a version whose records have a field more: {rebalances}"));

    cluster.kubectl(&format!("rollout undo {}", STAGES.join(" "))).await;
    cluster.wait_until_rolled_out().await;
    turns(&cluster, &urls, 3).await;
    cluster.step(&format!("rolled back: {}", rebalances_since(&cluster, &formed)));

    cluster.kubectl("drain node-1 --ignore-daemonsets --delete-emptydir-data --timeout=120s").await;
    cluster.wait_until_rolled_out().await;
    turns(&cluster, &urls, 4).await;
    cluster.kubectl("uncordon node-1").await;
    cluster.step(&format!("a node is drained, its pods run on the other: {}", rebalances_since(&cluster, &formed)));

    let before = cluster.restarts().await;
    let is_killed = |pod: &str| pod.ends_with("-0") || pod.starts_with("recrawl-fetcher");
    let killed: Vec<&String> = before.keys().filter(|pod| is_killed(pod)).collect();
    for pod in &killed {
        assert!(cluster.nodes.iter().any(|node| node.kill(pod)), "{pod} does not run");
    }
    wait_for("killed containers are restarted", SOON, async || {
        let now = cluster.restarts().await;
        let missing: Vec<_> = killed.iter().filter(|pod| now.get(**pod) != Some(&(before[**pod] + 1))).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("{missing:?}")) }
    })
    .await;
    cluster.wait_until_rolled_out().await;
    turns(&cluster, &urls, 5).await;
    let rebalances = rebalances_since(&cluster, &formed);
    cluster.step(&format!("the first pod of each stage and all fetchers were killed, and go on: {rebalances}"));

    let before = cluster.restarts().await;
    cluster.kafka.order("stop").await;
    // Longer than liveness probes bear a silent port: six times ten seconds.
    tokio::time::sleep(Duration::from_secs(75)).await;
    cluster.kafka.order("start").await;
    turns(&cluster, &urls, 6).await;
    cluster.wait_until_rolled_out().await;
    assert_eq!(cluster.restarts().await, before, "an outage of the broker restarts no pod");
    cluster.step("the broker was away for 75 s, and no pod was restarted");

    assert_drained(&cluster, &[0]);

    let wrong = settings.replace("fetches_per_second = 20", "fetches_per_second = \"many\"");
    cluster.apply(&overlay(wrong, IMAGES[1], [2, 2, 3])).await;
    let reported = wait_for("a wrong setting is reported", SOON, async || {
        let reported = cluster.pods().await.iter().find_map(last_refusal);
        reported.ok_or_else(|| "no container has refused its settings".to_owned())
    })
    .await;
    assert!(reported.contains("fetches_per_second"), "{reported}");
    for (stage, ready) in [("deployment/recrawl-fetcher", "3"), ("statefulset/recrawl-scheduler", "1")] {
        wait_for(&format!("{ready} pods of {stage} keep the right settings"), SOON, async || {
            let reported = cluster.kubectl(&format!("get {stage} -o jsonpath={{.status.readyReplicas}}")).await;
            if reported == ready { Ok(()) } else { Err(format!("{reported} are ready")) }
        })
        .await;
    }
    cluster.step(&format!("a wrong setting stops the rollout: {}", reported.lines().last().unwrap_or_default()));
    cluster.apply(&overlay(settings, IMAGES[1], [2, 2, 3])).await;
    cluster.wait_until_rolled_out().await;
    turns(&cluster, &urls, 7).await;
    cluster.step("the right settings roll out");

    let pod = "run bare --image=recrawl:0.1.0 --command -- recrawl --help";
    let words: Vec<&str> = ["-n", NAMESPACE].into_iter().chain(pod.split_whitespace()).collect();
    let refused = cluster.control_plane.kubectl(&words).await;
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && errors.contains("violates PodSecurity \"restricted"), "{errors}");
    cluster.step("a pod that breaks restricted security is refused");

    // A pod with the wrong settings may have been about to refuse them when it got SIGTERM.
    assert_drained(&cluster, &[0, 2]);
    assert_eq!(cluster.site.most_at_once(), 1, "one request at a time to each host");
    let gap = shortest_gap(&cluster.site);
    assert!(gap >= CRAWL_DELAY, "requests to a host {gap:?} apart");
    let repeated = repeated(&cluster.site);
    // Killed fetchers had at most one request under way to each host.
    assert!(repeated.len() <= HOSTS, "sent twice to no avail: {repeated:?}");
    cluster.step(&format!(
        "nothing is lost, and {} of {} pages sent were sent twice",
        repeated.len(),
        cluster.site.books().len()
    ));
}

/// Checks that all pods of stages that got SIGTERM ended within their grace period, with one of these exit codes.
fn assert_drained(cluster: &Cluster, exit_codes: &[i32]) {
    let ended: Vec<_> = cluster.nodes.iter().flat_map(Kubelet::ended).collect();
    let stages = ended.iter().filter(|ended| !ended.pod.starts_with("recrawl-command"));
    for ended in stages.filter(|ended| ended.after_sigterm.is_some()) {
        let is_in_time = ended.after_sigterm < ended.grace_period;
        assert!(is_in_time && exit_codes.contains(&ended.exit_code), "{ended:?}");
    }
}

/// Blocks a host by the user of commands, and takes it back. The site's books say when the host was left alone.
async fn block_a_host(cluster: &Cluster) {
    const BLOCKED: &str = "h3.test";
    let is_of_blocked = |page: &str| page.starts_with(BLOCKED);
    cluster.recrawl(&["block", BLOCKED]).await;
    let blocked_at = Instant::now();
    wait_for("the others were fetched for ten seconds", SOON, async || {
        let later = |entry: &Entry| !is_of_blocked(&entry.page) && entry.at >= blocked_at + Duration::from_secs(10);
        if cluster.site.books().iter().any(later) { Ok(()) } else { Err("not yet".to_owned()) }
    })
    .await;
    let books = cluster.site.books();
    let last = books.iter().filter(|entry| is_of_blocked(&entry.page)).map(|entry| entry.at).max().unwrap();
    let after = last.saturating_duration_since(blocked_at);
    assert!(after < Duration::from_secs(3), "{BLOCKED} was asked {after:?} after it was blocked");
    cluster.recrawl(&["unblock", BLOCKED]).await;
    wait_for("the host is asked again", SOON, async || {
        let again = |entry: &Entry| is_of_blocked(&entry.page) && entry.at > last;
        if cluster.site.books().iter().any(again) { Ok(()) } else { Err("not yet".to_owned()) }
    })
    .await;
    cluster.step(&format!("a host is blocked: its last request came {:.1} s later", after.as_secs_f64()));
}

/// How often each group was formed anew, in words. Those of static members never were.
fn rebalances_since(cluster: &Cluster, before: &BTreeMap<String, usize>) -> String {
    let mut since = cluster.kafka.rebalances();
    since.iter_mut().for_each(|(group, count)| *count -= before.get(group).unwrap_or(&0));
    since.retain(|_, count| *count > 0);
    let moved: Vec<_> = since.keys().filter(|group| *group != "recrawl-fetcher").collect();
    assert!(moved.is_empty(), "partitions of stages with state moved: {since:?}");
    format!("{since:?} rebalances since")
}

/// The message with which a pod's container last ended, if it ended for its settings or its user's rights (exit code 2).
fn last_refusal(pod: &Pod) -> Option<String> {
    let terminated = container(pod)?.last_state.as_ref()?.terminated.as_ref()?;
    terminated.message.clone().filter(|_| terminated.exit_code == 2)
}

/// The shortest time between two requests to a host.
fn shortest_gap(site: &Site) -> Duration {
    let mut hosts: BTreeMap<String, Vec<Instant>> = BTreeMap::new();
    for entry in site.books() {
        let host = entry.page.split_once('/').unwrap().0.to_owned();
        hosts.entry(host).or_default().push(entry.at);
    }
    let gaps = hosts.values().flat_map(|moments| moments.windows(2).map(|pair| pair[1] - pair[0]));
    gaps.min().unwrap()
}

/// Pages that were sent more than once in the same version.
fn repeated(site: &Site) -> BTreeMap<(String, u32), usize> {
    let mut sent = BTreeMap::new();
    for entry in site.books() {
        if let Some(version) = entry.sent {
            *sent.entry((entry.page, version)).or_default() += 1;
        }
    }
    sent.retain(|_, times| *times > 1);
    sent
}

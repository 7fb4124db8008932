//! Days in seconds: pages change while the loop runs, and the product publishes each change once, in order.

use crate::operating::{shown_status, stop};
use messages::{Digest, Encoded, PageChange, Verdict, topics};
use operate::Inspection;
use page::{CanonicalUrl, PageId};
use recrawl::stages::topologies;
use serde_json::Value;
use simweb::{ChangeRates, SeededConfig};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use stream::{LogBackend, TopicPartition};
use tests::{Crawl, SOON, SimulatedWeb, books, wait_for};

#[test]
fn changes_are_seen_and_reported_once_in_the_order_of_the_web() {
    let seeded = SeededConfig {
        hosts: 5,
        pages_per_host: 12,
        rates: ChangeRates::Same(4.0),
        vanishing_share: 0.3,
        days: 12.0,
        ..SeededConfig::default()
    };
    // A real second is five and a half hours on this web.
    // Pages that go are said to be gone: a 404 is believed only when it has lasted for days.
    let web = SimulatedWeb::start(seeded, 20_000.0, |config| config.dials.gone_status = 410);
    let mut crawl = Crawl::of(&web)
        .with("budget.fetches_per_second", "0.005")
        .with("budget.burst", "1d")
        .with("policy.scan_interval", "5m")
        .with("policy.min_interval", "30m")
        // What is real time to the network is hours to the web.
        .with("policy.lease_timeout", "30d")
        .with("politeness.response_time_factor", "0")
        .with("log.batch_interval", "10ms");
    for (key, value) in web.clock_settings() {
        crawl = crawl.with(key, &value);
    }
    let running = crawl.run(&[]);
    let changes = || shown_status(&crawl)["changes_total"].as_u64().unwrap_or(0);
    wait_for("pages are seen to go that were there before", SOON, || {
        let asked = web.ledger();
        let with_status = |status| -> BTreeSet<_> {
            let found = asked.iter().filter(|entry| entry.status == status);
            found.map(|entry| (entry.host.clone(), entry.path.clone())).collect()
        };
        with_status(200).intersection(&with_status(410)).count() >= 3
    });
    let seen = changes();
    wait_for("more changes are seen, and those before them are told", SOON, || changes() > 200.max(seen + 10));
    stop(running);

    let versions = versions(&web);
    let (mut reported, mut names) = (BTreeMap::<PageId, Vec<PageChange>>::new(), BTreeSet::new());
    for change in page_changes(&crawl) {
        assert!(names.insert(change.change_id.clone()), "{} was told twice", change.change_id);
        reported.entry(change.page_id).or_default().push(change);
    }
    let pages = books::read(&crawl);
    are_reported_by_the_command(&crawl, &reported);
    // A seed that was gone before the first look is reported as that.
    reported.values_mut().for_each(|changes| changes.retain(|change| change.verdict != Verdict::Failed));
    reported.retain(|_, changes| !changes.is_empty());
    for (id, page) in &pages {
        assert_eq!(reported.contains_key(id), page.scheduler.body_length > 0, "{:?}", page.scheduler);
    }
    for (id, changes) in &reported {
        let page = &pages[id];
        let url = &page.scheduler.url;
        assert_eq!(changes[0].verdict, Verdict::First, "{url}");
        // The detector may be ahead of the scheduler by what was on its way when time was up.
        let ahead = page.detector_fetches - page.scheduler.fetches;
        let behind = changes.len() as i64 - 1 - page.scheduler.changes;
        assert!((0..=ahead).contains(&behind), "{url}: {behind} of {} changes missing", changes.len());
        let seen: Vec<Option<usize>> =
            changes.iter().map(|change| Some(versions[id][&change.content_digest?])).collect();
        for (pair, seen) in changes.windows(2).zip(seen.windows(2)) {
            assert!(
                pair[0].seen_at < pair[1].seen_at && pair[1].previous_seen_at >= Some(pair[0].seen_at),
                "{pair:#?}"
            );
            match seen[1] {
                Some(version) => assert!(seen[0] < Some(version), "{url}: version {version} after {:?}", seen[0]),
                None => assert_eq!(pair[1].verdict, Verdict::Gone, "{url}"),
            }
        }
    }
    let kept = reported.iter().find(|(_, changes)| changes.last().is_some_and(|last| last.verdict != Verdict::Gone));
    let (id, changes) = kept.expect("not all pages go");
    let page = web
        .urls()
        .iter()
        .enumerate()
        .find_map(|(number, url)| {
            let url = CanonicalUrl::parse(url).unwrap();
            (url.page_id() == *id).then_some(number)
        })
        .unwrap();
    let version = versions[id][&changes.last().unwrap().content_digest.unwrap()];
    let read = reading::read(&web.body(page, version), Some("text/html; charset=utf-8"), None).full_text;
    let text = crawl.ask("page", &[pages[id].scheduler.url.as_str(), "--text"]).exits_with(0).stdout;
    assert_eq!(text.trim_end(), read.trim_end(), "the kept copy is the last version told");
    assert!(reported.values().flatten().any(|change| change.verdict == Verdict::Gone), "no page was seen to go");
    // A page whose belief follows the web: four changes a day are far from the prior's one in 250 days.
    let mean = pages.values().map(|page| page.scheduler.belief.alpha / page.scheduler.belief.beta_days).sum::<f64>();
    assert!(mean / pages.len() as f64 > 0.02, "{}", mean / pages.len() as f64);
}

/// `recrawl changes` gives what is on the topic, each page's changes in order, and goes on where a cursor says.
fn are_reported_by_the_command(crawl: &Crawl, reported: &BTreeMap<PageId, Vec<PageChange>>) {
    let ask = |further: &[&str]| -> Vec<Value> {
        let output = crawl.ask("changes", further).exits_with(0);
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let all = ask(&[]);
    assert_eq!(all.len(), reported.values().map(Vec::len).sum::<usize>());
    let mut of_pages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in &all {
        of_pages.entry(text(line, "page_id")).or_default().push(text(line, "change_id"));
    }
    for (id, changes) in reported {
        let names: Vec<_> = changes.iter().map(|change| change.change_id.clone()).collect();
        assert_eq!(of_pages[&id.to_string()], names);
    }
    let middle = all.len() / 2;
    assert_eq!(ask(&["--cursor", &text(&all[middle - 1], "cursor")]), all[middle..], "nothing twice, nothing left out");
    assert_eq!(ask(&["--limit", "7"]), all[..7]);
    assert_eq!(ask(&["--follow", "--limit", "7"]), all[..7]);
    let since = text(&all[middle], "seen_at");
    let later = all.iter().filter(|line| text(line, "seen_at") >= since);
    assert_eq!(ask(&["--since", &since]).len(), later.count());
    assert!(crawl.ask("changes", &["--cursor", "1.2.3.4.5.6.7"]).exits_with(2).stderr.contains("partitions"));
}

/// Everything on the topic of page changes, partition by partition.
pub(crate) fn page_changes(crawl: &Crawl) -> Vec<PageChange> {
    page_change_records(crawl).iter().map(|value| PageChange::decode(value).unwrap()).collect()
}

/// The values of the records on the topic of page changes, partition by partition.
pub(crate) fn page_change_records(crawl: &Crawl) -> Vec<Vec<u8>> {
    let inspection = Inspection::open(&crawl.settings(), topologies(), &crawl.data()).unwrap();
    let topic = inspection.names().topic(topics::PAGE_CHANGES);
    let partitions = inspection.log().topics().unwrap().into_iter().find(|config| *config.name == topic);
    let mut changes = Vec::new();
    for partition in 0..partitions.expect("the topic exists").partitions {
        let place = TopicPartition::new(topic.as_str(), partition);
        let mut next = inspection.log().bounds(&place).unwrap().start;
        loop {
            let records = inspection.log().read(&place, next, stream::PollLimits::records(1_000)).unwrap();
            let Some(last) = records.last() else { break };
            next = last.offset + 1;
            changes.extend(records.iter().map(|record| record.value.as_ref().unwrap().to_vec()));
        }
    }
    changes
}

/// Which version of each page a digest is.
fn versions(web: &SimulatedWeb) -> BTreeMap<PageId, HashMap<Digest, usize>> {
    let pages = web.trace().pages;
    let of_page = |(number, page): (usize, &simweb::PageHistory)| {
        let digests = (0..page.states.len()).map(|version| (Digest::of(&web.body(number, version)), version));
        (CanonicalUrl::parse(&page.url()).unwrap().page_id(), digests.collect())
    };
    pages.iter().enumerate().map(of_page).collect()
}

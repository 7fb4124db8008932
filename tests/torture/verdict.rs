//! Does the end look as if nothing had happened?

use crate::crawl::IN_FLIGHT;
use crate::plan::STAGES;
use messages::{Digest, FetchResult, PageChange, PageObservation, topics};
use simweb::{LedgerEntry, RequestKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use tests::services::{Distributed, PARTITIONS, SOON};
use tests::topics::Topics;
use tests::{SimulatedWeb, books, wait_for};

/// The witnesses of a crawl that is over, and how often each page was asked for.
pub(crate) struct Verdict<'a> {
    pub(crate) crawl: &'a Distributed,
    pub(crate) web: &'a SimulatedWeb,
    pub(crate) round: usize,
}

impl Verdict<'_> {
    /// Panics where the end is not as it should be. `cut_off`: how often something was done to a fetcher.
    pub(crate) fn reach(&self, cut_off: usize) -> String {
        let dead_letters = self.crawl.ask(&["dead-letters"]).exits_with(0).json();
        assert_eq!(dead_letters.as_array().map(Vec::len), Some(0), "{dead_letters:#}");
        self.check_topics();
        let said = self.said();
        let rejoins = rejoins(&said);
        let repeated = self.check_ledger(cut_off + rejoins["fetcher"]);
        self.check_books();
        let pages = self.web.urls().len();
        format!("{pages} pages {} times, {repeated} requests made again, rejoins {rejoins:?}", self.round)
    }

    /// On every topic there is one record for each request, however often something was tried again.
    fn check_topics(&self) {
        let mut topics = Topics::of(self.crawl);
        let answers = self.web.urls().len() * self.round;
        let results = topics.of_type::<FetchResult>(topics::FETCH_RESULTS);
        once("results", answers, results.iter().map(|result| (result.look.page_id, result.look.attempt)));
        let observations = topics.of_type::<PageObservation>(topics::PAGE_OBSERVATIONS);
        once(
            "observations",
            answers,
            observations.iter().map(|observation| (observation.look.page_id, observation.look.attempt)),
        );
        let reported = topics.of_type::<PageChange>(topics::PAGE_CHANGES);
        once("changes", reported.len(), reported.iter().map(|change| &change.change_id));
        assert!(reported.len() >= self.web.urls().len(), "{} changes", reported.len());
    }

    /// Every page was requested as often as asked, and again only as often as a fetcher was cut off with it. Returns how
    /// many requests were made again.
    fn check_ledger(&self, cut_off: usize) -> usize {
        let ledger = self.looks();
        let mut repeated = 0;
        for url in self.web.urls() {
            let count = ledger.get(&url).map_or(0, Vec::len);
            assert!(count >= self.round, "{url} was fetched {count} times, not {}", self.round);
            repeated += count - self.round;
        }
        let most = cut_off * IN_FLIGHT;
        assert!(repeated <= most, "{repeated} requests were made again, and a fetcher was cut off {cut_off} times");
        repeated
    }

    /// The web's answers by page, in their order.
    fn looks(&self) -> BTreeMap<String, Vec<LedgerEntry>> {
        let mut looks: BTreeMap<String, Vec<LedgerEntry>> = BTreeMap::new();
        for entry in self.web.ledger().into_iter().filter(|entry| entry.kind == RequestKind::Page) {
            looks.entry(format!("http://{}{}", entry.host, entry.path)).or_default().push(entry);
        }
        looks
    }

    /// The state as its changelogs give it to processes without a disk is what the web has answered.
    fn check_books(&self) {
        let judges = STAGES.into_iter().filter(|stage| *stage != "fetcher");
        let judges: Vec<_> = judges.map(|stage| self.crawl.start(stage, "judge")).collect();
        for judge in &judges {
            wait_for(&format!("the {} is restored", judge.stage), 2 * SOON, || {
                judge.partitions() == u64::from(PARTITIONS)
            });
        }
        judges.into_iter().for_each(|judge| drop(judge.stop()));
        let pages = books::read_stages(PARTITIONS, |stage| self.crawl.data(stage, "judge"));
        assert_eq!(pages.len(), self.web.urls().len());
        let (looks, places) = (self.looks(), self.web.urls().into_iter().zip(0..).collect::<BTreeMap<_, _>>());
        let rounds = self.round as i64;
        for page in pages.values() {
            let (url, kept) = (page.scheduler.url.to_string(), &page.scheduler);
            let counts = (kept.fetches, page.detector_fetches, page.estimator_fetches);
            assert_eq!(counts, (rounds, rounds, rounds), "{page:?}");
            assert_eq!(
                (kept.request.lease_until(), kept.request.attempt - kept.request.answered),
                (None, 0),
                "{page:?}"
            );
            // The last answer is what is kept: also when it had to be asked for again, it was asked for later.
            let last = looks[&url].iter().rev().find_map(|look| look.version).expect("the web answered");
            let body = self.web.body(places[&url], last as usize);
            assert_eq!(kept.validators.content_digest, Some(Digest::of(&body)), "version {last}: {page:?}");
        }
    }

    /// The standard error of all processes, also of those that were killed.
    fn said(&self) -> String {
        let directory = std::fs::read_dir(self.crawl.crawl.directory.path()).unwrap();
        let files =
            directory.map(|entry| entry.unwrap().path()).filter(|path| path.extension() == Some("stderr".as_ref()));
        let said: Vec<_> =
            files.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect();
        let said = said.concat();
        assert!(!said.contains("panicked"), "{said}");
        said
    }
}

fn once<T: Ord + Debug>(what: &str, count: usize, names: impl Iterator<Item = T>) {
    let mut seen = BTreeSet::new();
    for name in names {
        if let Some(twice) = seen.replace(name) {
            panic!("{what}: {twice:?} is there twice");
        }
    }
    assert_eq!(seen.len(), count, "{what}");
}

/// How often each stage gave up a membership to join anew.
fn rejoins(said: &str) -> BTreeMap<&'static str, usize> {
    let of = |stage: &str| {
        let lines =
            said.lines().filter(|line| line.contains("recovery=Rejoin") || line.contains("joining the group again"));
        lines.filter(|line| line.contains(&format!("stage=\"{stage}\""))).count()
    };
    STAGES.into_iter().map(|stage| (stage, of(stage))).collect()
}

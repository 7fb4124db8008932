//! The processes of a crawl, and what happens to them.

use crate::plan::{Incident, STAGES};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tests::KafkaCluster;
use tests::services::{Distributed, Service};

/// Longest time until a process that got SIGTERM has ended, and until a cluster is whole again.
const PATIENCE: Duration = Duration::from_secs(120);

/// The processes of each stage, by name, and what is still to happen to them.
pub(crate) struct Fleet<'a> {
    crawl: &'a Distributed,
    cluster: &'a KafkaCluster,
    services: BTreeMap<(&'static str, String), Service>,
    /// Incidents that have begun, by the time at which they end.
    open: Vec<(Instant, End)>,
    joined: usize,
    /// How often the work in flight of a fetcher was cut off.
    pub(crate) fetchers_cut_off: usize,
}

/// The second half of something.
#[derive(Debug)]
enum End {
    Resume((&'static str, String)),
    Leave((&'static str, String)),
    /// Has got SIGTERM; the time is the last moment at which it may end.
    Gone((&'static str, String)),
    RestartBroker(usize),
    ResumeBroker(usize),
    /// All replicas are in sync again; the time is the last moment for it.
    Settled,
}

impl<'a> Fleet<'a> {
    /// Two processes of each stage.
    pub(crate) fn start(crawl: &'a Distributed, cluster: &'a KafkaCluster) -> Self {
        let names = STAGES.iter().flat_map(|&stage| ["0", "1"].map(|name| (stage, name.to_owned())));
        let services = names.map(|(stage, name)| ((stage, name.clone()), crawl.start(stage, &name))).collect();
        Self { crawl, cluster, services, open: Vec::new(), joined: 0, fetchers_cut_off: 0 }
    }

    /// Whether something of the brokers is not over.
    pub(crate) fn is_cluster_busy(&self) -> bool {
        self.open.iter().any(|(_, end)| matches!(end, End::RestartBroker(_) | End::ResumeBroker(_) | End::Settled))
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.open.is_empty()
    }

    /// Lets something happen, or its first half.
    pub(crate) fn begin(&mut self, incident: &Incident) {
        let now = Instant::now();
        match *incident {
            Incident::KillClient { stage, place, disk_is_lost } => {
                let key = self.pick(stage, place);
                self.cut_off(stage);
                self.services.remove(&key).unwrap().kill();
                if disk_is_lost {
                    // It may have died before it had any.
                    let _ = std::fs::remove_dir_all(self.crawl.data(stage, &key.1));
                }
                let again = self.crawl.start(stage, &key.1);
                self.services.insert(key, again);
            }
            Incident::PauseClient { stage, place, pause } => {
                let key = self.pick(stage, place);
                self.cut_off(stage);
                self.services[&key].signal(libc::SIGSTOP);
                self.open.push((now + pause, End::Resume(key)));
            }
            Incident::Join { stage, stay } => {
                self.joined += 1;
                self.cut_off(stage);
                let key = (stage, format!("guest-{}", self.joined));
                self.services.insert(key.clone(), self.crawl.start(stage, &key.1));
                self.open.push((now + stay, End::Leave(key)));
            }
            Incident::KillBroker { node, away } => {
                self.cluster.kill(node);
                self.open.push((now + away, End::RestartBroker(node)));
            }
            Incident::PauseBroker { node, pause } => {
                self.cluster.pause(node);
                self.open.push((now + pause, End::ResumeBroker(node)));
            }
        }
    }

    /// One of the two processes of a stage, the other one when the first is paused.
    fn pick(&self, stage: &'static str, place: usize) -> (&'static str, String) {
        let is_free = |key: &(&'static str, String)| {
            self.open.iter().all(|(_, end)| !matches!(end, End::Resume(paused) if paused == key))
        };
        let keys = [place, 1 - place].map(|place| (stage, place.to_string()));
        keys.into_iter().find(is_free).expect("one of two is not paused")
    }

    fn cut_off(&mut self, stage: &str) {
        self.fetchers_cut_off += usize::from(stage == "fetcher");
    }

    /// Ends the incidents that are due, and checks that no process has ended by itself.
    pub(crate) fn turn(&mut self) {
        let now = Instant::now();
        for (due, end) in std::mem::take(&mut self.open) {
            match end {
                End::Gone(key) if !self.services.get_mut(&key).unwrap().is_running() => {
                    self.services.remove(&key).unwrap().drained();
                }
                End::Settled if self.cluster.is_settled() => {}
                End::Gone(_) | End::Settled => {
                    assert!(now < due, "waited {PATIENCE:?} in vain: {end:?}");
                    self.open.push((due, end));
                }
                _ if now < due => self.open.push((due, end)),
                End::Resume(key) => self.services[&key].signal(libc::SIGCONT),
                End::Leave(key) => {
                    self.cut_off(key.0);
                    self.services[&key].signal(libc::SIGTERM);
                    self.open.push((now + PATIENCE, End::Gone(key)));
                }
                End::RestartBroker(node) => {
                    self.cluster.restart(node);
                    self.open.push((now + PATIENCE, End::Settled));
                }
                End::ResumeBroker(node) => {
                    self.cluster.resume(node);
                    self.open.push((now + PATIENCE, End::Settled));
                }
            }
        }
        let leaving: Vec<_> =
            self.open.iter().filter_map(|(_, end)| if let End::Gone(key) = end { Some(key) } else { None }).collect();
        for (key, service) in &mut self.services {
            assert!(leaving.contains(&key) || service.is_running(), "{key:?} has ended:\n{}", service.said());
        }
    }

    /// Answers that the schedulers have taken in, as far as they can be asked.
    pub(crate) fn fetches(&self) -> u64 {
        let schedulers = self.services.iter().filter(|((stage, _), _)| *stage == "scheduler");
        schedulers.filter_map(|(_, service)| service.status()["fetches_total"].as_u64()).sum()
    }

    /// The end of what the processes of the stage that is named first have said.
    pub(crate) fn said(&self, stage: &str) -> String {
        let of = self.services.iter().filter(|((name, _), _)| stage.starts_with(name));
        of.map(|(key, service)| {
            let said = service.said();
            let tail: Vec<_> = said.lines().rev().take(40).collect();
            format!("--- {key:?}\n{}\n", tail.into_iter().rev().collect::<Vec<_>>().join("\n"))
        })
        .collect()
    }

    /// Stops all processes in order.
    pub(crate) fn stop_all(self) {
        for (_, service) in self.services {
            service.stop();
        }
    }
}

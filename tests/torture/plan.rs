//! The incidents of a run and their order, drawn from a seed.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::time::Duration;
use tests::KafkaCluster;

/// The stages whose processes are killed, paused and joined by others.
pub(crate) const STAGES: [&str; 5] = ["scheduler", "fetcher", "detector", "estimator", "ranker"];

/// Something that happens once. Clients are named by stage and by their place among the two of the stage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Incident {
    /// A process dies and is started again, with or without its disk.
    KillClient { stage: &'static str, place: usize, disk_is_lost: bool },
    /// The time of a process stops for longer than its session.
    PauseClient { stage: &'static str, place: usize, pause: Duration },
    /// A further process of the stage joins, and leaves in order after this time.
    Join { stage: &'static str, stay: Duration },
    /// A node dies and is started again after this time, with its data.
    KillBroker { node: usize, away: Duration },
    /// The time of a node stops for longer than its session with the controller.
    PauseBroker { node: usize, pause: Duration },
}

impl Incident {
    pub(crate) fn is_about_a_broker(&self) -> bool {
        matches!(self, Incident::KillBroker { .. } | Incident::PauseBroker { .. })
    }
}

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) hosts: usize,
    pub(crate) pages_per_host: usize,
    /// How often each page is asked for.
    pub(crate) rounds: usize,
    pub(crate) fetches_per_second: usize,
    client_kills: usize,
    client_pauses: usize,
    joins: usize,
    broker_kills: usize,
    broker_pauses: usize,
}

impl Size {
    pub(crate) const FULL: Self = Self {
        hosts: 200,
        pages_per_host: 100,
        rounds: 5,
        fetches_per_second: 130,
        client_kills: 20,
        client_pauses: 5,
        joins: 10,
        broker_kills: 5,
        broker_pauses: 5,
    };
    pub(crate) const SHORT: Self = Self {
        hosts: 40,
        pages_per_host: 15,
        rounds: 2,
        fetches_per_second: 40,
        client_kills: 4,
        client_pauses: 1,
        joins: 1,
        broker_kills: 1,
        broker_pauses: 0,
    };

    pub(crate) fn pages(&self) -> usize {
        self.hosts * self.pages_per_host
    }
}

/// Draws the incidents of a run, in their order.
pub(crate) fn draw(size: &Size, seed: u64) -> Vec<Incident> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut incidents = Vec::new();
    // Every stage in turn, so that a short run leaves none out.
    let mut stages = STAGES;
    stages.shuffle(&mut random);
    let mut stages = stages.into_iter().cycle();
    let mut stage = || stages.next().expect("it goes round");
    let mut seconds = |least: u64, most: u64| Duration::from_millis(random.random_range(least * 1_000..=most * 1_000));
    for number in 0..size.client_kills {
        let stage = stage();
        // The fetcher keeps nothing.
        let disk_is_lost = stage != "fetcher" && number / STAGES.len() % 2 == 1;
        incidents.push(Incident::KillClient { stage, place: number % 2, disk_is_lost });
    }
    for number in 0..size.client_pauses {
        incidents.push(Incident::PauseClient { stage: stage(), place: number % 2, pause: seconds(8, 14) });
    }
    for _ in 0..size.joins {
        incidents.push(Incident::Join { stage: stage(), stay: seconds(5, 15) });
    }
    for number in 0..size.broker_kills {
        incidents.push(Incident::KillBroker { node: 1 + number % KafkaCluster::NODES, away: seconds(1, 15) });
    }
    for number in 0..size.broker_pauses {
        incidents.push(Incident::PauseBroker { node: 1 + number % KafkaCluster::NODES, pause: seconds(12, 20) });
    }
    incidents.shuffle(&mut random);
    incidents
}

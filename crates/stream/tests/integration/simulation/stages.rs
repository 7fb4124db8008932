//! The specifications of the two stages.

use super::Role;
use super::counting::{RESULTS, STORES, SimulationCounter};
use super::flight::{FLIGHT_STORES, Flight, WORK};
use super::world::{Life, World};
use std::sync::Arc;
use std::time::Duration;
use stream::{DeadLetters, NamedTopic, Processor, StageSpec, StageWork, StoreSpec, TaskId};
use wire::TopicName;

impl World {
    pub(super) fn spec(self: &Arc<Self>, life: &Arc<Life>, in_flight: usize) -> StageSpec {
        let (world, of) = (self.clone(), life.clone());
        let (work, stores, output) = match life.role {
            Role::Flight => {
                (StageWork::InFlight(Box::new(Flight::new(self, life)), in_flight), &FLIGHT_STORES[..], WORK.name())
            }
            Role::Counting => {
                let make = move |task: &TaskId| -> Box<dyn Processor> {
                    Box::new(SimulationCounter::new(&world, &of, task.partition))
                };
                (StageWork::Processors(Box::new(make)), &STORES[..], RESULTS.name())
            }
        };
        let store =
            |&name: &&'static str| StoreSpec { name, changelog: format!("{name}-log"), is_public: name == "totals" };
        let news = || NamedTopic { name: TopicName::Declared("news"), topic: "news".to_owned() };
        StageSpec {
            name: life.role.group().to_owned(),
            group: life.role.group().to_owned(),
            input: life.role.input().into(),
            outputs: vec![NamedTopic { name: output, topic: output.to_string() }],
            stores: stores.iter().map(store).collect(),
            broadcasts: (life.role == Role::Counting).then(news).into_iter().collect(),
            dead_letters: DeadLetters {
                topic: "dead".to_owned(),
                encode: |dead_letter| {
                    format!("{} {} {}", dead_letter.stage, dead_letter.record.partition, dead_letter.record.offset)
                        .into_bytes()
                },
            },
            schemas: None,
            punctuate_every: Duration::from_secs(1),
            begins_traces: None,
            subject: None,
            stand_in: None,
            work,
        }
    }
}

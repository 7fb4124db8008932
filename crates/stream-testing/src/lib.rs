//! The surroundings of stages and logs in tests and simulations. The program that crawls has none of it.
//!
//! * [`TestDriver`]: runs stages over a log in memory, one step at a time, on a [`ManualClock`] that is set by hand.
//! * [`MemoryBackend`]: the simplest log, and [`MemoryStores`] for the state of its stages.
//! * [`KafkaCluster`]: a real Kafka whose nodes a test kills and pauses.
//! * [`conformance`]: the suite that every log must pass, also with stages on top.

pub mod conformance;
mod driver;
mod kafka_cluster;
mod manual_clock;
mod memory;
mod raw_record;
mod real_clock;

pub use crate::driver::TestDriver;
pub use crate::kafka_cluster::KafkaCluster;
pub use crate::manual_clock::ManualClock;
pub use crate::memory::{MemoryBackend, MemoryLogStores, MemoryStore, MemoryStores};
pub use crate::raw_record::RawRecord;
pub use crate::real_clock::RealClock;

//! What a stage reads, keeps and writes, declared once: its topics, its stores and the catalogue follow from this.

use crate::table::TableSpec;
use messages::schemas::SchemaRecord;
use messages::topics::{TopicName, TopicSpec};

/// The ends of a stage.
#[derive(Clone, Debug)]
pub struct StageTopology {
    /// Name: `scheduler`, `detector` …
    pub name: &'static str,
    /// The one input topic.
    pub input: TopicSpec,
    /// Topics it writes to.
    pub outputs: Vec<TopicSpec>,
    /// Its tables. The order is that of the stores of its tasks.
    pub tables: Vec<TableSpec>,
    /// Topic that every partition of the stage hears in full.
    pub broadcast: Option<TopicSpec>,
}

impl StageTopology {
    /// A stage that reads a topic, and so far keeps and writes nothing.
    pub fn new(name: &'static str, input: impl Into<TopicSpec>) -> Self {
        Self { name, input: input.into(), outputs: Vec::new(), tables: Vec::new(), broadcast: None }
    }

    /// It also writes to this topic.
    pub fn writes(mut self, output: impl Into<TopicSpec>) -> Self {
        self.outputs.push(output.into());
        self
    }

    /// It also keeps this table.
    pub fn keeps(mut self, table: impl Into<TableSpec>) -> Self {
        self.tables.push(table.into());
        self
    }

    /// Every partition hears this topic.
    pub fn hears(mut self, broadcast: impl Into<TopicSpec>) -> Self {
        self.broadcast = Some(broadcast.into());
        self
    }

    /// The changelogs of its tables.
    pub fn changelogs(&self) -> impl Iterator<Item = TopicSpec> {
        self.tables.iter().map(|table| table.changelog(self.name))
    }

    /// All topics that it reads or writes, each once.
    pub fn topics(&self) -> Vec<TopicSpec> {
        let own = self.outputs.iter().copied().chain(self.broadcast).chain(self.changelogs());
        let mut topics: Vec<TopicSpec> = vec![self.input];
        for topic in own {
            if !topics.iter().any(|known| known.name == topic.name) {
                topics.push(topic);
            }
        }
        topics
    }

    /// Whether it writes to a topic, as an output or as a changelog.
    pub fn writes_to(&self, topic: TopicName) -> bool {
        self.outputs.iter().copied().chain(self.changelogs()).any(|output| output.name == topic)
    }

    /// Whether it reads a topic: its input, its broadcast, or a changelog after a loss.
    pub fn reads_from(&self, topic: TopicName) -> bool {
        [self.input].into_iter().chain(self.broadcast).chain(self.changelogs()).any(|input| input.name == topic)
    }

    /// Names of its tables, in their order.
    pub fn table_names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|table| table.name).collect()
    }

    /// The schemas of what its tables hold.
    pub fn state_schemas(&self) -> Vec<SchemaRecord> {
        self.tables.iter().flat_map(|table| (table.schemas)()).collect()
    }
}

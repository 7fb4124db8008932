//! Inputs, tables and outputs of a stage, declared once. Its topics, its stores and the catalogue are derived from it.

use crate::table::TableSpec;
use wire::schemas::SchemaRecord;
use wire::{TopicName, TopicSpec};

/// Inputs, outputs and tables of a stage.
#[derive(Clone, Debug)]
pub struct StageTopology {
    /// Stage name: `scheduler`, `detector` …
    pub name: &'static str,
    /// The one input topic.
    pub input: TopicSpec,
    /// Topics it writes to.
    pub outputs: Vec<TopicSpec>,
    /// Its tables, in the order of the stores of its tasks.
    pub tables: Vec<TableSpec>,
    /// Topics that every partition of the stage reads in full.
    pub broadcasts: Vec<TopicSpec>,
    /// The output whose records begin a trace each.
    pub begins_traces: Option<TopicName>,
}

impl StageTopology {
    /// A stage that reads a topic, without tables or outputs.
    pub fn new(name: &'static str, input: impl Into<TopicSpec>) -> Self {
        Self {
            name,
            input: input.into(),
            outputs: Vec::new(),
            tables: Vec::new(),
            broadcasts: Vec::new(),
            begins_traces: None,
        }
    }

    /// Adds an output topic.
    pub fn writes(mut self, output: impl Into<TopicSpec>) -> Self {
        self.outputs.push(output.into());
        self
    }

    /// Adds a table.
    pub fn keeps(mut self, table: impl Into<TableSpec>) -> Self {
        self.tables.push(table.into());
        self
    }

    /// Adds a topic that every partition reads in full.
    pub fn takes_broadcasts_of(mut self, broadcast: impl Into<TopicSpec>) -> Self {
        self.broadcasts.push(broadcast.into());
        self
    }

    /// Sets the output with which a page begins its way round the loop.
    pub fn begins_traces_with(mut self, output: impl Into<TopicSpec>) -> Self {
        self.begins_traces = Some(output.into().name);
        self
    }

    /// The changelogs of its tables.
    pub fn changelogs(&self) -> impl Iterator<Item = TopicSpec> {
        self.tables.iter().map(|table| table.changelog(self.name))
    }

    /// All topics that it reads or writes, each once.
    pub fn topics(&self) -> Vec<TopicSpec> {
        let own = self.outputs.iter().chain(&self.broadcasts).copied().chain(self.changelogs());
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

    /// Whether it reads a topic: its input, a broadcast, or a changelog during a restore.
    pub fn reads_from(&self, topic: TopicName) -> bool {
        [self.input].iter().chain(&self.broadcasts).copied().chain(self.changelogs()).any(|input| input.name == topic)
    }

    /// Names of its tables, in declaration order.
    pub fn table_names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|table| table.name).collect()
    }

    /// Schemas of the values in its tables.
    pub fn state_schemas(&self) -> Vec<SchemaRecord> {
        self.tables.iter().flat_map(|table| (table.schemas)()).collect()
    }
}

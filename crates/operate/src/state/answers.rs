//! The answers of stages to a question.

use super::stages::{AskedStage, StagePartition};
use daemon::CommandFailure;
use messages::{Answer, Encoded};
use std::collections::BTreeSet;
use stream::Table;

/// The answers to a question so far.
#[derive(Default)]
pub(super) struct Answers {
    answers: Vec<Answer>,
    /// Partitions that have not answered.
    pub(super) silent: BTreeSet<StagePartition>,
    /// Stages of which no process runs. They are not asked, and are silent.
    pub(super) absent: BTreeSet<&'static str>,
}

impl Answers {
    pub(super) fn of_one(answer: Answer) -> Self {
        Self { answers: vec![answer], ..Self::default() }
    }

    pub(super) fn take(&mut self, answer: Answer) {
        let partition = u32::try_from(answer.partition).ok();
        let asked = self.silent.iter().find(|(stage, asked)| *stage == answer.stage && Some(*asked) == partition);
        if let Some(asked) = asked.copied() {
            self.silent.remove(&asked);
            self.answers.push(answer);
        }
    }

    /// Says that a stage has not answered, and waits no more for it.
    pub(super) fn excuse(&mut self, (stage, _): AskedStage) {
        let is_silent = self.silent.iter().any(|(silent, _)| *silent == stage);
        self.silent.retain(|(silent, _)| *silent != stage);
        self.absent.remove(stage);
        if is_silent {
            eprintln!("recrawl: the {stage} has not answered; a line of robots.txt that forbids the page is not shown");
        }
    }

    pub(super) fn of(&self, stage: AskedStage) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(move |answer| answer.stage == stage.0)
    }

    pub(super) fn has(&self, stage: AskedStage) -> bool {
        self.of(stage).next().is_some()
    }

    /// The entry of a table in the answer of its stage.
    pub(super) fn entry<K, V: Encoded>(
        &self,
        stage: AskedStage,
        table: Table<K, V>,
    ) -> Result<Option<V>, CommandFailure> {
        let Some(answer) = self.of(stage).next() else { return Ok(None) };
        answer.entry(table.name()).map_err(|error| unreadable(answer, &error))
    }
}

pub(super) fn unreadable(answer: &Answer, error: &dyn std::fmt::Display) -> CommandFailure {
    CommandFailure::World(format!("the answer of {}/{} cannot be read: {error}", answer.stage, answer.partition))
}

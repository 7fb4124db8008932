//! `recrawl topics create|check`: creates or checks the topics on Kafka.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use crate::stages::topologies;
use clap::{Args, Subcommand};
use outputs::stdout::{Format, answers};
use serde::Serialize;
use stream::Log;

/// Arguments of `recrawl topics`.
#[derive(Args, Debug)]
pub struct TopicsArguments {
    #[command(subcommand)]
    action: TopicsAction,
}

#[derive(Subcommand, Debug)]
enum TopicsAction {
    /// Creates missing topics, then checks all topics.
    Create(Where),
    /// Checks partitions, compaction, retention and message size. Exit status 1 if something differs.
    Check(Where),
}

#[derive(Args, Debug)]
struct Where {
    /// Bootstrap servers. Defaults to kafka.brokers of the settings.
    #[arg(long)]
    brokers: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Serialize)]
struct TopicRow {
    topic: String,
    partitions: u32,
    ok: bool,
    problem: Option<String>,
}

/// Creates or checks the topics.
pub fn topics(arguments: &TopicsArguments, format: Format) -> Result<(), CommandFailure> {
    let (TopicsAction::Create(place) | TopicsAction::Check(place)) = &arguments.action;
    let settings = place.settings.load(&[("kafka.brokers", place.brokers.clone())])?;
    let log = daemon::connect(&settings, "recrawl-topics")?;
    let configs = topology::topic_configs(&settings, &topologies(), settings.kafka.partitions);
    if matches!(arguments.action, TopicsAction::Create(_)) {
        log.create_topics(&configs)?;
    }
    let checks = log.check_topics(&configs)?;
    let row = |check: &stream_kafka::TopicCheck| TopicRow {
        topic: check.name.to_string(),
        partitions: configs.iter().find(|config| config.name == check.name).map_or(0, |config| config.partitions),
        ok: check.problem.is_none(),
        problem: check.problem.clone(),
    };
    let rows: Vec<_> = checks.iter().map(row).collect();
    answers(format, &rows, |row| {
        let state = row.problem.as_deref().unwrap_or("ok");
        format!("{:<44}{:>4}  {state}", row.topic, row.partitions)
    })?;
    match rows.iter().filter(|row| !row.ok).count() {
        0 => Ok(()),
        count => Err(CommandFailure::No(format!("{count} topics differ from what recrawl needs; see above"))),
    }
}

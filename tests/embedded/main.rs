//! The whole loop in one process, over a simulated web: its recovery, its requests, and its outputs.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod api;
mod archives;
mod audit;
mod away;
mod backups;
mod budget;
mod change_files;
mod changes;
mod commands;
mod console;
mod console_errands;
mod crashes;
mod dates;
mod deadly_page;
mod deadly_site;
mod delivery;
mod directories;
mod discovery;
mod draining;
mod failures;
mod feeds;
mod focus;
mod forgetting;
mod full_disk;
mod hints;
mod history;
mod ledger;
mod memory;
mod monitoring;
mod object_storage;
mod open_files;
mod operating;
mod outputs;
mod parquet;
mod power_cuts;
mod presets;
mod private_files;
mod prometheus;
mod reported_sites;
mod same_words;
mod seeds;
mod site;
mod tracing;
mod unseen;

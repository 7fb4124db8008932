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
mod contents;
mod crashes;
mod dates;
mod deadly_page;
mod deadly_site;
mod delivery;
mod digests;
mod directories;
mod discovery;
mod documented;
mod draining;
mod failures;
mod feeds;
mod focus;
mod forgetting;
mod full_disk;
mod hints;
mod history;
mod hostile_pdf;
mod ledger;
mod mail;
mod mcp;
mod memory;
mod mirror;
mod monitoring;
mod object_storage;
mod open_files;
mod operating;
mod other_mirrors;
mod outputs;
mod parquet;
mod pdf;
#[path = "../../crates/pdf-html/tests/integration/writer.rs"]
#[expect(dead_code, reason = "the tests of pdf-html use all of it")]
mod pdf_writer;
mod power_cuts;
mod preferences;
mod presets;
mod private_files;
mod prometheus;
mod python_client;
mod receivers;
mod rendered;
mod replay;
mod reported_sites;
mod same_words;
mod saved_rules;
mod searches;
mod seeds;
mod site;
mod study;
mod tracing;
mod unseen;

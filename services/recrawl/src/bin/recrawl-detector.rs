//! The detector as a separate process, over Kafka.

use recrawl::registry::change_form;
use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main_prepared("detector", change_form, |around, form| {
        Ok(detector::stage(around.settings, around.names, *form))
    })
}

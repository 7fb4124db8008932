//! Commands of the laboratory, which is a second program, `recrawl-lab`.

use crate::CommandFailure;
use clap::{Args, ValueEnum};
use outputs::stdout::Format;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

const PROGRAM: &str = "recrawl-lab";

/// Arguments of a command of the laboratory, which reads them itself.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct LabArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Becomes `recrawl-lab COMMAND ARGUMENT…`. Returns only if that cannot be started.
pub fn lab(command: &str, arguments: &LabArguments, format: Format) -> Result<(), CommandFailure> {
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(PROGRAM)));
    let program = beside.filter(|program| program.is_file()).unwrap_or_else(|| PROGRAM.into());
    let mut lab = Command::new(&program);
    if let Some(format) = format.to_possible_value().filter(|_| format != Format::default()) {
        lab.args(["--format", format.get_name()]);
    }
    let error = lab.arg(command).args(&arguments.arguments).exec();
    Err(match error.kind() {
        ErrorKind::NotFound => CommandFailure::Input(format!(
            "recrawl {command} is in the second program, {PROGRAM}, which is neither beside recrawl nor on the PATH; a release has it, and \
             cargo build -p {PROGRAM} makes it"
        )),
        _ => CommandFailure::World(format!("cannot start {}: {error}", program.display())),
    })
}

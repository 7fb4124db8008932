//! `recrawl demo`.
use crate::Failure;
use crate::output::Format;
use clap::Args;
/// Arguments of `recrawl demo`.
#[derive(Args, Debug)]
pub struct DemoArguments {}
/// Runs the demo.
pub fn demo(_: &DemoArguments, _: Format) -> Result<(), Failure> {
    Ok(())
}

//! The process that the tests of this crate read documents in.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    confined::run(&arguments, pdf_html::html)
}

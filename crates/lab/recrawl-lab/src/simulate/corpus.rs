//! Reads a corpus directory.

use recrawl::CommandFailure;
use simulate::trace::{Recording, TraceTable};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Reads `pages.csv` and `changes.csv`, or their compressed forms (`pages.csv.zst`).
pub(super) fn read(directory: &Path) -> Result<Recording, CommandFailure> {
    if !directory.is_dir() {
        return Err(CommandFailure::Input(format!(
            "{} is not a directory; give a corpus: a directory with pages.csv.zst and changes.csv.zst",
            directory.display()
        )));
    }
    Recording::read(open(directory, "pages.csv")?, open(directory, "changes.csv")?)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}", directory.display())))
}

fn open(directory: &Path, name: &str) -> Result<TraceTable<Box<dyn Read>>, CommandFailure> {
    let packed = format!("{name}.zst");
    let failed = |path: &Path, error| CommandFailure::Input(format!("cannot read {}: {error}", path.display()));
    let path = directory.join(&packed);
    if path.exists() {
        let file = File::open(&path).map_err(|error| failed(&path, error))?;
        let bytes = zstd::Decoder::new(file).map_err(|error| failed(&path, error))?;
        return Ok(TraceTable { name: packed, bytes: Box::new(bytes) });
    }
    let path = directory.join(name);
    match File::open(&path) {
        Ok(file) => Ok(TraceTable { name: name.to_owned(), bytes: Box::new(BufReader::new(file)) }),
        Err(_) => Err(CommandFailure::Input(format!(
            "{} has neither {packed} nor {name}; is it a corpus directory?",
            directory.display()
        ))),
    }
}

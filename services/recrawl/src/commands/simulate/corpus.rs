//! Reads a corpus directory.

use crate::Failure;
use simulate::trace::{Recording, Table};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Reads `pages.csv` and `changes.csv`, or their compressed forms (`pages.csv.zst`).
pub(super) fn read(directory: &Path) -> Result<Recording, Failure> {
    if !directory.is_dir() {
        return Err(Failure::Input(format!(
            "{} is not a directory; give a corpus: a directory with pages.csv.zst and changes.csv.zst",
            directory.display()
        )));
    }
    Recording::read(open(directory, "pages.csv")?, open(directory, "changes.csv")?)
        .map_err(|error| Failure::Input(format!("{}: {error}", directory.display())))
}

fn open(directory: &Path, name: &str) -> Result<Table<Box<dyn Read>>, Failure> {
    let packed = format!("{name}.zst");
    let failed = |path: &Path, error| Failure::Input(format!("cannot read {}: {error}", path.display()));
    let path = directory.join(&packed);
    if path.exists() {
        let file = File::open(&path).map_err(|error| failed(&path, error))?;
        let bytes = zstd::Decoder::new(file).map_err(|error| failed(&path, error))?;
        return Ok(Table { name: packed, bytes: Box::new(bytes) });
    }
    let path = directory.join(name);
    match File::open(&path) {
        Ok(file) => Ok(Table { name: name.to_owned(), bytes: Box::new(BufReader::new(file)) }),
        Err(_) => Err(Failure::Input(format!(
            "{} has neither {packed} nor {name}; is it a corpus directory?",
            directory.display()
        ))),
    }
}

//! Random damage to a file: flipped bits, cuts, zeroes, replacement, removal.

use crate::common::files;
use rand::RngExt;
use rand_pcg::Pcg64;
use std::fs;
use std::path::{Path, PathBuf};

/// Something done to one file, and its name for the table.
pub(crate) fn spoil(directory: &Path, random: &mut Pcg64) -> (String, String) {
    let all: Vec<PathBuf> = files(directory).into_iter().filter(|path| kind(path).is_some()).collect();
    let mut kinds: Vec<&str> = all.iter().filter_map(|path| kind(path)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let chosen = kinds[random.random_range(0..kinds.len())];
    let alike: Vec<&PathBuf> = all.iter().filter(|path| kind(path) == Some(chosen)).collect();
    let path = alike[random.random_range(0..alike.len())];
    let mut bytes = fs::read(path).unwrap();
    let at = random.random_range(0..bytes.len().max(1));
    let what = match random.random_range(0..7) {
        0 | 1 if !bytes.is_empty() => {
            bytes[at] ^= 1 << random.random_range(0..8);
            "a bit flipped"
        }
        2 => {
            bytes.truncate(at);
            "cut anywhere"
        }
        3 => {
            let borders = borders(&bytes);
            bytes.truncate(borders[random.random_range(0..borders.len())]);
            "cut between records"
        }
        4 => {
            let end = (at + random.random_range(1..5_000)).min(bytes.len());
            bytes[at.min(end)..end].fill(0);
            "zeroes"
        }
        5 if alike.len() > 1 => {
            let other = alike[random.random_range(0..alike.len())];
            fs::copy(other, path).unwrap();
            return (chosen.to_owned(), "another of its kind".to_owned());
        }
        _ => {
            fs::remove_file(path).unwrap();
            return (chosen.to_owned(), "removed".to_owned());
        }
    };
    fs::write(path, bytes).unwrap();
    (chosen.to_owned(), what.to_owned())
}

/// Kind of a database file, by its name; `None` for files that hold no data.
fn kind(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    Some(match name {
        "CURRENT" => "CURRENT",
        "IDENTITY" => "IDENTITY",
        "log.identity" => "log.identity",
        _ if name.starts_with("MANIFEST-") => "MANIFEST",
        _ if name.starts_with("OPTIONS-") => "OPTIONS",
        _ if name.ends_with("high-water") => "high-water mark",
        _ if name.ends_with(".sst") => "table",
        _ if name.ends_with(".log") => "write-ahead log",
        _ => return None,
    })
}

/// Where records of a manifest or a write-ahead log begin: each has a header of checksum, length and type, and none goes
/// over the end of a block of 32 KiB.
fn borders(bytes: &[u8]) -> Vec<usize> {
    let (mut borders, mut at) = (vec![0], 0);
    while let Some(header) = bytes.get(at..at + 7) {
        let length = usize::from(u16::from_le_bytes([header[4], header[5]]));
        let next = at + 7 + length;
        at = if length == 0 || 32_768 - next % 32_768 < 7 { (next / 32_768 + 1) * 32_768 } else { next };
        borders.push(at.min(bytes.len()));
    }
    borders
}

//! Finds the corpora for tests, examples and benchmarks: real sites with their history, traces and conformance data. They lie
//! beside the project and are no part of it. [`workspace`] finds the project itself.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The root of the clone in which a test runs. It is looked for at run time, because clones share what cargo has built: the
/// test may have been compiled in another clone, which is gone.
///
/// # Panics
/// Outside of a clone.
pub fn workspace() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        // cargo names the package. What is started by itself is started in the root.
        let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| ".".into(), PathBuf::from);
        let here = std::path::absolute(here).expect("a clone has a path");
        let root = here.ancestors().find(|directory| directory.join("rust-toolchain.toml").is_file());
        root.expect("run this in a clone of the project").to_owned()
    })
}

/// Where a file or directory of the corpora is, if it is there: in the directory that `RECRAWL_CORPORA` names, relative to
/// the workspace, or else in `../shared/corpora`.
pub fn path(name: &str) -> PathBuf {
    let corpora = std::env::var_os("RECRAWL_CORPORA").unwrap_or_else(|| "../shared/corpora".into());
    workspace().join(corpora).join(name)
}

/// A file or directory of the corpora. Where it is missing, the output says so, and this is `None`.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = path(name);
    if path.exists() {
        return Some(path);
    }
    println!("LEFT OUT: there is no {}; set RECRAWL_CORPORA to the directory of the corpora", path.display());
    None
}

/// The directory of cases from public reports of watchers, each with its right value: the one that `RECRAWL_CASES` names,
/// relative to the workspace, or else `../shared/review/cases-change`. `None` as for [`find`].
pub fn cases() -> Option<PathBuf> {
    find_cases(cases_path())
}

/// The directory of inputs from public reports of crawlers: `cases-fetch` beside that of [`cases`]. `None` as for [`find`].
pub fn fetch_cases() -> Option<PathBuf> {
    find_cases(cases_path().with_file_name("cases-fetch"))
}

fn cases_path() -> PathBuf {
    workspace().join(std::env::var_os("RECRAWL_CASES").unwrap_or_else(|| "../shared/review/cases-change".into()))
}

fn find_cases(path: PathBuf) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    println!("LEFT OUT: there is no {}; set RECRAWL_CASES to the directory of cases", path.display());
    None
}

/// The content of a file, unpacked if its name ends in `.zst`. `None` as for [`find`].
///
/// # Panics
/// If the file is damaged.
pub fn read(name: &str) -> Option<Vec<u8>> {
    let packed = std::fs::read(find(name)?).expect("a file of the corpora can be read");
    if !name.ends_with(".zst") {
        return Some(packed);
    }
    let mut decoder = zstd::Decoder::new(packed.as_slice()).expect("zstd has a decoder");
    decoder.window_log_max(27).expect("the window of the corpora is known");
    let mut unpacked = Vec::new();
    std::io::copy(&mut decoder, &mut unpacked).expect("the file is whole");
    Some(unpacked)
}

/// The files of an archive (`.tar.zst`), by name and content. `None` as for [`find`].
///
/// # Panics
/// If the archive is damaged.
pub fn unpack(name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    read(name).map(|archive| untar(&archive))
}

/// The regular files of a tar archive: headers and contents in blocks of 512 bytes, long names in records of their own.
fn untar(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .trim_end_matches(['\0', '\n', ' '])
            .split('\0')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let mut files = Vec::new();
    let mut long_name = None;
    let mut rest = archive;
    while let Some((header, body)) = rest.split_at_checked(512).filter(|(header, _)| header[0] != 0) {
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).expect("a tar header has a size");
        let content = &body[..size];
        let prefix = text(&header[345..500]);
        let short = text(&header[..100]);
        let name = if prefix.is_empty() { short } else { format!("{prefix}/{short}") };
        match header[156] {
            b'0' | 0 => files.push((long_name.take().unwrap_or(name), content.to_vec())),
            b'L' => long_name = Some(text(content)),
            b'x' => long_name = pax_path(&String::from_utf8_lossy(content)),
            _ => {}
        }
        rest = &body[size.next_multiple_of(512)..];
    }
    files
}

fn pax_path(records: &str) -> Option<String> {
    records.lines().find_map(|record| Some(record.split_once(" path=")?.1.to_owned()))
}

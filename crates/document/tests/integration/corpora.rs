//! Finds and unpacks corpora. They are looked for in `RECRAWL_CORPORA`, relative to the workspace.

use std::path::PathBuf;

/// A file or directory of the corpora; `None`, and said so, when it is not there.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    let corpora = std::env::var_os("RECRAWL_CORPORA").unwrap_or_else(|| "../shared/corpora".into());
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(corpora).join(name);
    if path.exists() {
        return Some(path);
    }
    println!("LEFT OUT: {name} is not there; set RECRAWL_CORPORA to the corpora directory");
    None
}

/// The files of an archive of `conformance`, by name and content; `None`, and said so, when it is not there.
pub(crate) fn archive(name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let file = path(&format!("conformance/{name}"))?;
    let packed = std::fs::read(&file).expect("the archive can be read");
    let mut decoder = zstd::Decoder::new(packed.as_slice()).expect("the archive is zstd");
    decoder.window_log_max(27).expect("the window of the corpora is known");
    let mut unpacked = Vec::new();
    std::io::copy(&mut decoder, &mut unpacked).expect("the archive is whole");
    Some(untar(&unpacked))
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

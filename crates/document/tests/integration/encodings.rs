//! Real pages whose encoding is known, most of them undeclared by HTTP and some by anything.

use document::decode;
use encoding_rs::Encoding;

/// The encoding a directory is named after: `windows-1250-polish`, `MacCyrillic`, `TIS-620`.
fn named(directory: &str) -> Option<&'static Encoding> {
    let parts: Vec<&str> = directory.split('-').collect();
    let label = match directory {
        "MacCyrillic" => "x-mac-cyrillic".to_owned(),
        "MacRoman" => "macintosh".to_owned(),
        "CP932" => "shift_jis".to_owned(),
        "UTF-16" => "utf-16be".to_owned(),
        _ if directory.starts_with("windows-") => parts[..2].join("-"),
        _ if directory.starts_with("iso-8859-") => parts[..3].join("-"),
        other => other.to_owned(),
    };
    Encoding::for_label(label.as_bytes()).filter(|encoding| encoding.name() != "replacement")
}

#[test]
fn real_pages_are_decoded_as_their_encoding_says() {
    let Some(files) = corpora::unpack("conformance/encodings.tar.zst") else { return };
    let mut wrong = Vec::new();
    for (path, bytes) in &files {
        let directory = path.rsplit('/').nth(1).expect("every file is in a directory");
        let decoded = decode(bytes, None);
        let right = match named(directory) {
            Some(encoding) => decoded.text == encoding.decode(bytes).0,
            None => decoded.charset.eq_ignore_ascii_case(directory),
        };
        if !right {
            wrong.push(format!("{path} read as {}", decoded.charset));
        }
    }
    println!("{} of {} files read wrongly: {wrong:#?}", wrong.len(), files.len());
    assert!(files.len() > 150 && wrong.len() * 100 <= files.len() * 3);
}

//! Sitemaps and feeds of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sitemaps::{MAX_ENTRIES, read};

const MAX_URL_BYTES: usize = 2_048;
/// Most problems listed, and the longest of them; both generously.
const MAX_PROBLEMS: usize = 128;

fuzz_target!(|file: &[u8]| {
    let sitemap = read(file);
    assert!(sitemap.entries.len() <= MAX_ENTRIES && sitemap.problems.len() <= MAX_PROBLEMS);
    assert!(sitemap.kind.is_some() || !sitemap.problems.is_empty(), "what is no sitemap is said to be none");
    for entry in &sitemap.entries {
        assert!(entry.url.len() <= MAX_URL_BYTES);
        assert_eq!(entry.last_modified.is_some(), entry.last_modified_s().is_some(), "{entry:?}");
        assert!(entry.priority.is_none_or(|priority| (0.0..=1.0).contains(&priority)), "{entry:?}");
    }
    assert_eq!(read(file), sitemap);
});

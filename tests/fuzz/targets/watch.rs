//! Watch rules of any text on pages of any bytes.
//!
//! Input: lines with the content type, a part that is watched, a part that is ignored and a trigger; then two versions of
//! the body with the byte 1E between them.
#![no_main]

use change::{PageState, Version, VersionVerdict};
use document::Body;
use libfuzzer_sys::fuzz_target;
use settings::Rule;
use watch::{WatchMemory, WatchRule};

fuzz_target!(|input: &[u8]| {
    let mut rest = input;
    let [content_type, watch, ignore, trigger] = std::array::from_fn(|_| {
        let (line, behind) = split(rest, b'\n');
        rest = behind;
        String::from_utf8_lossy(line).into_owned()
    });
    let list = |entry: String| if entry.is_empty() { Vec::new() } else { vec![entry] };
    let text = Rule {
        pages: vec!["*".to_owned()],
        watch: list(watch),
        ignore: list(ignore),
        trigger: list(trigger),
        ..Rule::default()
    };
    let rule = match WatchRule::new(text) {
        Ok(rule) => rule,
        Err(faults) => {
            assert!(faults.iter().all(|fault| !fault.problem.is_empty() && !fault.remedy.is_empty()));
            return;
        }
    };
    let (old, new) = split(rest, b'\x1e');
    let urls = page::UrlRules::none();
    let header = Some(content_type.as_str()).filter(|header| !header.is_empty());
    let versions = [old, new].map(|bytes| {
        Version::of_body(&Body::new(bytes, header, None).with_selection(rule.selection()), &urls)
    });
    let (mut state, mut memory) = (PageState::default(), WatchMemory::default());
    for version in &versions {
        let blocks = version.blocks();
        assert_eq!(blocks.found.len(), rule.selection().parts().len());
        assert!(blocks.is_watched || blocks.list.iter().all(|block| !block.watched));
        state.observe(version, None);
        rule.look(blocks, &mut memory);
        let again = state.clone().observe(version, None);
        assert!(again.held || again.verdict == VersionVerdict::Unchanged, "the same bytes are no news");
        assert!(rule.look(blocks, &mut memory.clone()).is_empty(), "a trigger fires once");
        assert_eq!(WatchMemory::decode(&memory.encode()).map(|read| read.encode()), Ok(memory.encode()));
    }
});

/// The bytes before and after the first occurrence of a byte. Without one, all bytes, and nothing after them.
fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == at) {
        Some(place) => (&bytes[..place], &bytes[place + 1..]),
        None => (bytes, &[]),
    }
}

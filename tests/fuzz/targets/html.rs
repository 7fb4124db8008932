//! Pages of any bytes: read, compared and judged.
//!
//! Input: a line with the content type, then two versions of the body with the byte 1E between them.
#![no_main]

use change::{LookMemory, PageState, VersionMemory, PartVerdict, Version, VersionVerdict};
use document::{ContentKind, MAX_LINKS, MAX_TEXT_BYTES, extract};
use reading::read;
use libfuzzer_sys::fuzz_target;

const ADDRESS: &str = "https://host.test/a/b?c";

fuzz_target!(|input: &[u8]| {
    let (content_type, body) = split(input, b'\n');
    let content_type = std::str::from_utf8(content_type).ok().filter(|content_type| !content_type.is_empty());
    let (old, new) = split(body, b'\x1e');
    extracted(content_type, old, new);
    judged(content_type, old, new);
    let reading = read(new, content_type, Some(ADDRESS));
    assert_eq!(reading.kind, ContentKind::of(content_type, new));
});

fn extracted(content_type: Option<&str>, old: &[u8], new: &[u8]) {
    let pages = [old, new].map(|body| extract(content_type, body));
    for page in &pages {
        assert!(page.text.len() <= MAX_TEXT_BYTES && page.links.len() <= MAX_LINKS);
        assert!(!page.title.contains('\n'), "the title is one line");
    }
}

fn judged(content_type: Option<&str>, old: &[u8], new: &[u8]) {
    let urls = page::UrlRules::none();
    let [first, second] = [old, new].map(|body| Version::new(body, content_type, Some(ADDRESS), &urls));
    for since_last_look_s in [None, Some(0)] {
        let mut state = PageState::default();
        state.observe(&first, since_last_look_s);
        assert_eq!(state.observe(&second, since_last_look_s).verdict == VersionVerdict::Unchanged, old == new);
        let mut state = PageState::default();
        for version in [&first, &second, &first] {
            let judgement = state.observe(version, since_last_look_s);
            assert!((0.0..=1.0).contains(&judgement.magnitude));
            let parts = [judgement.content, judgement.links];
            assert_eq!(judgement.meaningful, judgement.record.changes.len() + judgement.record.left_out > 0, "told in words");
            assert_eq!(judgement.meaningful, parts.contains(&PartVerdict::Changed), "news is news of some part");
            let looks = LookMemory::decode(&state.looks().encode()).expect("just encoded");
            let kept = PageState::new(looks, VersionMemory::decode(&state.version().encode()).expect("just encoded"));
            assert_eq!(kept, state, "a state survives its bytes");
            if !judgement.held {
                let again = state.clone().observe(version, since_last_look_s);
                assert_eq!(
                    (again.verdict, again.meaningful),
                    (VersionVerdict::Unchanged, false),
                    "the same bytes are no news"
                );
            }
        }
    }
}

/// The bytes before and after the first occurrence of a byte. Without one, all bytes, and nothing after them.
fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == at) {
        Some(place) => (&bytes[..place], &bytes[place + 1..]),
        None => (bytes, &[]),
    }
}

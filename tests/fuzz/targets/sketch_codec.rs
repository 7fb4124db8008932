//! State values of any bytes: refused, or read and written the same again.
#![no_main]

use change::{HostEvents, LookMemory, PageState, ShingleSet, Version, VersionMemory};
use libfuzzer_sys::fuzz_target;
use mirrors::MirrorSketch;

fuzz_target!(|bytes: &[u8]| {
    let Some((form, bytes)) = bytes.split_first() else { return };
    match form % 4 {
        0 => page_state(bytes),
        1 => shingles(bytes),
        2 => sketch(bytes),
        _ => host_events(bytes),
    }
});

fn page_state(bytes: &[u8]) {
    let Some((&length, bytes)) = bytes.split_first() else { return };
    let (looks, version) = bytes.split_at(bytes.len().min(length.into()));
    let (Ok(looks), Ok(version)) = (LookMemory::decode(looks), VersionMemory::decode(version)) else { return };
    let mut state = PageState::new(looks, version);
    assert_eq!(kept(&state), state);
    // However strange a state is, the next version is judged by it.
    let urls = page::UrlRules::none();
    let version = Version::new(b"<p>One. <a href=/b>Two.</a>", Some("text/html"), None, &urls);
    let judgement = state.observe(&version, Some(1));
    assert!((0.0..=1.0).contains(&judgement.magnitude));
    state.observe_gone();
    assert_eq!(kept(&state), state);
}

/// The state after it was written down.
fn kept(state: &PageState) -> PageState {
    let looks = LookMemory::decode(&state.looks().encode()).expect("just encoded");
    PageState::new(looks, VersionMemory::decode(&state.version().encode()).expect("just encoded"))
}

fn shingles(bytes: &[u8]) {
    let Ok(set) = ShingleSet::decode(bytes) else { return };
    let mut again = Vec::new();
    set.encode_into(&mut again);
    assert_eq!(again, bytes);
    assert_eq!(set.resemblance(&set), 1.0);
}

fn sketch(bytes: &[u8]) {
    let Ok(sketch) = MirrorSketch::decode(bytes) else { return };
    assert_eq!(sketch.encode(), bytes);
    assert!(sketch.text().is_none_or(|text| text.resemblance(text) == 1.0));
    assert!(sketch.links().is_none_or(|links| links.resemblance(links) == 1.0));
}

fn host_events(bytes: &[u8]) {
    let Ok(mut host) = HostEvents::decode(bytes) else { return };
    assert_eq!(host.encode(), bytes);
    host.observe_missing(7, i64::MIN);
    host.observe_present(7);
    host.observe_missing(8, i64::MAX);
    assert_eq!(HostEvents::decode(&host.encode()), Ok(host));
}

//! Addresses of licences and policies.

/// The longest address that is kept, in bytes. Many pages keep it.
const MAX_ADDRESS_BYTES: usize = 512;

/// An address as written, if it is a whole one that can be kept.
pub(crate) fn address(written: &str) -> Option<&str> {
    let written = written.trim();
    let is_web = ["https://", "http://"].iter().any(|scheme| {
        written.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && written.len() > scheme.len()
    });
    let is_plain = written.bytes().all(|byte| byte.is_ascii_graphic());
    (is_web && is_plain && written.len() <= MAX_ADDRESS_BYTES).then_some(written)
}

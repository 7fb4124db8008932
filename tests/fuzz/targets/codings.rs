//! Packed bodies of any bytes: unpacked within their limits, or refused.
//!
//! Input: a byte for the coding, a byte for the size of the pieces, a byte for the limits, then the body.
#![no_main]

use fetcher::fuzzing::{CODINGS, Unpacked, unpack};
use libfuzzer_sys::fuzz_target;

/// Unpacked bytes to which the ratio does not apply.
const SLACK: u64 = 64 << 10;
const BROTLI: usize = 2;

fuzz_target!(|input: &[u8]| {
    let [coding, size, limits, body @ ..] = input else { return };
    let coding = usize::from(*coding) % CODINGS;
    let wire = if limits & 1 == 1 { 1 << 10 } else { 1 << 20 };
    let kept = if limits & 2 == 2 { 1 << 10 } else { 8 << 20 };
    let ratio = if limits & 4 == 4 { 2 } else { 200 };
    let read = |size: usize| {
        let unpacked = unpack(coding, body.chunks(size), (wire, kept, ratio));
        if let Unpacked::Whole(bytes) | Unpacked::Cut(bytes) = &unpacked {
            assert!(bytes.len() <= kept);
            assert!(bytes.len() as u64 <= SLACK + ratio * body.len() as u64);
        }
        unpacked
    };
    let whole = read(body.len().max(1));
    let in_pieces = read(usize::from(*size) + 1);
    let is_limited = |unpacked: &Unpacked| matches!(unpacked, Unpacked::Cut(_) | Unpacked::Bomb);
    match (&whole, &in_pieces) {
        (Unpacked::Whole(whole), Unpacked::Whole(in_pieces)) => assert_eq!(whole, in_pieces),
        // What is cut and what is a bomb is judged piece by piece. A wrong brotli stream may be unpacked or refused: its
        // decoder checks less when it has much before it.
        _ if is_limited(&whole) || is_limited(&in_pieces) || coding == BROTLI => {}
        _ => assert_eq!(whole, in_pieces),
    }
});

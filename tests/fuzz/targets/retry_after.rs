//! `Retry-After` of any bytes, at any time.
//!
//! Input: eight bytes for the time in microseconds, then the value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use page::Timestamp;
use politeness::{MAX_RETRY_AFTER, retry_after};
use std::time::Duration;

fuzz_target!(|input: &[u8]| {
    let Some((time, value)) = input.split_first_chunk() else { return };
    let value = String::from_utf8_lossy(value);
    let wait = retry_after(&value, Timestamp::from_micros(i64::from_be_bytes(*time)));
    assert!(wait.is_none_or(|wait| wait <= MAX_RETRY_AFTER));
    if let Ok(seconds) = value.parse::<u32>()
        && !value.starts_with('+')
    {
        assert_eq!(wait, Some(Duration::from_secs(seconds.into()).min(MAX_RETRY_AFTER)));
    }
});

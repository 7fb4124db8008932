//! The limits of a confined process, and the fate of one that exceeds them.

use confined::ConfinedReader;
use document::{NotRead, ReadConfined};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The program `tests/programs/faults.rs`.
fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_confined-faults"))
}

/// A reader whose documents are never late.
fn patient() -> ConfinedReader {
    ConfinedReader::with_clock(program(), Vec::new(), || *START.get_or_init(Instant::now))
}

static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();

#[test]
fn a_document_comes_back_as_its_reader_makes_it() {
    let reader = patient();
    let long = format!("repeat {}", "å".repeat(1 << 20));
    assert_eq!(reader.html(long.as_bytes()).as_deref(), Ok(&long["repeat ".len()..]));
    assert_eq!(reader.html(b"encrypted"), Err(NotRead::Encrypted));
    assert_eq!(reader.html(b"panic"), Err(NotRead::Damaged));
}

#[test]
fn a_confined_process_reaches_no_file_no_network_and_no_other_process() {
    let own = program();
    for order in [
        format!("open {}", own.display()),
        "open /proc/self/environ".to_owned(),
        format!("write {}", std::env::temp_dir().join("recrawl-confined-test").display()),
        "connect 127.0.0.1:9".to_owned(),
        "datagram".to_owned(),
        "socket".to_owned(),
        format!("execute {}", own.display()),
        "thread".to_owned(),
        "descriptor 3".to_owned(),
    ] {
        assert_eq!(patient().html(order.as_bytes()).as_deref(), Ok("PermissionDenied"), "{order}");
    }
    assert_eq!(patient().html(b"environment").as_deref(), Ok("[]"));
}

#[test]
fn a_process_that_grows_nests_or_talks_too_much_is_over_its_limits() {
    let allowed = format!("allocate {}", 200 << 20);
    assert_eq!(patient().html(allowed.as_bytes()).as_deref(), Ok((200 << 20).to_string().as_str()));
    let too_much = format!("allocate {}", 256 << 20);
    for order in [too_much.as_str(), "nest", "long"] {
        assert_eq!(patient().html(order.as_bytes()), Err(NotRead::OverLimits), "{order}");
    }
}

#[test]
fn a_process_that_never_ends_is_ended_by_the_limit_on_its_own_time() {
    assert_eq!(patient().html(b"endless"), Err(NotRead::OverLimits));
}

#[test]
fn a_document_is_late_by_the_clock_given() {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    let hurried = || {
        let readings = READINGS.fetch_add(1, Ordering::Relaxed);
        *START.get_or_init(Instant::now) + Duration::from_secs(readings * 30)
    };
    let reader = ConfinedReader::with_clock(program(), Vec::new(), hurried);
    assert_eq!(reader.html(b"repeat words"), Err(NotRead::OverLimits));
}

#[test]
fn a_program_that_cannot_be_started_or_is_not_confined_reads_nothing() {
    let absent = ConfinedReader::new(program().join("absent"), Vec::new());
    assert_eq!(absent.html(b"repeat words"), Err(NotRead::NoReader));
    // This test program lists no test of that name, and says so.
    let other = ConfinedReader::new(std::env::current_exe().expect("a test has a program"), vec!["no-test".into()]);
    assert_eq!(other.html(b"repeat words"), Err(NotRead::NoReader));
}

#[test]
fn one_document_after_another_is_read_whatever_became_of_the_last() {
    let reader = patient();
    for _ in 0..3 {
        assert!(reader.html(b"nest").is_err());
        assert_eq!(reader.html(b"repeat words").as_deref(), Ok("words"));
    }
}

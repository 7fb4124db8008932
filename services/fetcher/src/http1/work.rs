//! The work for answers that come in small pieces, without a network: over one, pieces come together while the reader works.

use crate::fuzzing::{Pieces, parsed_bytes, read_http1};
use rustix::time::{ClockId, clock_gettime};
use simweb::hostile::{Asked, Misbehaviour, PIECEMEAL_BYTES, ScriptStep, piecemeal};
use std::time::Duration;

/// Most work for an answer in pieces, in the work for a body in as many. A reader that begins anew at each piece takes
/// hundreds of times as much.
const MOST: u32 = 50;
/// How often an answer that seems to take more is read again. A busy machine makes all work slower now and then.
const ATTEMPTS: usize = 3;

fn work_so_far() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The pieces of a case's page.
fn pieces_of(case: &Misbehaviour) -> Vec<Vec<u8>> {
    let asked = Asked { path: "/".to_owned(), head: String::new(), port: 0, stream: 0 };
    let pieces = case.page.steps(&asked).into_iter().flat_map(|step| match step {
        ScriptStep::Send(bytes) => vec![bytes],
        ScriptStep::Pieces(bytes, size) => bytes.chunks(size).map(<[u8]>::to_vec).collect(),
        step => panic!("{}: {step:?}", case.name),
    });
    pieces.collect()
}

/// Reads an answer. Returns the CPU time for that, and the bytes of heads that were parsed.
fn work_for(pieces: &[Vec<u8>]) -> (Duration, usize) {
    let stream = Pieces::new(pieces.iter().map(Vec::as_slice), true);
    parsed_bytes();
    let before = work_so_far();
    read_http1(stream, PIECEMEAL_BYTES as usize);
    (work_so_far() - before, parsed_bytes())
}

#[test]
fn the_work_for_an_answer_in_small_pieces_grows_with_their_number_and_no_faster() {
    let cases = piecemeal();
    let body = (0..ATTEMPTS).map(|_| work_for(&pieces_of(&cases[0])).0).max().unwrap();
    for case in &cases {
        let pieces = pieces_of(case);
        let length: usize = pieces.iter().map(Vec::len).sum();
        let (work, parsed) = (0..ATTEMPTS).map(|_| work_for(&pieces)).min().unwrap();
        assert!(parsed <= 3 * length, "{}: {parsed} bytes parsed for {length}", case.name);
        assert!(work <= MOST * body, "{}: {work:?} of CPU, {body:?} for a body", case.name);
    }
}

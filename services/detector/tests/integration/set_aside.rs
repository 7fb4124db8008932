//! Results that cannot be processed are set aside, and their pages count as failed.

use crate::bench::{Bench, FIRST, html};
use messages::{DeadLetter, Encoded, FetchOutcome, Verdict, topics};

#[test]
fn what_cannot_be_read_is_set_aside_and_the_rest_goes_on() {
    let mut bench = Bench::new(&[]);
    let mut corrupt = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    corrupt.body = Some(vec![255, 255, 0, 0, 16, 0]);
    bench.send(&corrupt);
    let mut empty = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    empty.body = None;
    bench.send(&empty);
    let topic = bench.names.topic(topics::FETCH_RESULTS);
    bench.driver.send(&topic, b"site.test", b"neither Avro nor anything else".to_vec()).unwrap();
    bench.driver.run_until_idle().unwrap();

    let dead_letters: Vec<DeadLetter> = bench.read(topics::DEAD_LETTERS);
    assert_eq!(dead_letters.len(), 3);
    assert!(dead_letters.iter().all(|dead_letter| dead_letter.stage == "detector" && dead_letter.topic == topic));
    assert!(dead_letters[0].reason.contains("corrupt"), "{}", dead_letters[0].reason);
    assert_eq!(dead_letters[0].value, Some(corrupt.encode()));
    let outcomes: Vec<_> = bench.observations().iter().map(|observation| observation.look.outcome).collect();
    assert_eq!(outcomes, [FetchOutcome::SetAside; 2], "both pages have failed");
    assert!(bench.changes().is_empty());

    let seen = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    assert_eq!(seen.observation.judgement.verdict, Verdict::First);
}

#[test]
fn a_page_whose_result_is_set_aside_counts_as_failed() {
    let mut bench = Bench::new(&[]);
    let first = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let mut broken = bench.answer(FetchOutcome::Fetched, Some(&html(FIRST)));
    broken.body = Some(b"\x07not packed".to_vec());
    bench.send(&broken);
    let observation = bench.observations().pop().unwrap();
    assert_eq!((observation.look.outcome, observation.look.attempt), (FetchOutcome::SetAside, 2));
    assert_eq!(observation.judgement.verdict, Verdict::Unknown);
    assert_eq!(bench.changes().len(), 1, "only the first look is news");
    assert_eq!(bench.read(topics::DEAD_LETTERS).len(), 1);
    // The version that is known stays known.
    let again = bench.see(FetchOutcome::Fetched, Some(&html(FIRST)));
    let previous = Some(first.observation.look.fetched_at);
    assert_eq!(
        (again.observation.judgement.verdict, again.observation.judgement.previous_fetched_at),
        (Verdict::Unchanged, previous)
    );
}

//! A delivery whose position cannot be written, and one whose mails are all refused.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Takes everything, or sets everything aside, and counts that.
struct Fake {
    takes: bool,
    attempts: Arc<AtomicU32>,
}

impl Receiver for Fake {
    fn deliver(&mut self, _: &Parcel<'_>, _: u32) -> Result<(), Undelivered> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        if self.takes { Ok(()) } else { Err(Undelivered::SetAside("550 5.1.1".to_owned())) }
    }
}

fn delivery(directory: &Path, receiver: Fake, stop: &StopSignal) -> Delivery {
    let giving_up = GivingUp { after: Duration::MAX, on_failure: OnFailure::Wait };
    let (follow, selection) = (FollowOptions::default(), ChangeSelection::default());
    let (file, receiver) = (directory.join("a.cursor"), Box::new(receiver));
    Delivery::open(receiver, &file, "changes", "give another name", (&follow, &selection), giving_up, stop)
        .expect("it is the only one")
}

#[test]
fn a_position_that_cannot_be_written_is_kept_and_its_change_not_sent_again() {
    let directory = tempfile::tempdir().expect("there is room for a test");
    let attempts = Arc::new(AtomicU32::new(0));
    let fake = Fake { takes: true, attempts: attempts.clone() };
    let mut delivery = delivery(directory.path(), fake, &StopSignal::default());
    // Stands for a disk that is full.
    let obstacle = directory.path().join("a.cursor.new");
    std::fs::create_dir(&obstacle).expect("there is room for a test");
    let [message, _] = PublishedChange::example_records();
    let cursor: Cursor = "5".parse().expect("it is a cursor");
    let record = TopicRecord { partition: 0, offset: 4, message, cursor: cursor.clone() };
    assert!(delivery.take(record).is_err());
    assert!(delivery.note_rest().is_err(), "it is still full");
    assert_eq!((delivery.done.delivered, delivery.progress.cursor()), (0, None));
    std::fs::remove_dir(&obstacle).expect("it is there");
    delivery.note_rest().expect("there is room again");
    assert_eq!((delivery.done.delivered, delivery.progress.cursor()), (1, Some(cursor)));
    delivery.note_rest().expect("nothing is left to note");
    assert_eq!((delivery.done.delivered, attempts.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn refusals_in_a_row_hold_the_delivery_instead_of_leaving_all_out() {
    let directory = tempfile::tempdir().expect("there is room for a test");
    let stop = StopSignal::default();
    let fake = Fake { takes: false, attempts: Arc::default() };
    let mut delivery = delivery(directory.path(), fake, &stop);
    // The wait for the next attempt ends at once.
    stop.stop();
    let [change, _] = PublishedChange::examples();
    let parcel = Parcel::Change(&change);
    for _ in 0..MOST_SET_ASIDE {
        assert!(matches!(delivery.attempt_until_done(&parcel), Ok(Outcome::SetAside(_))));
    }
    assert!(matches!(delivery.attempt_until_done(&parcel), Ok(Outcome::Stopped)));
    delivery.receiver = Box::new(Fake { takes: true, attempts: Arc::default() });
    assert!(matches!(delivery.attempt_until_done(&parcel), Ok(Outcome::Delivered)));
    assert_eq!(delivery.set_aside_in_row, 0);
}

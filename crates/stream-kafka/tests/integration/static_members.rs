//! Static members: who comes back within its session finds its partitions, and the others notice nothing.

use crate::common::*;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use stream::{ErrorKind, Event, Log, LogError, Member, PollLimits};
use stream_kafka::KafkaLog;

const SESSION: Duration = Duration::from_secs(6);
/// Longer than a test waits for anything.
const ENDLESS: Duration = Duration::from_secs(1_200);

/// A log whose members are static, when there is a Kafka.
fn static_log(session_timeout: Duration) -> Option<KafkaLog> {
    let settings = |brokers: &str| {
        let mut settings = settings(brokers);
        settings.kafka.static_membership = true;
        settings.kafka.session_timeout = session_timeout;
        settings
    };
    brokers().map(|brokers| KafkaLog::connect(settings(&brokers)).expect("Kafka can be reached"))
}

/// A member, the partitions that it owns, and how often they changed.
struct Owner {
    member: Box<dyn Member>,
    owned: BTreeSet<u32>,
    changes: usize,
}

impl Owner {
    fn join(log: &KafkaLog, group: &str, input: &str, name: &str) -> Self {
        let name = format!("{group}-{name}");
        Self { member: log.join(&spec(group, input, &name)).expect("it joins"), owned: BTreeSet::new(), changes: 0 }
    }

    fn poll(&mut self) -> Result<(), LogError> {
        for event in self.member.poll(PollLimits::records(10), Duration::from_millis(10))? {
            match event {
                Event::Assigned(partitions) => {
                    for &partition in &partitions {
                        self.member.start(partition, 0)?;
                    }
                    self.owned.extend(&partitions);
                    self.changes += 1;
                }
                Event::Revoked(partitions) => {
                    self.owned.retain(|partition| !partitions.contains(partition));
                    self.changes += 1;
                }
                Event::Record(_) => {}
            }
        }
        Ok(())
    }
}

/// Polls both until the condition holds.
fn poll_both(owners: &mut [&mut Owner], mut until: impl FnMut(&[&mut Owner]) -> bool) {
    wait_until(|| {
        owners.iter_mut().for_each(|owner| owner.poll().expect("it is in the group"));
        until(owners)
    });
}

/// Polls both for this long.
fn poll_both_for(duration: Duration, owners: &mut [&mut Owner]) {
    let since = Instant::now();
    poll_both(owners, |_| since.elapsed() > duration);
}

/// Two members of a group, each with half of four partitions and no rebalance pending: a consumer that closes during one may
/// never end (see `src/closing.rs`), and is abandoned when its session is over.
fn two_owners(log: &KafkaLog, group: &str, input: &str) -> (Owner, Owner) {
    let mut first = Owner::join(log, group, input, "0");
    let mut second = Owner::join(log, group, input, "1");
    let owners = &mut [&mut first, &mut second];
    poll_both(owners, |owners| owners.iter().all(|owner| owner.owned.len() == 2));
    poll_both_for(SESSION / 3, owners);
    (first, second)
}

#[test]
fn a_member_that_comes_back_within_its_session_finds_its_partitions_and_the_others_keep_theirs() {
    // What happens here follows from no session's end.
    let Some(log) = static_log(ENDLESS) else { return };
    let (input, group) = (topic(&log, "static", 4), unique("group"));
    let (first, mut second) = two_owners(&log, &group, &input);
    let (of_first, of_second, changes) = (first.owned.clone(), second.owned.clone(), second.changes);
    // The first member is also the leader of the group, who has more to lose.
    drop(first);
    let mut restarted = Owner::join(&log, &group, &input, "0");
    poll_both(&mut [&mut restarted, &mut second], |owners| !owners[0].owned.is_empty());
    assert_eq!((&restarted.owned, restarted.changes), (&of_first, 1));
    assert_eq!((&second.owned, second.changes), (&of_second, changes), "the other member noticed");
    // Both take what is theirs, and commit it.
    let next = *of_second.first().unwrap();
    log.append(&[record(&input, next, "key", b"")]).unwrap();
    let taken = poll_until(&mut *second.member, |_, events| !records(events).is_empty()).unwrap();
    assert_eq!(records(&taken)[0].partition, next);
    commit(&mut *second.member, [(next, 1)], Vec::new()).unwrap();
    commit(&mut *restarted.member, of_first.iter().map(|&partition| (partition, 0)), Vec::new()).unwrap();
}

#[test]
fn nothing_follows_from_the_end_of_the_session_of_a_member_that_came_back() {
    let session = 4 * SESSION;
    let Some(log) = static_log(session) else { return };
    let (input, group) = (topic(&log, "static-back", 4), unique("group"));
    let (first, mut second) = two_owners(&log, &group, &input);
    let (of_first, of_second, changes) = (first.owned.clone(), second.owned.clone(), second.changes);
    drop(first);
    let mut restarted = Owner::join(&log, &group, &input, "0");
    poll_both(&mut [&mut restarted, &mut second], |owners| !owners[0].owned.is_empty());
    poll_both_for(session + SESSION / 2, &mut [&mut restarted, &mut second]);
    assert_eq!((&restarted.owned, restarted.changes), (&of_first, 1));
    assert_eq!((&second.owned, second.changes), (&of_second, changes), "the other member noticed");
}

#[test]
fn a_member_that_stays_away_loses_its_partitions_when_its_session_ends() {
    let Some(log) = static_log(SESSION) else { return };
    let (input, group) = (topic(&log, "static-gone", 4), unique("group"));
    let (first, mut second) = two_owners(&log, &group, &input);
    let left_at = Instant::now();
    drop(first);
    poll_both(&mut [&mut second], |owners| owners[0].owned.len() == 4);
    let waited = left_at.elapsed();
    assert!(waited >= SESSION / 2, "its session was not over: {waited:?}");
}

#[test]
fn of_two_members_of_one_name_the_older_is_reported_that_it_is_fenced() {
    let Some(log) = static_log(SESSION) else { return };
    let (input, group) = (topic(&log, "static-two", 2), unique("group"));
    let mut older = Owner::join(&log, &group, &input, "0");
    poll_both(&mut [&mut older], |owners| owners[0].owned.len() == 2);
    let mut newer = Owner::join(&log, &group, &input, "0");
    poll_both(&mut [&mut newer], |owners| owners[0].owned.len() == 2);
    // Idle: only the group knows.
    let mut reported = None;
    wait_until(|| {
        newer.poll().unwrap();
        reported = older.poll().err();
        reported.is_some()
    });
    let reported = reported.unwrap();
    assert_eq!(reported.kind, ErrorKind::Fenced, "{reported}");
    assert!(reported.message.contains(&group) && reported.message.contains("fenced"), "{reported}");
    commit(&mut *newer.member, [(0, 0)], Vec::new()).unwrap();
}

//! A fetcher that answers everything at once.

use messages::{Encoded, FetchRequest, FetchResult, topics};
use page::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::{Commit, Event, Log, Member, MemberSpec, OutputRecord, PollLimits, Position, TopicPartition};
use topology::LogNames;

pub(crate) struct AtOnce {
    member: Box<dyn Member>,
    output: String,
}

/// Reads on where the last member of the group ended.
pub(crate) fn start_where_committed(member: &mut dyn Member, partitions: Vec<u32>) {
    for partition in partitions {
        let committed = member.committed(&[partition]).unwrap();
        let next = committed.get(&partition).map_or(0, |position| position.next);
        member.start(partition, next).unwrap();
    }
}

impl AtOnce {
    /// Joins the fetchers of a log whose topics have one partition.
    pub(crate) fn join(log: &dyn Log, names: &LogNames) -> Self {
        let spec = MemberSpec {
            group: names.group("fetcher"),
            input: names.topic(topics::FETCH_REQUESTS),
            transactional_id: "fetcher-0".to_owned(),
        };
        Self { member: log.join(&spec).unwrap(), output: names.topic(topics::FETCH_RESULTS) }
    }

    /// Answers all requests. Returns their number.
    pub(crate) fn step(&mut self, now: Timestamp, mut answer: impl FnMut(&FetchRequest) -> FetchResult) -> u32 {
        let (mut records, mut positions) = (Vec::new(), BTreeMap::new());
        for event in self.member.poll(PollLimits::records(10_000), Duration::ZERO).unwrap() {
            match event {
                Event::Assigned(partitions) => start_where_committed(self.member.as_mut(), partitions),
                Event::Revoked(_) => unreachable!("the fetcher is alone in its group"),
                Event::Record(record) => {
                    positions.insert(record.partition, Position::at(record.offset + 1));
                    let request = FetchRequest::decode(record.value.as_ref().unwrap()).unwrap();
                    let answer = answer(&request);
                    let key = answer.look.site_key.as_str().as_bytes().to_vec();
                    let to = TopicPartition::new(self.output.as_str(), partition_for(&key, 1));
                    records.push(OutputRecord {
                        to,
                        timestamp: now,
                        key,
                        value: Some(answer.encode().into()),
                        trace: None,
                    });
                }
            }
        }
        let fetches = records.len() as u32;
        self.member.commit(&Commit { positions, outputs: records, ..Commit::default() }).unwrap();
        fetches
    }
}

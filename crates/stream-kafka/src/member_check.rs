//! Whether the client of a silent member still works, compared with how other clients see its group and its input.

use crate::cluster::{ASK_TIMEOUT, Cluster};
use crate::error::reason;
use crate::reader::list_offsets;
use crate::rebalances::Rebalances;
use crate::silence::ClientFault;
use crate::view::{UNANSWERED_FOR, is_unanswered};
use rdkafka::Offset;
use rdkafka::consumer::{BaseConsumer, Consumer};
use std::collections::BTreeMap;
use std::time::Duration;

/// Longest wait for an answer in a check.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A fetch may be slowed down by a quota for half a minute.
const FETCH_PATIENCE: Duration = Duration::from_secs(60);

/// The input and the group of a member.
pub(crate) struct MemberPlace<'a> {
    pub(crate) input: &'a str,
    pub(crate) group: &'a str,
    /// Whether its client is to fetch nothing.
    pub(crate) is_paused: bool,
}

/// The next offset to fetch of each partition at the last check.
#[derive(Debug, Default)]
pub(crate) struct FetchedOffsets(BTreeMap<u32, u64>);

impl FetchedOffsets {
    /// The first fault that is found. A question that Kafka does not answer shows none.
    pub(crate) fn fault(
        &mut self,
        cluster: &Cluster,
        consumer: &BaseConsumer<Rebalances>,
        place: &MemberPlace<'_>,
    ) -> Option<ClientFault> {
        let MemberPlace { input, group, .. } = place;
        if let Err(error) = consumer.fetch_metadata(Some(input), ANSWER_TIMEOUT)
            && error.rdkafka_error_code().is_some_and(is_unanswered)
        {
            let what = format!(
                "the client of group {group} gets no answer ({}), though Kafka answers another one",
                reason(&error)
            );
            return Some(ClientFault { what, patience: UNANSWERED_FOR });
        }
        if is_missing(cluster, group) {
            let what = format!("Kafka does not know this member of group {group}");
            return Some(ClientFault { what, patience: UNANSWERED_FOR });
        }
        let stuck = if place.is_paused { None } else { self.stuck_partition(cluster, consumer, input) };
        stuck.map(|partition| ClientFault {
            what: format!("the client of group {group} does not fetch the records of {input}-{partition}"),
            patience: FETCH_PATIENCE,
        })
    }

    /// A partition with records to fetch whose next offset is that of the last check.
    fn stuck_partition(&mut self, cluster: &Cluster, consumer: &BaseConsumer<Rebalances>, input: &str) -> Option<u32> {
        let positions = consumer.position().ok()?;
        let next: BTreeMap<u32, u64> = (positions.elements_for_topic(input).iter())
            .filter_map(|element| match element.offset() {
                Offset::Offset(next) => Some((element.partition() as u32, u64::try_from(next).ok()?)),
                _ => None,
            })
            .collect();
        let before = std::mem::replace(&mut self.0, next);
        let still = |(partition, next): &(&u32, &u64)| before.get(partition) == Some(next);
        let unmoved: Vec<u32> = self.0.iter().filter(still).map(|(partition, _)| *partition).collect();
        if unmoved.is_empty() {
            return None;
        }
        let ends = cluster.committed_view.ask(|view| list_offsets(view, input, &unmoved, Offset::End)).ok()?;
        unmoved.into_iter().find(|partition| ends.get(partition) > self.0.get(partition))
    }
}

/// Whether Kafka answers for the group, and names no member of our client's name.
fn is_missing(cluster: &Cluster, group: &str) -> bool {
    let Ok(groups) = cluster.committed_view.ask(|view| view.fetch_group_list(Some(group), ASK_TIMEOUT)) else {
        return false;
    };
    let mut found = groups.groups().iter().filter(|found| found.name() == group).peekable();
    let is_ours = |client: &str| client == cluster.settings.client_id();
    found.peek().is_some() && !found.any(|group| group.members().iter().any(|member| is_ours(member.client_id())))
}

//! Counts the changes of a digest, and keeps the most important ones. It takes little memory, however many there are.

use crate::record::{ChangeDigest, DigestGroup, DigestHost, DigestLine, PublishedChange, headline};
use crate::stdout::word;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most changes that are shown.
const SHOWN: usize = 100;
/// The most hosts that are counted by themselves, over all rules.
const MOST_HOSTS: usize = 10_000;
/// The most rules that the sentence names.
const NAMED_RULES: usize = 3;

/// Changes as far as they were collected.
#[derive(Debug, Default)]
pub(super) struct Collected {
    changes: u64,
    rules: BTreeMap<Option<String>, RuleCount>,
    hosts: usize,
    /// The changes with the largest magnitudes, at most twice as many as are shown.
    largest: Vec<Kept>,
}

#[derive(Debug, Default)]
struct RuleCount {
    changes: u64,
    hosts: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Kept {
    /// Its number in the order of the digest.
    number: u64,
    rule: Option<String>,
    host: String,
    line: DigestLine,
}

impl Collected {
    pub(super) fn add(&mut self, change: &PublishedChange) {
        let host = change.url.split('/').nth(2).unwrap_or_default().to_owned();
        let count = self.rules.entry(change.rule.clone()).or_default();
        count.changes += 1;
        if let Some(of_host) = count.hosts.get_mut(&host) {
            *of_host += 1;
        } else if self.hosts < MOST_HOSTS {
            count.hosts.insert(host.clone(), 1);
            self.hosts += 1;
        }
        let line = DigestLine {
            change_id: change.change_id.clone(),
            url: change.url.clone(),
            headline: headline(change),
            verdict: word(&change.verdict),
            magnitude: change.magnitude,
            seen_at: change.seen_at.clone(),
        };
        self.largest.push(Kept { number: self.changes, rule: change.rule.clone(), host, line });
        self.changes += 1;
        if self.largest.len() >= 2 * SHOWN {
            self.keep_largest();
        }
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Among changes of one magnitude the first ones are kept.
    fn keep_largest(&mut self) {
        self.largest.sort_by(|one, other| {
            other.line.magnitude.total_cmp(&one.line.magnitude).then(one.number.cmp(&other.number))
        });
        self.largest.truncate(SHOWN);
    }

    /// The digest, grouped by rule and then by host, those with most changes first.
    pub(super) fn digest(mut self) -> ChangeDigest {
        self.keep_largest();
        self.largest.sort_by_key(|kept| kept.number);
        let shown = self.largest.len() as u64;
        let hosts = self.rules.values().flat_map(|count| count.hosts.keys()).collect::<std::collections::BTreeSet<_>>();
        let sentence = self.sentence(hosts.len());
        let mut lines: BTreeMap<Option<String>, BTreeMap<String, Vec<DigestLine>>> = BTreeMap::new();
        for Kept { rule, host, line, .. } in self.largest {
            lines.entry(rule).or_default().entry(host).or_default().push(line);
        }
        let mut groups = Vec::new();
        for (rule, count) in self.rules {
            let of_host = |(host, shown): (String, Vec<DigestLine>)| {
                // Beyond the most hosts, only the changes that are shown are known to be of this one.
                let changes = count.hosts.get(&host).copied().unwrap_or(shown.len() as u64);
                let more = changes - shown.len() as u64;
                DigestHost { host, changes, shown, more }
            };
            let mut hosts: Vec<_> = lines.remove(&rule).unwrap_or_default().into_iter().map(of_host).collect();
            hosts.sort_by_key(|host| Reverse(host.changes));
            let more = count.changes - hosts.iter().map(|host| host.changes).sum::<u64>();
            groups.push(DigestGroup { rule, changes: count.changes, hosts, more });
        }
        groups.sort_by_key(|group| (group.rule.is_none(), Reverse(group.changes)));
        ChangeDigest { changes: self.changes, sentence, groups, more: self.changes - shown, ..ChangeDigest::default() }
    }

    /// "24 changes on 2 hosts; rule price 12, rule stock 3".
    fn sentence(&self, hosts: usize) -> String {
        let counted = |count: u64, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let is_all = if self.hosts < MOST_HOSTS { "" } else { "more than " };
        let mut sentence = format!(
            "{} on {is_all}{}",
            counted(self.changes, "change", "changes"),
            counted(hosts as u64, "host", "hosts")
        );
        let mut rules: Vec<_> =
            self.rules.iter().filter_map(|(rule, count)| Some((rule.as_ref()?, count.changes))).collect();
        rules.sort_by_key(|(_, changes)| Reverse(*changes));
        for (number, (rule, changes)) in rules.into_iter().take(NAMED_RULES).enumerate() {
            sentence += &format!("{} rule {rule} {changes}", if number == 0 { ";" } else { "," });
        }
        sentence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(number: usize, host: &str, rule: Option<&str>, magnitude: f64) -> PublishedChange {
        let [_, mut change] = PublishedChange::examples();
        change.line.change_id = format!("change-{number}");
        change.line.url = format!("https://{host}/{number}");
        change.line.rule = rule.map(str::to_owned);
        change.line.magnitude = magnitude;
        change
    }

    #[test]
    fn changes_are_grouped_by_rule_and_host_and_all_are_counted() {
        let mut collected = Collected::default();
        for number in 0..7 {
            collected.add(&change(number, "a.test", Some("price"), 0.5));
        }
        collected.add(&change(7, "b.test", Some("price"), 0.5));
        collected.add(&change(8, "b.test", None, 1.0));
        let digest = collected.digest();
        assert_eq!(digest.sentence, "9 changes on 2 hosts; rule price 8");
        assert_eq!((digest.changes, digest.more), (9, 0));
        let groups: Vec<_> =
            digest.groups.iter().map(|group| (group.rule.as_deref(), group.changes, group.more)).collect();
        assert_eq!(groups, [(Some("price"), 8, 0), (None, 1, 0)]);
        let hosts: Vec<_> =
            digest.groups[0].hosts.iter().map(|host| (&*host.host, host.shown.len(), host.more)).collect();
        assert_eq!(hosts, [("a.test", 7, 0), ("b.test", 1, 0)]);
        assert_eq!(digest.groups[0].hosts[0].shown[6].change_id, "change-6");
    }

    #[test]
    fn of_many_changes_the_largest_are_shown_and_the_others_counted() {
        let mut collected = Collected::default();
        let hosts = MOST_HOSTS + 5;
        for number in 0..hosts {
            collected.add(&change(
                number,
                &format!("h{number}.test"),
                None,
                if number % 1_000 == 7 || number + 1 == hosts { 1.0 } else { 0.1 },
            ));
        }
        assert!(collected.largest.len() < 2 * SHOWN && collected.hosts == MOST_HOSTS);
        let digest = collected.digest();
        let lines: Vec<_> = digest.groups[0].hosts.iter().flat_map(|host| &host.shown).collect();
        assert_eq!(lines.len(), SHOWN);
        assert_eq!(lines.iter().filter(|line| line.magnitude == 1.0).count(), 11);
        assert_eq!(lines.iter().filter(|line| line.url == "https://h10004.test/10004").count(), 1, "beyond the limit");
        assert_eq!((digest.changes, digest.more), (hosts as u64, (hosts - SHOWN) as u64));
        assert_eq!(digest.groups[0].more, (hosts - SHOWN) as u64);
        assert!(digest.sentence.starts_with("10005 changes on more than 10000 hosts"), "{}", digest.sentence);
    }
}

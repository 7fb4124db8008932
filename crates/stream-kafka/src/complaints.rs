//! Rate limit of the client library's log messages: one warning per broker and minute. While a broker is away, every client
//! of the process (there are about ten) repeats its failed connections for as long as that lasts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Minimum time between two warnings about one broker.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Complaints that were logged and held back, by the broker's address. Callers pass the current time.
#[derive(Debug)]
pub(crate) struct Complaints(BTreeMap<String, Reported>);

#[derive(Debug)]
struct Reported {
    at: Instant,
    /// Complaints since then.
    more: u64,
    last: String,
}

/// Complaints about a broker that were held back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HeldBack {
    pub(crate) broker: String,
    pub(crate) count: u64,
    pub(crate) last: String,
}

impl Complaints {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Counts a complaint. Returns whether to log it: the first about its broker in a minute. Others are counted.
    pub(crate) fn receive(&mut self, message: &str, now: Instant) -> bool {
        let broker = broker_of(message);
        if let Some(reported) = self.0.get_mut(broker) {
            reported.more += 1;
            message.clone_into(&mut reported.last);
            return false;
        }
        self.0.insert(broker.to_owned(), Reported { at: now, more: 0, last: String::new() });
        true
    }

    /// Complaints held back about brokers whose minute is over. A broker without any is forgotten, so that its next complaint is
    /// logged at once; the others begin another minute.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<HeldBack> {
        self.take(|reported| now.saturating_duration_since(reported.at) >= REPORT_EVERY, now)
    }

    /// Everything that was held back.
    pub(crate) fn take_all(&mut self, now: Instant) -> Vec<HeldBack> {
        self.take(|_| true, now)
    }

    fn take(&mut self, is_due: impl Fn(&Reported) -> bool, now: Instant) -> Vec<HeldBack> {
        let mut held_back = Vec::new();
        self.0.retain(|broker, reported| {
            if !is_due(reported) {
                return true;
            }
            let count = std::mem::take(&mut reported.more);
            if count > 0 {
                held_back.push(HeldBack { broker: broker.clone(), count, last: std::mem::take(&mut reported.last) });
            }
            reported.at = now;
            count > 0
        });
        held_back
    }
}

/// The broker's address in a log line of librdkafka, such as `[thrd:ssl://kafka:9093/1]: ssl://kafka:9093/1: Connect …` or
/// `[thrd:GroupCoordinator]: GroupCoordinator: kafka:9093: Connect …`. Empty if it is about no broker.
fn broker_of(message: &str) -> &str {
    let line = match message.strip_prefix("[thrd:") {
        Some(rest) => rest.split_once("]: ").map_or(rest, |(_, line)| line),
        None => message,
    };
    let name = |part| {
        let (_, part): (_, &str) = str::split_once(part, "://").unwrap_or(("", part));
        part.split_once('/').map_or(part, |(address, _)| address)
    };
    let has_port = |name: &&str| {
        let port = name.rsplit_once(':').map_or("", |(_, port)| port);
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    line.split(": ").take(2).map(name).find(has_port).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = "[thrd:k:1/bootstrap]: k:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused";

    fn held_back(broker: &str, count: u64, last: &str) -> HeldBack {
        HeldBack { broker: broker.to_owned(), count, last: last.to_owned() }
    }

    #[test]
    fn a_broker_is_reported_once_a_minute_and_everything_else_is_counted() {
        let (mut complaints, start) = (Complaints::new(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(complaints.receive(REFUSED, at(0)));
        for second in 1..50 {
            assert!(!complaints.receive(REFUSED, at(second)));
        }
        assert!(complaints.receive("[thrd:k:2/2]: k:2/2: Connect failed", at(1)), "of another broker");
        assert!(!complaints.receive("[thrd:k:1/1]: k:1/1: Disconnected", at(50)), "of the same under another name");
        assert_eq!(complaints.take_due(at(59)), []);
        let reported = [held_back("k:1", 50, "[thrd:k:1/1]: k:1/1: Disconnected")];
        assert_eq!(complaints.take_due(at(61)), reported, "the other broker has nothing to add");
        assert_eq!(complaints.take_due(at(61)), []);
        assert!(!complaints.receive(REFUSED, at(62)), "the next minute has begun");
        assert_eq!(complaints.take_due(at(121)), [held_back("k:1", 1, REFUSED)]);
        assert_eq!(complaints.take_due(at(181)), []);
        assert!(complaints.receive(REFUSED, at(182)), "after a minute of silence");
    }

    #[test]
    fn nothing_is_left_uncounted_at_the_end() {
        let (mut complaints, now) = (Complaints::new(), Instant::now());
        assert!(complaints.receive(REFUSED, now) && !complaints.receive(REFUSED, now));
        assert_eq!(complaints.take_all(now), [held_back("k:1", 1, REFUSED)]);
        assert_eq!(complaints.take_all(now), []);
    }

    #[test]
    fn a_broker_is_known_by_its_address_whatever_its_role() {
        for (message, broker) in [
            (REFUSED, "k:1"),
            ("[thrd:sasl_ssl://kafka-0.x:9093/3]: sasl_ssl://kafka-0.x:9093/3: SSL handshake failed", "kafka-0.x:9093"),
            (
                "[thrd:GroupCoordinator]: GroupCoordinator: kafka:9092: Connect to ipv4#1.2.3.4:9092 failed",
                "kafka:9092",
            ),
            ("[thrd:[::1]:9092/bootstrap]: [::1]:9092/bootstrap: Disconnected", "[::1]:9092"),
            ("[thrd:main]: 1/1 brokers are down", ""),
            ("no thread", ""),
            ("[thrd:", ""),
        ] {
            assert_eq!(broker_of(message), broker, "{message}");
        }
    }
}

//! A DNS cache.
//!
//! Concurrent lookups of a name share one query. If the first caller gives up, the next continues. The cache holds
//! addresses as they were received. Whether an address is allowed is checked for every connection, and the connection
//! goes to the checked address, so a DNS answer that changes in between (DNS rebinding) has no effect.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// The addresses of a name, or the lookup error.
pub(crate) type LookupResult = Result<Vec<IpAddr>, String>;

type Lookup = Box<dyn Fn(String) -> Pin<Box<dyn Future<Output = LookupResult>>>>;

/// Most addresses used from one answer. More of them would not make the host more reachable.
const MAX_ADDRESSES: usize = 16;
/// How long the addresses of a name are cached. The system's resolver does not report the TTL of the DNS record.
const TTL: Duration = Duration::from_secs(300);
/// How long a failed lookup is cached.
const NEGATIVE_TTL: Duration = Duration::from_secs(30);
/// Most names in the cache.
const MAX_NAMES: usize = 10_000;

/// The system's own list of hosts, …
const HOSTS_FILE: &str = "/etc/hosts";
/// … and how long it is not read again. A name that was found stays in the cache for longer.
const HOSTS_TTL: Duration = Duration::from_secs(30);

/// A cache in front of the system's resolver.
pub(crate) struct Resolver {
    lookup: Lookup,
    ttl: Duration,
    negative_ttl: Duration,
    max_names: usize,
    names: RefCell<HashMap<String, LookupSlot>>,
}

/// Empty while the lookup is under way.
type LookupSlot = Rc<OnceCell<CachedLookup>>;

struct CachedLookup {
    found: LookupResult,
    fresh_until: Instant,
}

impl Resolver {
    /// A cache in front of the system's resolver.
    pub(crate) fn system() -> Self {
        let hosts = Rc::new(HostsFile::new(HOSTS_FILE.into(), HOSTS_TTL));
        let lookup = move |name| -> Pin<Box<dyn Future<Output = LookupResult>>> {
            let hosts = hosts.clone();
            Box::pin(async move { ask_system(name, &hosts).await })
        };
        Self::new(Box::new(lookup), TTL, NEGATIVE_TTL, MAX_NAMES)
    }

    fn new(lookup: Lookup, ttl: Duration, negative_ttl: Duration, max_names: usize) -> Self {
        Self { lookup, ttl, negative_ttl, max_names, names: RefCell::default() }
    }

    /// The addresses of a name, at most 16.
    pub(crate) async fn addresses(&self, name: &str) -> LookupResult {
        self.slot(name).get_or_init(|| self.ask(name)).await.found.clone()
    }

    async fn ask(&self, name: &str) -> CachedLookup {
        let mut found = (self.lookup)(name.to_owned()).await;
        if let Ok(addresses) = &mut found {
            addresses.truncate(MAX_ADDRESSES);
        }
        let ttl = if found.is_ok() { self.ttl } else { self.negative_ttl };
        CachedLookup { found, fresh_until: Instant::now() + ttl }
    }

    fn slot(&self, name: &str) -> LookupSlot {
        let now = Instant::now();
        let mut names = self.names.borrow_mut();
        if let Some(slot) = names.get(name).filter(|slot| is_fresh(slot, now)) {
            return slot.clone();
        }
        if names.len() >= self.max_names {
            make_room(&mut names, now);
        }
        let slot = LookupSlot::default();
        names.insert(name.to_owned(), slot.clone());
        slot
    }
}

fn is_fresh(slot: &LookupSlot, now: Instant) -> bool {
    slot.get().is_none_or(|answer| now < answer.fresh_until)
}

/// Drops expired names or, if there are none, the one that expires first. Names being looked up stay; their number is
/// limited by that of the connections.
fn make_room(names: &mut HashMap<String, LookupSlot>, now: Instant) {
    let before = names.len();
    names.retain(|_, slot| is_fresh(slot, now));
    if names.len() == before {
        let known = names.iter().filter_map(|(name, slot)| Some((slot.get()?.fresh_until, name)));
        if let Some(oldest) = known.min().map(|(_, name)| name.clone()) {
            names.remove(&oldest);
        }
    }
}

async fn ask_system(name: String, hosts: &HostsFile) -> LookupResult {
    if is_localhost(&name) {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    let mut addresses = hosts.addresses(&name).await;
    if addresses.is_empty() {
        let found = tokio::net::lookup_host((absolute(&name), 0)).await.map_err(|error| error.to_string())?;
        addresses = found.map(|found| found.ip()).collect();
    }
    let mut known = HashSet::new();
    addresses.retain(|address| known.insert(*address));
    if addresses.is_empty() { Err("the name has no address".to_owned()) } else { Ok(addresses) }
}

/// Names of this machine, which no server is asked for (RFC 6761, section 6.3).
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// The name with its final dot. Names of URLs are absolute. Without the dot, the system would try them within the domains of
/// its search list first: of a cluster, or of a company.
fn absolute(name: &str) -> String {
    if name.ends_with('.') { name.to_owned() } else { format!("{name}.") }
}

/// A file of hosts. Some have a hundred thousand lines, so it is read once for many names.
struct HostsFile {
    path: PathBuf,
    ttl: Duration,
    /// The names read last, and until when they count.
    read: Mutex<Option<(Instant, HostNames)>>,
}

/// Addresses by lower-case names.
type HostNames = HashMap<String, Vec<IpAddr>>;

impl HostsFile {
    fn new(path: PathBuf, ttl: Duration) -> Self {
        Self { path, ttl, read: Mutex::default() }
    }

    /// The addresses of a name. The system compares names with its file as they are written, without the final dot.
    async fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let mut read = self.read.lock().await;
        if read.as_ref().is_none_or(|(fresh_until, _)| *fresh_until <= Instant::now()) {
            let path = self.path.clone();
            let names = spawn_blocking(move || std::fs::read_to_string(path).map(|text| names_in(&text))).await;
            *read = Some((Instant::now() + self.ttl, names.ok().and_then(Result::ok).unwrap_or_default()));
        }
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        read.as_ref().and_then(|(_, names)| names.get(&name)).cloned().unwrap_or_default()
    }
}

/// The names in the text of a file of hosts.
fn names_in(hosts: &str) -> HostNames {
    let mut names = HostNames::new();
    for line in hosts.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(address) = words.next().and_then(|word| word.parse().ok()) else { continue };
        words.for_each(|name| names.entry(name.to_ascii_lowercase()).or_default().push(address));
    }
    names
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::Cell;

    const LONG: Duration = Duration::from_secs(3_600);

    /// A resolver that gives these answers in turn and then repeats the last, with its number of lookups.
    pub(crate) fn scripted(answers: &[&[&str]], ttl: Duration) -> (Resolver, Rc<Cell<usize>>) {
        let answers: Vec<Vec<IpAddr>> =
            answers.iter().map(|answer| answer.iter().map(|address| address.parse().unwrap()).collect()).collect();
        let asked = Rc::new(Cell::new(0));
        let count = asked.clone();
        let lookup = move |_| -> Pin<Box<dyn Future<Output = LookupResult>>> {
            let answer = answers[count.replace(count.get() + 1).min(answers.len() - 1)].clone();
            Box::pin(async move {
                tokio::task::yield_now().await;
                if answer.is_empty() { Err("the name does not exist".to_owned()) } else { Ok(answer) }
            })
        };
        (Resolver::new(Box::new(lookup), ttl, ttl, 3), asked)
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn names_are_absolute_and_the_systems_own_hosts_are_known() {
        assert_eq!(
            (absolute("www.example.org").as_str(), absolute("a.test.").as_str()),
            ("www.example.org.", "a.test.")
        );
        let hosts = "127.0.0.1 localhost\n192.0.2.1\tShop.test shop # intern.test\n::1 ip6-localhost\n2001:db8::1 shop.test\nx y\n";
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hosts");
        std::fs::write(&path, hosts).unwrap();
        let file = HostsFile::new(path.clone(), LONG);
        let check = |name: &str, expected: &[&str]| {
            let expected: Vec<IpAddr> = expected.iter().map(|text| text.parse().unwrap()).collect();
            assert_eq!(run(file.addresses(name)), expected, "{name}");
        };
        check("shop.test", &["192.0.2.1", "2001:db8::1"]);
        check("shop.test.", &["192.0.2.1", "2001:db8::1"]);
        check("intern.test", &[]);
        check("test", &[]);
        std::fs::write(&path, "192.0.2.2 shop.test\n").unwrap();
        check("shop.test", &["192.0.2.1", "2001:db8::1"]);
        let other = |ttl| run(HostsFile::new(path.clone(), ttl).addresses("SHOP.test"));
        assert_eq!(other(Duration::ZERO), ["192.0.2.2".parse::<IpAddr>().unwrap()]);
        let of_this_machine: Vec<IpAddr> = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        for name in ["localhost", "LocalHost.", "a.localhost"] {
            assert_eq!(run(ask_system(name.to_owned(), &file)), Ok(of_this_machine.clone()), "{name}");
        }
        assert!(!is_localhost("localhost.example"));
    }

    #[test]
    fn workers_that_want_a_name_at_once_share_one_question() {
        let (resolver, asked) = scripted(&[&["192.0.2.1"]], LONG);
        run(async {
            let (one, other, third) =
                tokio::join!(resolver.addresses("a"), resolver.addresses("a"), resolver.addresses("b"));
            assert_eq!((one.clone(), one), (other, third));
        });
        assert_eq!(asked.get(), 2);
    }

    #[test]
    fn who_gives_up_leaves_the_question_to_the_next() {
        let (resolver, asked) = scripted(&[&["192.0.2.1"]], LONG);
        run(async {
            let mut first = Box::pin(resolver.addresses("a"));
            let polled =
                std::future::poll_fn(|context| std::task::Poll::Ready(first.as_mut().poll(context).is_pending()));
            assert!(polled.await);
            drop(first);
            assert!(resolver.addresses("a").await.is_ok());
        });
        assert_eq!(asked.get(), 2);
    }

    #[test]
    fn an_answer_holds_as_long_as_it_may_and_so_does_its_absence() {
        let check = |ttl, expected| {
            let (resolver, asked) = scripted(&[&["192.0.2.1"], &[]], ttl);
            run(async {
                for _ in 0..3 {
                    let _ = resolver.addresses("a").await;
                }
            });
            assert_eq!(asked.get(), expected, "{ttl:?}");
        };
        check(LONG, 1);
        check(Duration::ZERO, 3);
        let (resolver, asked) = scripted(&[&[]], LONG);
        run(async {
            assert!(resolver.addresses("a").await.is_err());
            assert!(resolver.addresses("a").await.is_err());
        });
        assert_eq!(asked.get(), 1);
    }

    #[test]
    fn no_more_names_are_remembered_than_allowed_and_the_oldest_goes_first() {
        let (resolver, asked) = scripted(&[&["192.0.2.1"]], LONG);
        run(async {
            for name in ["a", "b", "c", "d"] {
                let _ = resolver.addresses(name).await;
            }
            assert_eq!(resolver.names.borrow().len(), 3);
            let _ = resolver.addresses("d").await;
            assert_eq!(asked.get(), 4);
            let _ = resolver.addresses("a").await;
            assert_eq!(asked.get(), 5);
        });
    }
}

//! Measures the CPU time of a link in the ranker, and the memory of an address.
//! `cargo run --release -p ranker --example link_speed [directory] [addresses]`
//!
//! The directory holds the log and the state while it runs.

use chance::{Draws, Lcg, spread_128};
use importance::Link;
use importance::opic::{Account, Shard, TrustAccount, Window};
use messages::{Encoded, PageOutLinks, topics};
use page::{CanonicalUrl, PageId, Timestamp};
use ranker::{AccountColumns, Accounts, AccountsKey, LinkedPage};
use rustix::time::{ClockId, clock_gettime};
use settings::Settings;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::{
    Checkpoint, Clock, Commit, Event, Log, LogBackend, Member, MemberSpec, OutputRecord, PollLimits, Position, Stage,
    StageRunner, StepOutcome, StoreProvider, StoreWrite, TableKey, TaskId, TopicPartition,
};
use stream_rocksdb::{EmbeddedStores, RocksStores, StoreMemory};
use stream_testing::ManualClock;
use topology::LogNames;

/// Links of a page that is looked at.
const LINKS_A_PAGE: usize = 12;
/// Pages of the whole stage, and of a site.
const PAGES: u32 = 200_000;
const PAGES_PER_SITE: u32 = 500;
/// So many times the stage is given a part of the pages, and works until it is idle.
const PARTS: u32 = 20;
/// Pages of the state alone, and looks at them that are measured.
const STATE_PAGES: u32 = 1_000_000;
const STATE_LOOKS: usize = 200_000;
const START: Timestamp = Timestamp::from_secs(1_700_000_000);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let addresses = arguments.next().map_or(10_000_000, |text| text.parse().expect("a number"));
    let directory = tempfile::TempDir::new_in(directory).expect("a directory that can be written");
    known(addresses);
    state(&directory.path().join("state"));
    stage(&directory.path().join("stage"));
}

fn any(pages: u32, random: &mut Lcg) -> u32 {
    (f64::from(pages) * random.uniform()) as u32
}

/// A page: few are linked by many.
fn popular(pages: u32, random: &mut Lcg) -> u32 {
    (f64::from(pages) * random.uniform().powi(3)) as u32
}

fn id(number: u32) -> PageId {
    PageId(spread_128(u128::from(number)).to_be_bytes())
}

/// Memory and time of finding whether an address is known.
fn known(addresses: u32) {
    let mut shard = Shard::new(0, 1.0);
    let mut accounts = Accounts::default();
    let (_, added) = timed(|| {
        for number in 0..addresses {
            accounts.add(
                id(number),
                &LinkedPage { account: shard.open(), depth: 0, sent_importance: 0.0, trust: TrustAccount::default() },
            );
        }
    });
    drop(accounts.unwritten());
    let (finding, rest) = accounts.memory_bytes();
    let mut random = Lcg(1);
    const CHECKS: u32 = 2_000_000;
    let (found, checked) = timed(|| {
        let asked = (0..CHECKS).map(|_| id(any(2 * addresses, &mut random)));
        asked.filter(|id| accounts.find(id).is_some()).count()
    });
    assert!((f64::from(CHECKS) / 2.0 - found as f64).abs() < f64::from(CHECKS) / 100.0, "half of them are known");
    let of_each = |bytes: usize| bytes as f64 / f64::from(addresses);
    println!("known addresses: {:.1} bytes an address, {:.1} bytes its account", of_each(finding), of_each(rest));
    println!("a check: {:.1} ns", nanos(checked, CHECKS as usize));
    println!("an address is added: {:.1} ns", nanos(added, addresses as usize));
}

/// Looks with pages in the accounts and a store, committed in batches; and the same in a hash map.
fn state(directory: &Path) {
    let mut random = Lcg(1);
    let looks: Vec<(PageId, Vec<Link<PageId>>)> = (0..STATE_LOOKS)
        .map(|_| {
            let links = (0..LINKS_A_PAGE).map(|_| Link::plain(id(popular(STATE_PAGES, &mut random)))).collect();
            (id(any(STATE_PAGES, &mut random)), links)
        })
        .collect();
    let links = STATE_LOOKS * LINKS_A_PAGE;

    let mut shard = Shard::new(0, 1.0);
    let mut map: HashMap<PageId, Account> = (0..STATE_PAGES).map(|page| (id(page), shard.open())).collect();
    shard.receive(1.0);
    let (mut of_page, mut cash) = (Vec::new(), Vec::new());
    let ((), cpu) = timed(|| {
        for (page, now) in &looks {
            of_page.clone_from(now);
            let account = map.get_mut(page).expect("all pages have accounts");
            shard.visit(*page, account, &mut of_page, Window::Everything, |given| cash.push(given));
            for given in cash.drain(..) {
                map.get_mut(&given.to).expect("all pages have accounts").receive(given.amount);
            }
        }
    });
    println!("a hash map of the same: {:.1} ns a link", nanos(cpu, links));
    let in_map: f64 = map.values().map(|account| account.cash(&shard)).sum();
    drop(map);

    let provider = RocksStores::new(directory, StoreMemory::default());
    let task = TaskId { stage: "ranker".to_owned(), partition: 0 };
    let mut store = provider.open("speed", &task, &["accounts"]).expect("a new store opens");
    let mut shard = Shard::new(0, 1.0);
    let mut accounts = Accounts::default();
    for page in 0..STATE_PAGES {
        accounts.add(
            id(page),
            &LinkedPage { account: shard.open(), depth: 0, sent_importance: 0.0, trust: TrustAccount::default() },
        );
    }
    let (mut checkpoint, bytes) = (Checkpoint::empty(1), Cell::new(0));
    let mut commit = |accounts: &mut Accounts| {
        let writes = accounts.unwritten().into_iter().map(|(key, columns)| StoreWrite {
            store: 0,
            key: key.to_bytes().to_vec(),
            value: columns.map(|columns| columns.encode()),
        });
        let writes: Vec<_> = writes.collect();
        bytes.set(writes.iter().filter_map(|write| write.value.as_ref()).map(Vec::len).sum::<usize>() + bytes.get());
        checkpoint.input_next = Some(checkpoint.input_next.unwrap_or(0) + 1);
        store.apply(&writes, &checkpoint).expect("a store can be written");
    };
    commit(&mut accounts);
    bytes.set(0);
    shard.receive(1.0);
    let ((), cpu) = timed(|| {
        for batch in looks.chunks(topology::BATCH_RECORDS) {
            for (page, now) in batch {
                of_page.clone_from(now);
                let number = accounts.find(page).expect("all pages have accounts");
                let mut linked = accounts.get(number);
                shard.visit(*page, &mut linked.account, &mut of_page, Window::Everything, |given| cash.push(given));
                accounts.set(number, &linked);
                for given in cash.drain(..) {
                    let number = accounts.find(&given.to).expect("all pages have accounts");
                    let mut linked = accounts.get(number);
                    linked.account.receive(given.amount);
                    accounts.set(number, &linked);
                }
            }
            commit(&mut accounts);
        }
    });
    println!("OPIC with durable state: {:.1} ns a link", nanos(cpu, links));
    println!("written: {:.1} bytes a link", bytes.get() as f64 / links as f64);
    let (again, cpu) = timed(|| {
        let mut again = Accounts::default();
        let mut take = |key: &[u8], value: &[u8]| {
            let key = AccountsKey::from_bytes(key).expect("it is a key of accounts");
            let columns = AccountColumns::decode(value).expect("what was encoded can be decoded");
            again.restore(key, &columns).expect("what was written is whole");
            ControlFlow::Continue(())
        };
        store.scan(0, b"", &mut take).expect("a store can be read");
        again.restored();
        again
    });
    assert!(again.pages().eq(accounts.pages()), "the accounts are as they were");
    println!("a start reads {STATE_PAGES} accounts: {:.1} ns an account", nanos(cpu, STATE_PAGES as usize));
    let in_accounts: f64 = accounts.pages().map(|(_, page)| page.account.cash(&shard)).sum();
    assert!((in_map - in_accounts).abs() < 1e-9, "{in_map} in the map, {in_accounts} in the accounts");
}

/// The whole stage over a log on disk: links read, decoded, followed, accounts changed, messages sent, committed.
fn stage(directory: &Path) {
    let settings = Settings::default();
    let partitions = settings.log.partitions;
    let names = LogNames::new(&settings);
    let log = stream_rocksdb::open_log(directory).expect("a new log opens");
    log.create_topics(&topology::topic_configs(&settings, &[ranker::topology()], partitions))
        .expect("topics can be made");
    let stores = Arc::new(EmbeddedStores::new(log.backend().clone()));
    let (owned, log): (_, Arc<dyn Log>) = (log.clone(), Arc::new(log));
    let clock = ManualClock::at(START);
    let spec = ranker::stage(&settings, &names, partitions);
    let runner = topology::runner_settings(&settings, spec.punctuate_every, &*clock);
    let mut stage = StageRunner::new(spec, "speed", log.clone(), stores, clock.clone(), runner);
    let topic = names.topic(topics::RANKER_EVENTS);
    let mut scheduler = Scheduler::join(&*log, &names);
    let mut random = Lcg(1);
    for (name, is_first_look) in [("new pages", true), ("known pages", false)] {
        let mut spent = Duration::ZERO;
        for part in 0..PARTS {
            let pages = part * PAGES / PARTS..(part + 1) * PAGES / PARTS;
            let looks: Vec<_> = pages.map(|page| look(&topic, partitions, page, is_first_look, &mut random)).collect();
            log.append(&looks).expect("records can be written");
            clock.advance(Duration::from_secs(60));
            spent += timed(|| drain(&mut stage)).1;
            scheduler.read();
            // Drops records that were read, as a crawl does every second.
            spent += timed(|| owned.backend().maintain(clock.now()).expect("the log can be written")).1;
        }
        println!("the ranker, {name}: {:.1} ns a link", nanos(spent, PAGES as usize * LINKS_A_PAGE));
    }
    let done = stage.status().lock().expect("no thread panics").processed_total;
    assert!(done >= 2 * u64::from(PAGES), "every look is taken in, not {done}");
}

/// A look at a page. Two of three links lead to pages of its site.
fn look(topic: &str, partitions: u32, page: u32, is_first_look: bool, random: &mut Lcg) -> OutputRecord {
    let source_url = address(page);
    let link = |number: usize| {
        let target = match number % 3 {
            0 => popular(PAGES, random),
            _ => page / PAGES_PER_SITE * PAGES_PER_SITE + popular(PAGES_PER_SITE, random),
        };
        messages::Link { url: address(target), anchor: "eleven more words".to_owned(), rel: String::new() }
    };
    let links: Vec<_> = (0..LINKS_A_PAGE).map(link).collect();
    let key = source_url.site_key().as_str().as_bytes().to_vec();
    let links = PageOutLinks {
        source_page_id: source_url.page_id(),
        found_at: START,
        is_first_look,
        is_unwanted: false,
        text_hash: i64::from(page),
        links,
        source_url,
        focus: None,
        is_repeated: false,
        repeated_sites: Vec::new(),
    };
    let to = TopicPartition::new(topic, partition_for(&key, partitions));
    OutputRecord { to, timestamp: START, key, value: Some(links.encode().into()), trace: None }
}

/// Reads the messages to the scheduler, so that the log drops them.
struct Scheduler {
    member: Box<dyn Member>,
    positions: BTreeMap<u32, Position>,
}

impl Scheduler {
    fn join(log: &dyn Log, names: &LogNames) -> Self {
        let spec = MemberSpec {
            group: names.group("scheduler"),
            input: names.topic(topics::SCHEDULER_EVENTS),
            transactional_id: "scheduler-0".to_owned(),
        };
        Self { member: log.join(&spec).expect("nobody else is of the group"), positions: BTreeMap::new() }
    }

    fn read(&mut self) {
        loop {
            let events = self.member.poll(PollLimits::records(10_000), Duration::ZERO).expect("the log can be read");
            if events.is_empty() {
                break;
            }
            for event in events {
                match event {
                    Event::Assigned(partitions) => partitions.iter().for_each(|partition| {
                        self.member.start(*partition, 0).expect("it is ours");
                    }),
                    Event::Revoked(_) => unreachable!("the member is alone in its group"),
                    Event::Record(record) => {
                        self.positions.insert(record.partition, Position::at(record.offset + 1));
                    }
                }
            }
            let (tasks, positions) = (self.positions.keys().copied().collect(), self.positions.clone());
            let commit = Commit { tasks, positions, ..Commit::default() };
            self.member.commit(&commit).expect("the log can be written");
        }
    }
}

fn address(page: u32) -> CanonicalUrl {
    let (site, number) = (page / PAGES_PER_SITE, page % PAGES_PER_SITE);
    let url = CanonicalUrl::parse(&format!("https://site-{site:03}.test/part-{}/page-{number}.html", number % 7));
    url.expect("it is an address")
}

fn drain(stage: &mut impl Stage) {
    let mut idle = 0;
    // The first steps join the group, and are idle too.
    while idle < 4 {
        match stage.step().expect("nothing stops it") {
            StepOutcome::Idle => idle += 1,
            StepOutcome::Worked => idle = 0,
            StepOutcome::Failed => panic!("the embedded log does not fail"),
        }
    }
}

fn nanos(cpu: Duration, times: usize) -> f64 {
    cpu.as_secs_f64() * 1e9 / times as f64
}

/// The CPU time of all threads.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = cpu_time();
    let result = work();
    (result, cpu_time() - begun)
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

use super::*;
use importance::opic::Shard;
use messages::Encoded;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use stream::TableKey;

/// The table, as encoded bytes.
type Stored = BTreeMap<Vec<u8>, Vec<u8>>;

fn restored(stored: &Stored) -> Result<Accounts, String> {
    let mut accounts = Accounts::default();
    for (key, value) in stored {
        accounts.restore(AccountsKey::from_bytes(key).unwrap(), &AccountColumns::decode(value).unwrap())?;
    }
    accounts.restored();
    Ok(accounts)
}

/// Writes what has changed. Returns the bytes written.
fn write(accounts: &mut Accounts, stored: &mut Stored) -> usize {
    let mut bytes = 0;
    for (key, columns) in accounts.unwritten() {
        match columns.map(|columns| columns.encode()) {
            Some(value) => {
                bytes += value.len();
                stored.insert(key.to_bytes().to_vec(), value);
            }
            None => drop(stored.remove(&key.to_bytes()[..])),
        }
    }
    bytes
}

fn page_id(number: usize) -> PageId {
    PageId(chance::spread_128(number as u128).to_be_bytes())
}

/// Changes `changes` pages among the first `pages`.
fn change(accounts: &mut Accounts, shard: &mut Shard, random: &mut Pcg64, pages: usize, changes: usize) {
    change_trusting(false, accounts, shard, random, pages, changes);
}

/// The same, and some pages have cash from trusted ones.
fn change_trusting(
    is_trusting: bool,
    accounts: &mut Accounts,
    shard: &mut Shard,
    random: &mut Pcg64,
    pages: usize,
    changes: usize,
) {
    for _ in 0..changes {
        let id = page_id(random.random_range(0..pages));
        let number = accounts.find(&id).unwrap_or_else(|| {
            let (depth, sent_importance) = (random.random_range(0..9), 1.5);
            accounts
                .add(id, &LinkedPage { account: shard.open(), depth, sent_importance, trust: TrustAccount::default() })
        });
        let mut page = accounts.get(number);
        page.account.receive(random.random_range(0.0..1.0));
        page.sent_importance += 0.5;
        if is_trusting && random.random_bool(0.5) {
            page.trust.receive(random.random_range(0.0..1.0));
            page.trust.set_trusted(random.random_bool(0.5), shard);
        }
        accounts.set(number, &page);
    }
}

#[test]
fn what_was_written_is_read_again_after_any_number_of_batches_and_losses() {
    for seed in 0..8 {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut shard = Shard::new(0, 1.0);
        let (mut accounts, mut stored, mut written) = (Accounts::default(), Stored::new(), Vec::new());
        let mut losses = 0;
        for batch in 0..300 {
            // Up to six blocks.
            let pages = 10 + batch * 20;
            let changes = if random.random_bool(0.1) { 3_000 } else { random.random_range(0..100) };
            // Somebody comes to be trusted while the crawl runs.
            change_trusting(batch > 100, &mut accounts, &mut shard, &mut random, pages, changes);
            if random.random_bool(0.1) {
                // The batch is lost.
                losses += 1;
                accounts = restored(&stored).unwrap();
                assert_eq!(accounts.pages().collect::<Vec<_>>(), written, "seed {seed}, batch {batch}");
            } else {
                write(&mut accounts, &mut stored);
                written = accounts.pages().collect();
            }
        }
        assert!(losses > 10 && written.len() > 4 * BLOCK, "{losses} losses, {} pages", written.len());
    }
}

#[test]
fn the_journal_stays_as_small_as_the_blocks_and_no_batch_writes_much_more_than_it_changed() {
    let mut random = Pcg64::seed_from_u64(1);
    let mut shard = Shard::new(0, 1.0);
    let (mut accounts, mut stored) = (Accounts::default(), Stored::new());
    let (mut all, mut most_journal) = (0, 0);
    let batches = 1_000;
    for batch in 0..batches {
        change(&mut accounts, &mut shard, &mut random, 5_000, 200);
        let bytes = write(&mut accounts, &mut stored);
        all += bytes;
        assert!(bytes <= 2 * 200 * STORED_BYTES + BLOCK * (STORED_BYTES + 1), "{bytes} in batch {batch}");
        let journal = stored.iter().filter(|(key, _)| key[0] == b'j').map(|(_, value)| value.len()).sum();
        most_journal = usize::max(most_journal, journal);
    }
    let blocks: usize = stored.iter().filter(|(key, _)| key[0] == b'b').map(|(_, value)| value.len()).sum();
    assert!(accounts.len() > 4_900 && most_journal < 2 * blocks, "{most_journal} beside {blocks}");
    assert!(all < batches * 2 * 200 * STORED_BYTES, "{all}");
    assert_eq!(write(&mut accounts, &mut stored), 0, "nothing has changed");
}

#[test]
fn damage_is_reported() {
    let mut random = Pcg64::seed_from_u64(2);
    let mut shard = Shard::new(0, 1.0);
    let (mut accounts, mut stored) = (Accounts::default(), Stored::new());
    for _ in 0..100 {
        change(&mut accounts, &mut shard, &mut random, 3_000, 300);
        write(&mut accounts, &mut stored);
    }
    assert!(restored(&stored).is_ok());
    let without = |character: u8, number: u64| {
        let mut damaged = stored.clone();
        damaged.remove(&(character, number).to_bytes()[..]).unwrap();
        restored(&damaged).map(|_| ()).unwrap_err()
    };
    assert_eq!(without(b'b', 1), "block 2 follows 1024 accounts");
    assert_eq!(without(b'b', 0), "block 1 follows 0 accounts");
    let entries = stored.keys().filter_map(|key| match AccountsKey::from_bytes(key) {
        Some(AccountsKey::Entry(number)) => Some(number),
        _ => None,
    });
    let entries: Vec<u64> = entries.collect();
    let (first, last) = (entries[0], entries[entries.len() - 1]);
    assert!(first > 1 && last > first + 3, "{first} to {last}");
    assert_eq!(without(b'j', first), format!("entry {} of the journal follows {}", first + 1, first - 1));
    assert_eq!(without(b'j', first + 2), format!("entry {} of the journal follows {}", first + 3, first + 1));
    for number in [0, u64::MAX] {
        assert!(Accounts::default().restore(AccountsKey::Entry(number), &AccountColumns::default()).is_err());
    }
    let mut cut = stored.clone();
    let first = cut.values_mut().next().unwrap();
    let mut columns = AccountColumns::decode(first).unwrap();
    columns.balances.pop();
    *first = columns.encode();
    assert_eq!(restored(&cut).map(|_| ()).unwrap_err(), "a column of 8191 bytes does not consist of values of 8");
}

#[test]
fn an_address_takes_at_most_24_bytes_and_its_account_38_more() {
    let mut shard = Shard::new(0, 1.0);
    let mut accounts = Accounts::default();
    for number in 0..100_000 {
        let id = page_id(number);
        assert_eq!(accounts.find(&id), None);
        accounts.add(
            id,
            &LinkedPage { account: shard.open(), depth: 0, sent_importance: 0.0, trust: TrustAccount::default() },
        );
    }
    assert!((0..100_000).all(|number| accounts.find(&page_id(number)) == Some(number as u32)));
    let (finding, rest) = accounts.memory_bytes();
    assert!(finding <= 2_400_000 && rest <= 3_800_000, "{finding} and {rest}");
}

#[test]
fn accounts_that_took_the_place_of_the_poorest_are_read_again_after_any_number_of_batches() {
    let (mut accounts, mut stored, mut random) = (Accounts::default(), Stored::new(), Pcg64::seed_from_u64(5));
    let mut shard = Shard::new(0, 1.0);
    let mut fresh = 3 * BLOCK;
    for number in 0..fresh {
        accounts.add(page_id(number), &opened(&mut shard));
    }
    for batch in 0..60 {
        for _ in 0..random.random_range(0..700) {
            let number = accounts.poorest().unwrap();
            let given_up = accounts.id(number);
            shard.close(accounts.get(number).account);
            // One that was given up comes back now and then.
            fresh += 1;
            let mut page = opened(&mut shard);
            page.account.receive(random.random());
            accounts.replace(number, page_id(fresh), &page);
            assert_eq!((accounts.find(&given_up), accounts.find(&page_id(fresh))), (None, Some(number)));
            if random.random_bool(0.1) {
                let number = accounts.poorest().unwrap();
                accounts.replace(number, given_up, &opened(&mut shard));
            }
        }
        write(&mut accounts, &mut stored);
        let again = restored(&stored).unwrap();
        assert_eq!(again.len(), 3 * BLOCK);
        for ((id, page), number) in accounts.pages().zip(0..) {
            assert_eq!((again.id(number), again.get(number)), (id, page), "batch {batch}");
            assert_eq!(again.find(&id), Some(number), "batch {batch}");
        }
    }
}

#[test]
fn the_poorest_go_first_those_never_sent_before_all_others() {
    let (mut accounts, mut shard) = (Accounts::default(), Shard::new(0, 1.0));
    for number in 0..200_usize {
        let mut page = opened(&mut shard);
        page.account.receive(number as f64);
        page.sent_importance = if number == 50 { 0.0 } else { 1.0 };
        accounts.add(page_id(number), &page);
    }
    assert_eq!((0..3).map(|_| accounts.poorest().unwrap()).collect::<Vec<_>>(), [50, 0, 1]);
    let mut richer = accounts.get(2);
    richer.account.receive(1_000.0);
    accounts.set(2, &richer);
    assert_eq!(accounts.poorest(), Some(3), "its cash was not known when it was chosen");
}

#[test]
fn the_last_that_was_chosen_stays_too_when_it_has_become_richer() {
    let (mut accounts, mut shard) = (Accounts::default(), Shard::new(0, 1.0));
    for number in 0..64_usize {
        let mut page = opened(&mut shard);
        page.account.receive(number as f64);
        accounts.add(page_id(number), &page);
    }
    // Two are chosen at once.
    assert_eq!(accounts.poorest(), Some(0));
    for (number, cash) in [(0, 1_000.0), (1, 1_000.0)] {
        let mut richer = accounts.get(number);
        richer.account.receive(cash);
        accounts.set(number, &richer);
    }
    assert_eq!(accounts.poorest(), Some(2));
    assert!(accounts.poorest.0.capacity() <= 2, "{}", accounts.poorest.0.capacity());
}

fn opened(shard: &mut Shard) -> LinkedPage {
    let trust = TrustAccount::default();
    LinkedPage { account: shard.open(), depth: 3, sent_importance: 1.0, trust }
}

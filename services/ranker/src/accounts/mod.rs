//! The accounts of a partition: all in memory, and on disk as blocks and a journal.
//!
//! A link changes the account of a page anywhere in the partition. A read and a write of a table for each would cost more than
//! everything else the ranker does. So accounts lie in memory, 48 bytes each and 5 to 7.5 for finding them, and a batch
//! writes those that it changed as one entry of a journal. With each entry some blocks of 1,024 accounts are written, in turn:
//! about as many bytes as the entry has. An entry that all blocks hold is deleted. So journal and blocks are of about
//! one size, no batch writes much more than it changed, and a start reads both once.
//!
//! Their number has a limit. At the limit a page that is new takes the place of one of the poorest ([`poorest`]).
//!
//! The accounts in memory run ahead of the log by the batch at work. If that batch is lost, the accounts are read again.

mod columns;
mod poorest;
mod restored;

pub use self::columns::{AccountColumns, AccountsKey};

use self::columns::Stored;
use self::poorest::Poorest;
use crate::state::ACCOUNTS;
use importance::opic::{Account, KeptAccount, TrustAccount};
use page::{PageId, PageIdIndex};
use stream::{StoreError, TableError, TaskTables};

/// Accounts of a block, and the most of an entry.
const BLOCK: usize = 1_024;
/// Bytes of an account in a block.
const STORED_BYTES: usize = 46;
/// Bytes of its trust.
const STORED_TRUST_BYTES: usize = 25;

/// A page with its account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkedPage {
    pub account: Account,
    /// Links between the page and a seed when it was found. Above 65,535 it is kept as that.
    pub depth: i32,
    /// The weight last sent to the scheduler; 0 if none.
    pub sent_importance: f64,
    /// Its account of cash from trusted pages.
    pub trust: TrustAccount,
}

/// An account in memory.
#[derive(Clone, Copy, Debug)]
struct Held {
    id: PageId,
    balance: f64,
    history: f64,
    noted_before: f32,
    reported: f32,
    depth: u16,
    /// Whether it differs from what is stored.
    is_changed: bool,
    /// Whether its id took the place of one that is stored.
    is_replaced: bool,
}

#[derive(Debug)]
struct Block {
    held: Vec<Held>,
    /// The trust of each, or none. A crawl without trusted pages has none.
    trust: Vec<TrustAccount>,
    /// The last entry of the journal that the block on disk holds.
    kept_to: u64,
}

/// The accounts of a partition. See the module.
#[derive(Debug)]
pub struct Accounts {
    index: PageIdIndex,
    blocks: Vec<Block>,
    changed: Vec<u32>,
    /// Number of pages whose ids are stored.
    ids_stored: usize,
    /// The first entry of the journal that is stored, …
    first_entry: u64,
    /// … and the next to be written. They count from 1.
    next_entry: u64,
    /// The block that is written next.
    next_block: usize,
    /// Bytes of the journal for which no block was written yet.
    bytes_owed: usize,
    poorest: Poorest,
}

impl Default for Accounts {
    fn default() -> Self {
        Self {
            index: PageIdIndex::default(),
            blocks: Vec::new(),
            changed: Vec::new(),
            ids_stored: 0,
            first_entry: 1,
            next_entry: 1,
            next_block: 0,
            bytes_owed: 0,
            poorest: Poorest::default(),
        }
    }
}

impl Accounts {
    /// The accounts of a partition as they are stored, for reading beside the running stage.
    pub fn read(tables: &TaskTables) -> Result<Self, TableError> {
        let mut accounts = Self::default();
        let damaged = |what| TableError::Store(StoreError::Damaged(what));
        tables.scan(ACCOUNTS, b"", &mut |key, columns| accounts.restore(key, &columns).map_err(damaged))?;
        accounts.restored();
        Ok(accounts)
    }

    pub fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * BLOCK + last.held.len())
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The number of a page's account; `None` if the page is not known.
    pub fn find(&self, id: &PageId) -> Option<u32> {
        self.index.find(id, |number| self.held(number).id == *id)
    }

    /// The page of an account.
    ///
    /// # Panics
    /// If no page has this number.
    pub fn id(&self, number: u32) -> PageId {
        self.held(number).id
    }

    /// Adds the account of a page that is not known, and returns its number.
    pub fn add(&mut self, id: PageId, page: &LinkedPage) -> u32 {
        let number = self.push(id);
        self.set(number, page);
        number
    }

    /// Gives an account up for that of a page that is not known, which gets its number.
    ///
    /// # Panics
    /// If no page has this number.
    pub fn replace(&mut self, number: u32, id: PageId, page: &LinkedPage) {
        let Self { index, blocks, .. } = self;
        let before = held_in(blocks, number).id;
        index.remove(&before, number, |number| held_in(blocks, number).id);
        let held = held_in_mut(blocks, number);
        (held.id, held.is_replaced) = (id, true);
        index.add(&id, number, |number| held_in(blocks, number).id);
        self.set(number, page);
    }

    /// The page with this account.
    ///
    /// # Panics
    /// If no page has this number.
    pub fn get(&self, number: u32) -> LinkedPage {
        let Held { balance, history, noted_before, reported, depth, .. } = *self.held(number);
        LinkedPage {
            account: Account::restore(KeptAccount { balance, history, noted_before: f64::from(noted_before) }),
            depth: i32::from(depth),
            sent_importance: f64::from(reported),
            trust: self.trust(number),
        }
    }

    /// Changes the account of a page.
    ///
    /// # Panics
    /// If no page has this number.
    pub fn set(&mut self, number: u32, page: &LinkedPage) {
        let KeptAccount { balance, history, noted_before } = page.account.kept();
        let held = self.held_mut(number);
        held.balance = balance;
        held.history = history;
        held.noted_before = noted_before as f32;
        held.reported = page.sent_importance as f32;
        held.depth = page.depth.clamp(0, i32::from(u16::MAX)) as u16;
        if !std::mem::replace(&mut held.is_changed, true) {
            self.changed.push(number);
        }
        self.set_trust(number, page.trust);
    }

    /// All pages, in the order in which they were found.
    pub fn pages(&self) -> impl Iterator<Item = (PageId, LinkedPage)> {
        (0..self.len() as u32).map(|number| (self.held(number).id, self.get(number)))
    }

    /// Bytes of memory: of the index with its ids, and of the rest.
    pub fn memory_bytes(&self) -> (usize, usize) {
        let accounts: usize = self.blocks.iter().map(|block| block.held.capacity()).sum();
        let trust: usize = self.blocks.iter().map(|block| block.trust.capacity() * size_of::<TrustAccount>()).sum();
        let rest = accounts * (size_of::<Held>() - size_of::<PageId>()) + self.blocks.capacity() * size_of::<Block>();
        let rest = rest + trust;
        (self.index.memory_bytes() + accounts * size_of::<PageId>(), rest + self.changed.capacity() * size_of::<u32>())
    }

    /// The records to write so that the table holds all accounts as they are; `None` deletes.
    pub fn unwritten(&mut self) -> Vec<(AccountsKey, Option<AccountColumns>)> {
        let mut writes = Vec::new();
        let changed = std::mem::take(&mut self.changed);
        for numbers in changed.chunks(BLOCK) {
            let entry = self.entry(numbers);
            self.bytes_owed += entry.bytes();
            writes.push((AccountsKey::Entry(self.next_entry), Some(entry)));
            self.next_entry += 1;
        }
        for _ in 0..self.blocks.len() {
            let Block { held, trust, .. } = &self.blocks[self.next_block];
            let bytes = held.len() * STORED_BYTES + trust.len() * STORED_TRUST_BYTES;
            if self.bytes_owed < bytes {
                break;
            }
            self.bytes_owed -= bytes;
            writes.push((AccountsKey::Block(self.next_block as u64), Some(self.block(self.next_block))));
            self.blocks[self.next_block].kept_to = self.next_entry - 1;
            self.next_block = (self.next_block + 1) % self.blocks.len();
        }
        let held_by_all = self.held_by_all();
        while self.first_entry <= held_by_all {
            writes.push((AccountsKey::Entry(self.first_entry), None));
            self.first_entry += 1;
        }
        writes
    }

    /// The last entry that the block written longest ago holds.
    fn held_by_all(&self) -> u64 {
        self.blocks.iter().map(|block| block.kept_to).min().unwrap_or(0)
    }

    fn push(&mut self, id: PageId) -> u32 {
        let number = self.len() as u32;
        let Self { index, blocks, .. } = self;
        index.add(&id, number, |number| held_in(blocks, number).id);
        if self.blocks.last().is_none_or(|last| last.held.len() == BLOCK) {
            // Entries from the next one on are about its accounts.
            let (held, kept_to) = (Vec::with_capacity(BLOCK), self.next_entry - 1);
            self.blocks.push(Block { held, trust: Vec::new(), kept_to });
        }
        if let Some(last) = self.blocks.last_mut() {
            let (balance, history, noted_before) = Default::default();
            last.held.push(Held {
                id,
                balance,
                history,
                noted_before,
                reported: 0.0,
                depth: 0,
                is_changed: false,
                is_replaced: false,
            });
            if !last.trust.is_empty() {
                last.trust.push(TrustAccount::default());
            }
        }
        number
    }

    /// The next entry of the journal, about these accounts.
    fn entry(&mut self, numbers: &[u32]) -> AccountColumns {
        let (kept_to, first_new) = (self.next_entry as i64, self.ids_stored as i64);
        let mut columns = AccountColumns { kept_to, first_new, ..AccountColumns::default() };
        for &number in numbers {
            let held = *self.held(number);
            (self.held_mut(number).is_changed, self.held_mut(number).is_replaced) = (false, false);
            // Pages that are new were changed in the order of their numbers.
            if number as usize == self.ids_stored {
                columns.new_ids.extend(held.id.0);
                self.ids_stored += 1;
            } else if held.is_replaced {
                columns.replaced.extend(number.to_le_bytes());
                columns.replaced.extend(held.id.0);
            }
            columns.push(held.stored(number));
        }
        if numbers.iter().any(|number| self.trust(*number) != TrustAccount::default()) {
            columns.push_trust(numbers.iter().map(|number| self.trust(*number)));
        }
        columns
    }

    fn block(&self, number: usize) -> AccountColumns {
        let first = number * BLOCK;
        let kept_to = self.next_entry as i64 - 1;
        let mut columns = AccountColumns { kept_to, first_new: first as i64, ..AccountColumns::default() };
        for (held, number) in self.blocks[number].held.iter().zip(first as u32..) {
            columns.new_ids.extend(held.id.0);
            columns.push(held.stored(number));
        }
        columns.push_trust(self.blocks[number].trust.iter().copied());
        columns
    }

    fn trust(&self, number: u32) -> TrustAccount {
        let trust = &self.blocks[number as usize / BLOCK].trust;
        trust.get(number as usize % BLOCK).copied().unwrap_or_default()
    }

    fn set_trust(&mut self, number: u32, account: TrustAccount) {
        let Block { held, trust, .. } = &mut self.blocks[number as usize / BLOCK];
        if trust.is_empty() {
            if account == TrustAccount::default() {
                return;
            }
            trust.reserve_exact(BLOCK);
            trust.resize(held.len(), TrustAccount::default());
        }
        trust[number as usize % BLOCK] = account;
    }

    fn held(&self, number: u32) -> &Held {
        held_in(&self.blocks, number)
    }

    fn held_mut(&mut self, number: u32) -> &mut Held {
        held_in_mut(&mut self.blocks, number)
    }
}

fn held_in(blocks: &[Block], number: u32) -> &Held {
    &blocks[number as usize / BLOCK].held[number as usize % BLOCK]
}

fn held_in_mut(blocks: &mut [Block], number: u32) -> &mut Held {
    &mut blocks[number as usize / BLOCK].held[number as usize % BLOCK]
}

impl Held {
    fn stored(&self, number: u32) -> Stored {
        let Self { balance, history, noted_before, reported, depth, .. } = *self;
        Stored { number, balance, history, noted_before, reported, depth }
    }
}

#[cfg(test)]
mod tests;

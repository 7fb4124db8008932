//! Accounts from their table.

use super::{AccountColumns, Accounts, AccountsKey, BLOCK, held_in, held_in_mut};

impl Accounts {
    /// Takes back a record of the table. They come in the order of their keys. An error says what is damaged.
    pub fn restore(&mut self, key: AccountsKey, columns: &AccountColumns) -> Result<(), String> {
        let (count, kept_to) = (self.len(), columns.kept_to.max(0).unsigned_abs());
        let is_before_journal = self.first_entry == self.next_entry;
        match key {
            AccountsKey::Block(number) if !is_before_journal => {
                return Err(format!("block {number} comes after the journal"));
            }
            AccountsKey::Block(number) if count % BLOCK != 0 || number != (count / BLOCK) as u64 => {
                return Err(format!("block {number} follows {count} accounts"));
            }
            AccountsKey::Block(_) => {
                // There may be no entry that is later.
                self.first_entry = self.first_entry.max(kept_to + 1);
                self.next_entry = self.first_entry;
            }
            AccountsKey::Entry(number) => {
                // The first one is the next after what the block written longest ago holds, or an earlier one.
                let held_by_all = self.held_by_all();
                let fits = if is_before_journal { number <= held_by_all + 1 } else { number == self.next_entry };
                if !fits || !(1..i64::MAX as u64).contains(&number) {
                    let before = if is_before_journal { held_by_all } else { self.next_entry - 1 };
                    return Err(format!("entry {number} of the journal follows {before}"));
                }
                if is_before_journal {
                    self.first_entry = number;
                }
                self.next_entry = number;
            }
        }
        for (id, number) in columns.new_ids()?.zip(columns.first_new.max(0).unsigned_abs()..) {
            if number > self.len() as u64 {
                return Err(format!("the id of page {number} follows that of page {}", self.len()));
            }
            if number == self.len() as u64 {
                self.push(id);
            }
        }
        self.ids_stored = self.len();
        self.restore_replaced(key, columns)?;
        let mut trust = columns.trust()?;
        for stored in columns.accounts()? {
            let trust = trust.next().unwrap_or_default();
            if stored.number as usize >= self.len() {
                return Err(format!("there is an account of page {} and no id", stored.number));
            }
            let block = &self.blocks[stored.number as usize / BLOCK];
            if matches!(key, AccountsKey::Entry(number) if number <= block.kept_to) {
                continue;
            }
            let held = self.held_mut(stored.number);
            (held.balance, held.history, held.noted_before) = (stored.balance, stored.history, stored.noted_before);
            (held.reported, held.depth) = (stored.reported, stored.depth);
            self.set_trust(stored.number, trust);
        }
        match (key, self.blocks.last_mut()) {
            (AccountsKey::Entry(number), _) => self.next_entry = number + 1,
            (AccountsKey::Block(_), Some(block)) => block.kept_to = kept_to,
            (AccountsKey::Block(number), None) => return Err(format!("block {number} has no accounts")),
        }
        Ok(())
    }

    /// Called when all records have been taken back.
    pub fn restored(&mut self) {
        // The block that was written longest ago is next.
        let oldest = self.blocks.iter().enumerate().min_by_key(|(_, block)| block.kept_to);
        self.next_block = oldest.map_or(0, |(number, _)| number);
    }

    /// Gives numbers to the pages that took the places of others.
    fn restore_replaced(&mut self, key: AccountsKey, columns: &AccountColumns) -> Result<(), String> {
        for (number, id) in columns.replaced()? {
            if number as usize >= self.len() {
                return Err(format!("page {number} took the place of none"));
            }
            if matches!(key, AccountsKey::Entry(entry) if entry <= self.blocks[number as usize / BLOCK].kept_to) {
                continue;
            }
            let Self { index, blocks, .. } = self;
            index.remove(&held_in(blocks, number).id, number, |number| held_in(blocks, number).id);
            held_in_mut(blocks, number).id = id;
            index.add(&id, number, |number| held_in(blocks, number).id);
        }
        Ok(())
    }
}

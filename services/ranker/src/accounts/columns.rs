//! Accounts as they are stored: many in one record, one column for each field.

use importance::opic::{KeptTrust, TrustAccount};
use messages::impl_message;
use messages::topics::KeyKind;
use page::PageId;
use serde::{Deserialize, Serialize};
use stream::TableKey;

/// The key of a record of accounts: `b` and the number of a block, or `j` and the number of an entry of the journal, so that
/// all blocks come before all entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountsKey {
    /// All accounts of a block.
    Block(u64),
    /// The accounts that a batch changed.
    Entry(u64),
}

impl TableKey for AccountsKey {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        match self {
            Self::Block(number) => (b'b', *number).to_bytes(),
            Self::Entry(number) => (b'j', *number).to_bytes(),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match <(u8, u64)>::from_bytes(bytes)? {
            (b'b', number) => Some(Self::Block(number)),
            (b'j', number) => Some(Self::Entry(number)),
            _ => None,
        }
    }
}

/// A record of accounts. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccountColumns {
    pub kept_to: i64,
    pub first_new: i64,
    #[serde(with = "serde_bytes")]
    pub new_ids: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub replaced: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub numbers: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub balances: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub histories: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub noted_before: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub reported: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub depths: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub trust_balances: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub trust_histories: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub trust_noted_before: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub trusted: Vec<u8>,
}

impl_message!(AccountColumns, "AccountColumns", include_str!("../../../../schemas/state/AccountColumns.avsc"));

/// One account of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) number: u32,
    pub(crate) balance: f64,
    pub(crate) history: f64,
    pub(crate) noted_before: f32,
    pub(crate) reported: f32,
    pub(crate) depth: u16,
}

impl AccountColumns {
    pub(crate) fn push(&mut self, account: Stored) {
        let Stored { number, balance, history, noted_before, reported, depth } = account;
        self.numbers.extend(number.to_le_bytes());
        self.balances.extend(balance.to_le_bytes());
        self.histories.extend(history.to_le_bytes());
        self.noted_before.extend(noted_before.to_le_bytes());
        self.reported.extend(reported.to_le_bytes());
        self.depths.extend(depth.to_le_bytes());
    }

    /// Adds the trust of the accounts, in the same order.
    pub(crate) fn push_trust(&mut self, accounts: impl Iterator<Item = TrustAccount>) {
        for account in accounts {
            let KeptTrust { balance, history, noted_before, is_trusted } = account.kept();
            self.trust_balances.extend(balance.to_le_bytes());
            self.trust_histories.extend(history.to_le_bytes());
            self.trust_noted_before.extend(noted_before.to_le_bytes());
            self.trusted.push(u8::from(is_trusted));
        }
    }

    /// The trust accounts of this block: none, or one per page.
    ///
    /// # Errors
    /// The columns differ in length.
    pub(crate) fn trust(&self) -> Result<impl Iterator<Item = TrustAccount>, String> {
        let balances = column(&self.trust_balances)?.map(f64::from_le_bytes);
        let histories = column(&self.trust_histories)?.map(f64::from_le_bytes);
        let noted_before = column(&self.trust_noted_before)?.map(f64::from_le_bytes);
        let accounts = self.trusted.len();
        let lengths = [balances.len(), histories.len(), noted_before.len()];
        if lengths != [accounts; 3] || ![0, self.numbers.len() / size_of::<u32>()].contains(&accounts) {
            return Err(format!("its columns of trust have {lengths:?} values for {accounts} accounts"));
        }
        let cash = balances.zip(histories).zip(noted_before).zip(&self.trusted);
        Ok(cash.map(|(((balance, history), noted_before), trusted)| {
            TrustAccount::restore(KeptTrust { balance, history, noted_before, is_trusted: *trusted == 1 })
        }))
    }

    /// Approximate bytes of the record on disk.
    pub(crate) fn bytes(&self) -> usize {
        let wide = [&self.new_ids, &self.replaced, &self.balances, &self.histories];
        let narrow = [&self.numbers, &self.noted_before, &self.reported, &self.depths];
        let trust = [&self.trust_balances, &self.trust_histories, &self.trust_noted_before, &self.trusted];
        wide.into_iter().chain(narrow).chain(trust).map(Vec::len).sum()
    }

    /// The ids of pages that are new.
    ///
    /// # Errors
    /// The column ends within an id.
    pub(crate) fn new_ids(&self) -> Result<impl Iterator<Item = PageId>, String> {
        Ok(column(&self.new_ids)?.map(PageId))
    }

    /// Numbers of accounts that were given up, with the pages that have them now.
    ///
    /// # Errors
    /// The column ends within an id.
    pub(crate) fn replaced(&self) -> Result<impl Iterator<Item = (u32, PageId)>, String> {
        let split = |bytes: [u8; 20]| {
            let (mut number, mut id) = ([0; 4], [0; 16]);
            number.copy_from_slice(&bytes[..4]);
            id.copy_from_slice(&bytes[4..]);
            (u32::from_le_bytes(number), PageId(id))
        };
        Ok(column(&self.replaced)?.map(split))
    }

    /// Its accounts.
    ///
    /// # Errors
    /// The columns differ in length.
    pub(crate) fn accounts(&self) -> Result<impl Iterator<Item = Stored>, String> {
        let numbers = column(&self.numbers)?.map(u32::from_le_bytes);
        let balances = column(&self.balances)?.map(f64::from_le_bytes);
        let histories = column(&self.histories)?.map(f64::from_le_bytes);
        let noted_before = column(&self.noted_before)?.map(f32::from_le_bytes);
        let reported = column(&self.reported)?.map(f32::from_le_bytes);
        let depths = column(&self.depths)?.map(u16::from_le_bytes);
        let lengths = [balances.len(), histories.len(), noted_before.len(), reported.len(), depths.len()];
        if lengths != [numbers.len(); 5] {
            return Err(format!("its columns have {lengths:?} values for {} accounts", numbers.len()));
        }
        let cash = balances.zip(histories).zip(noted_before);
        Ok(numbers.zip(cash).zip(reported.zip(depths)).map(
            |((number, ((balance, history), noted_before)), (reported, depth))| Stored {
                number,
                balance,
                history,
                noted_before,
                reported,
                depth,
            },
        ))
    }
}

/// The values of a column, each of `N` bytes.
fn column<const N: usize>(bytes: &[u8]) -> Result<impl ExactSizeIterator<Item = [u8; N]>, String> {
    let (values, rest) = bytes.as_chunks::<N>();
    match rest.is_empty() {
        true => Ok(values.iter().copied()),
        false => Err(format!("a column of {} bytes does not consist of values of {N}", bytes.len())),
    }
}

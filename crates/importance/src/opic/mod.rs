//! OPIC: importance by the cash that pages hand on while they are crawled (Abiteboul, Preda & Cobena 2003; D3 of the
//! algorithm notes).
//!
//! Every page has cash. A visit of a page notes its cash in the page's history and splits it over the page's links, and
//! one part goes to a *virtual page* that links all pages. The share of a page in all cash ever noted is its importance. No
//! graph is kept: the links are those that the visit has just found.
//!
//! [`Account`] and [`Shard`] are values, for a stage that keeps accounts in a table and sends cash as messages. A page's account
//! lies in one shard; any shard may have cash on its way to it.
//!
//! *The virtual page over several shards.* Each shard has a purse for the part of the virtual page. [`Shard::empty_purse`]
//! splits it over all shards by their numbers of pages, as far as the shard has received them ([`Shard::news`]). A shard
//! that receives such a share raises a running total per page. A page takes its part of what was added to the total
//! since its last visit when it is next looked at. So no pass over all pages is needed, and a page that is new gets
//! nothing of what was shared before it came.
//!
//! *Conservation.* All cash comes from [`Shard::new`]. The sum over [`Account::cash`] of all pages, [`Shard::purse`] of all
//! shards and all messages on their way never changes, but for rounding.
//!
//! *Trust.* Where the virtual page links trusted pages only, the same cash is TrustRank without a graph ([`TrustAccount`]).

mod shard;
mod trusted;

pub use self::shard::{Account, Cash, KeptAccount, KeptShard, PurseShare, Shard, ShardNews, Window};
pub use self::trusted::{KeptTrust, TrustAccount};

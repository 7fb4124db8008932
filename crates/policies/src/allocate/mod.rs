//! Allocations of the literature, beside the optimum of [`revisit::allocate`]: under limits per host, in whole numbers
//! of looks, by groups of pages, for polled pages, and for looks at random times.

mod host_caps;
mod integer;
mod partition;
mod polling;
mod random_looks;

pub use host_caps::{HostAllocation, host_capped};
pub use integer::{Horizon, integer_looks, integer_looks_greedy, staleness};
pub use partition::{Distance, PartitionKey, partitioned};
pub use polling::{AccessTime, PolledPage, PollingOrder, polling_frequencies};
pub use random_looks::{Notified, azar, lambda_crawl_approx, notified, notified_and_not};

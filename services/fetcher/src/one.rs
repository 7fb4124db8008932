//! Fetches one page with the fetcher's rules, outside the loop.

use crate::host::{HostWorker, Turn};
use crate::job::FetchJob;
use crate::network::Network;
use crate::rules::FetcherRules;
use messages::body::Packing;
use messages::{FetchRequest, FetchResult};
use page::{CanonicalUrl, Timestamp};
use politeness::RobotsCacheEntry;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use stream::{Clock, RequestTag};
use tokio::task::LocalSet;

/// Fetches robots.txt and then the page, following redirects across hosts. Returns the result, and the robots.txt of
/// the last host.
pub fn fetch_one(
    request: FetchRequest,
    rules: FetcherRules,
    clock: &Arc<dyn Clock>,
) -> io::Result<(FetchResult, Option<RobotsCacheEntry>)> {
    in_runtime(async move {
        let network = Rc::new(Network::new(Arc::new(rules), clock.clone()));
        let mut hosts = HashMap::new();
        let mut job =
            FetchJob::new(RequestTag { partition: 0, offset: 0, timestamp: Timestamp::MIN, epoch: 0 }, request);
        loop {
            let name = job.at.host_name().to_owned();
            let host = hosts.entry(name.clone());
            let host = host.or_insert_with(|| HostWorker::new(&name, network.clone(), clock.clone()));
            match host.work(Box::new(job)).await {
                Turn::Done(done) => {
                    let robots = network.robots.entry(done.result.look.answered_by());
                    return (done.packed(Packing::None), robots);
                }
                Turn::HandOver { job: next, .. } => {
                    host.rest();
                    job = *next;
                }
                Turn::Wait { .. } => {
                    unreachable!("without owners of sites and a journal of crashes, no job waits")
                }
                Turn::Drained => unreachable!("only a pool is drained"),
            }
        }
    })
}

/// Fetches the robots.txt of a URL's authority. Without a response, also returns the reason.
pub fn fetch_robots(
    url: &CanonicalUrl,
    rules: &FetcherRules,
    clock: &Arc<dyn Clock>,
) -> io::Result<(RobotsCacheEntry, Option<String>)> {
    in_runtime(async move {
        let network = Network::new(Arc::new(rules.clone()), clock.clone());
        HostWorker::new(url.host_name(), Rc::new(network), clock.clone()).robots(url).await
    })
}

fn in_runtime<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(LocalSet::new().block_on(&runtime, work))
}

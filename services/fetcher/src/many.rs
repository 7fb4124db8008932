//! Fetches many pages with the fetcher's rules, outside the loop.

use crate::job::{Answer, FetchJob};
use crate::pool::FetchPool;
use crate::rules::FetcherRules;
use bytes::Bytes;
use messages::{FetchRequest, FetchResult};
use page::Timestamp;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use stream::{Clock, RequestTag};

/// All requests belong to one assignment, which is never withdrawn.
const EPOCH: u64 = 1;

/// The fetcher's network side on its own: a worker per host, with the robots.txt, delays and limits of the rules.
/// Dropping it abandons the requests under way.
pub struct PageFetcher {
    pool: FetchPool,
    submitted: u64,
    answered: u64,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// The result as in the loop, without the body.
    pub result: FetchResult,
    /// The unpacked page. Absent without a body, or if its bytes equal the copy that the request described.
    pub body: Option<Bytes>,
}

impl PageFetcher {
    /// Starts the network thread.
    pub fn start(rules: FetcherRules, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let pool = FetchPool::start(Arc::new(rules), clock, None)?;
        pool.begin(EPOCH);
        Ok(Self { pool, submitted: 0, answered: 0 })
    }

    /// Requests a page. Requests to one host are answered in order, those to different hosts in any order.
    pub fn submit(&mut self, request: FetchRequest) {
        let tag = RequestTag { partition: 0, offset: self.submitted, timestamp: Timestamp::MIN, epoch: EPOCH };
        self.submitted += 1;
        self.pool.submit(FetchJob::new(tag, request));
    }

    /// Number of unanswered requests.
    pub fn in_flight(&self) -> u64 {
        self.submitted - self.answered
    }

    /// Waits for the next answer. Returns `None` when every request is answered.
    pub fn next_answer(&mut self) -> Option<FetchedPage> {
        if self.in_flight() == 0 {
            return None;
        }
        let Answer::Done(done) = self.pool.answers.receive(Duration::MAX)? else {
            unreachable!("without owners of sites, redirects are followed here")
        };
        self.answered += 1;
        Some(FetchedPage { result: done.result, body: done.body })
    }
}

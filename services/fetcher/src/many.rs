//! Many pages, as the loop would fetch them, without a loop.

use crate::pool::{FetchPool, Job};
use crate::rules::Rules;
use bytes::Bytes;
use messages::{FetchRequest, FetchResult};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use stream::{Clock, Tag};

/// All requests are of one assignment, which is never withdrawn.
const EPOCH: u64 = 1;

/// The network side of the fetcher by itself: a worker per host, with robots.txt, delays and limits as the rules say.
/// Dropping it gives up what is under way.
pub struct PageFetcher {
    pool: FetchPool,
    submitted: u64,
    answered: u64,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The result as the loop has it, but for the body.
    pub result: FetchResult,
    /// The page, unpacked; absent when there is none, or when the request spoke of a copy with the same bytes.
    pub body: Option<Bytes>,
}

impl PageFetcher {
    /// Starts the thread of the network.
    pub fn start(rules: Rules, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let pool = FetchPool::start(Arc::new(rules), clock)?;
        pool.begin(EPOCH);
        Ok(Self { pool, submitted: 0, answered: 0 })
    }

    /// Asks for a page. Requests to one host are answered one after the other, those to different hosts in any order.
    pub fn submit(&mut self, request: FetchRequest) {
        let tag = Tag { partition: 0, offset: self.submitted, epoch: EPOCH };
        self.submitted += 1;
        self.pool.submit(Job::new(tag, request));
    }

    /// Requests not answered yet.
    pub fn in_flight(&self) -> u64 {
        self.submitted - self.answered
    }

    /// Waits for the next answer; nothing when every request is answered.
    pub fn next_answer(&mut self) -> Option<Fetched> {
        if self.in_flight() == 0 {
            return None;
        }
        let done = self.pool.answers.receive(Duration::MAX)?;
        self.answered += 1;
        Some(Fetched { result: done.result, body: done.body })
    }
}

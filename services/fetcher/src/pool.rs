//! All hosts at work, on one thread with tokio: the only place where things happen at the same time.

use crate::host::{HostWorker, Turn, authority};
use crate::network::Network;
use crate::rules::Rules;
use messages::{Exchange, FetchRequest, FetchResult, Hop};
use page::{CanonicalUrl, Host};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use stream::Clock;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::LocalSet;

/// A host's connection is closed when nothing was wanted from it for so long (real time), so that others get its place.
const CONNECTION_REST: Duration = Duration::from_secs(2);
/// A host is forgotten, its robots.txt included, when nothing was wanted from it for so long (real time).
const HOST_FORGOTTEN: Duration = Duration::from_secs(600);

/// Which record of which assignment a job came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) partition: u32,
    pub(crate) offset: u64,
    /// Counts assignments, so that an answer to a request of an earlier one is not taken for an answer to its successor.
    pub(crate) epoch: u64,
}

/// A request on its way.
pub(crate) struct Job {
    pub(crate) tag: Tag,
    pub(crate) request: FetchRequest,
    /// Where redirects have led so far.
    pub(crate) at: CanonicalUrl,
    pub(crate) hops: Vec<Hop>,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) wire_bytes: u64,
}

impl Job {
    pub(crate) fn new(tag: Tag, request: FetchRequest) -> Self {
        Self { tag, at: request.url.clone(), request, hops: Vec::new(), exchanges: Vec::new(), wire_bytes: 0 }
    }
}

/// An answered request.
pub(crate) struct Done {
    pub(crate) tag: Tag,
    pub(crate) result: FetchResult,
}

pub(crate) type Submit = mpsc::UnboundedSender<Job>;

/// The network side of the fetcher. Dropping it stops the workers; requests under way are given up.
pub(crate) struct FetchPool {
    submit: Option<Submit>,
    pub(crate) done: std_mpsc::Receiver<Box<Done>>,
    hosts: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl FetchPool {
    pub(crate) fn start(rules: Arc<Rules>, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (submit, jobs) = mpsc::unbounded_channel();
        let (answer, done) = std_mpsc::channel();
        let hosts = Arc::new(AtomicUsize::new(0));
        // Weak, so that the workers end when the pool is dropped.
        let (resubmit, host_count) = (submit.downgrade(), hosts.clone());
        let thread = std::thread::Builder::new().name("fetch-pool".to_owned()).spawn(move || {
            let workers = Workers {
                connections: Arc::new(Semaphore::new(rules.fetch.connections.min(Semaphore::MAX_PERMITS))),
                network: Rc::new(Network::new(rules)),
                clock,
                submit: resubmit,
                answer,
                queues: RefCell::new(HashMap::new()),
                hosts: host_count,
            };
            LocalSet::new().block_on(&runtime, dispatch(Rc::new(workers), jobs));
        })?;
        Ok(Self { submit: Some(submit), done, hosts, thread: Some(thread) })
    }

    pub(crate) fn submit(&self, job: Job) {
        let submit = self.submit.as_ref().expect("only drop takes it");
        assert!(submit.send(job).is_ok(), "the pool's thread lives as long as the pool");
    }

    /// Hosts with a worker.
    pub(crate) fn hosts(&self) -> usize {
        self.hosts.load(Ordering::Relaxed)
    }
}

impl Drop for FetchPool {
    fn drop(&mut self) {
        self.submit = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Workers {
    network: Rc<Network>,
    clock: Arc<dyn Clock>,
    connections: Arc<Semaphore>,
    submit: mpsc::WeakUnboundedSender<Job>,
    answer: std_mpsc::Sender<Box<Done>>,
    queues: RefCell<HashMap<(bool, Host), Submit>>,
    hosts: Arc<AtomicUsize>,
}

/// Gives each job to its host's worker, until the pool is dropped.
async fn dispatch(workers: Rc<Workers>, mut jobs: mpsc::UnboundedReceiver<Job>) {
    while let Some(job) = jobs.recv().await {
        let key = authority(&job.at);
        let mut queues = workers.queues.borrow_mut();
        let queue = queues.entry(key.clone()).or_insert_with(|| {
            let (queue, jobs) = mpsc::unbounded_channel();
            tokio::task::spawn_local(serve(workers.clone(), key, jobs));
            workers.hosts.fetch_add(1, Ordering::Relaxed);
            queue
        });
        // A worker leaves the map before it ends, on this same thread, so its queue is open here.
        let _ = queue.send(job);
    }
}

/// One host's worker: one job at a time.
async fn serve(workers: Rc<Workers>, key: (bool, Host), mut jobs: mpsc::UnboundedReceiver<Job>) {
    let mut host = HostWorker::new(workers.network.clone(), workers.clock.clone());
    let mut place = None;
    loop {
        let wait = if place.is_some() { CONNECTION_REST } else { HOST_FORGOTTEN };
        let job = match tokio::time::timeout(wait, jobs.recv()).await {
            Ok(Some(job)) => job,
            Ok(None) => return,
            Err(_) if place.take().is_some() => {
                host.rest();
                continue;
            }
            Err(_) => {
                workers.queues.borrow_mut().remove(&key);
                workers.hosts.fetch_sub(1, Ordering::Relaxed);
                // Nothing can have come in between: both happen on this thread without a pause.
                if let Ok(job) = jobs.try_recv() {
                    resubmit(&workers, job);
                }
                return;
            }
        };
        if place.is_none() {
            let free = workers.connections.clone().acquire_owned().await;
            place = Some(free.expect("the semaphore is never closed"));
        }
        match host.work(job).await {
            Turn::Done(done) => {
                if workers.answer.send(done).is_err() {
                    return;
                }
            }
            Turn::HandOver(job) => resubmit(&workers, *job),
        }
    }
}

fn resubmit(workers: &Workers, job: Job) {
    if let Some(submit) = workers.submit.upgrade() {
        let _ = submit.send(job);
    }
}

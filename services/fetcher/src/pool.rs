//! All hosts at work, on one thread with tokio: the only place where things happen at the same time.

use crate::answers::{self, Receiver, Sender};
use crate::epochs::Epochs;
use crate::gate::Gate;
use crate::host::{HostWorker, Turn, authority};
use crate::network::Network;
use crate::rules::Rules;
use bytes::Bytes;
use messages::{Exchange, FetchRequest, FetchResult, Hop, body};
use page::{CanonicalUrl, Host};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::pin::pin;
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
    /// The result, its body still beside it: packing is for those who send it on, and not for the network's thread.
    pub(crate) result: FetchResult,
    /// The page, unless it is the copy that the requester has.
    pub(crate) body: Option<Bytes>,
}

impl Done {
    /// The result as it travels.
    pub(crate) fn packed(self) -> FetchResult {
        FetchResult { body: self.body.map(|body| body::compress(&body)), ..self.result }
    }
}

/// What the pool is told.
enum Order {
    Fetch(Box<Job>),
    /// Jobs of this epoch will come.
    Begin(u64),
    /// Jobs of these epochs are another fetcher's, or come again: none may be under way any longer when this is answered.
    Withdraw(Vec<u64>, std_mpsc::Sender<()>),
}

type Submit = mpsc::UnboundedSender<Order>;
/// What waits for a host's worker.
type Queue = mpsc::UnboundedSender<Box<Job>>;

/// The network side of the fetcher. Dropping it stops the workers; requests under way are given up.
pub(crate) struct FetchPool {
    submit: Option<Submit>,
    pub(crate) answers: Receiver<Box<Done>>,
    hosts: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl FetchPool {
    pub(crate) fn start(rules: Arc<Rules>, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let (answer, hand_over, answers) = answers::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || hand_over.now())
            .build()?;
        let (submit, orders) = mpsc::unbounded_channel();
        let hosts = Arc::new(AtomicUsize::new(0));
        // Weak, so that the workers end when the pool is dropped.
        let (resubmit, host_count) = (submit.downgrade(), hosts.clone());
        let thread = std::thread::Builder::new().name("fetch-pool".to_owned()).spawn(move || {
            let workers = Workers {
                connections: Arc::new(Semaphore::new(rules.fetch.connections.min(Semaphore::MAX_PERMITS))),
                network: Rc::new(Network::new(rules, clock.clone())),
                clock,
                submit: resubmit,
                answer,
                queues: RefCell::new(HashMap::new()),
                hosts: host_count,
                epochs: Epochs::default(),
            };
            LocalSet::new().block_on(&runtime, dispatch(Rc::new(workers), orders));
        })?;
        Ok(Self { submit: Some(submit), answers, hosts, thread: Some(thread) })
    }

    pub(crate) fn submit(&self, job: Job) {
        self.order(Order::Fetch(Box::new(job)));
    }

    /// Lets jobs of an epoch be worked on.
    pub(crate) fn begin(&self, epoch: u64) {
        self.order(Order::Begin(epoch));
    }

    /// Gives up all jobs of some epochs, and waits until no request of theirs is under way.
    pub(crate) fn withdraw(&self, epochs: Vec<u64>) {
        let (done, is_done) = std_mpsc::channel();
        self.order(Order::Withdraw(epochs, done));
        let _ = is_done.recv();
    }

    fn order(&self, order: Order) {
        let submit = self.submit.as_ref().expect("only drop takes it");
        assert!(submit.send(order).is_ok(), "the pool's thread lives as long as the pool");
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
    submit: mpsc::WeakUnboundedSender<Order>,
    answer: Sender<Box<Done>>,
    queues: RefCell<HashMap<(bool, Host), Queue>>,
    hosts: Arc<AtomicUsize>,
    epochs: Epochs,
}

/// Gives each job to its host's worker, until the pool is dropped.
async fn dispatch(workers: Rc<Workers>, mut orders: mpsc::UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        let job = match order {
            Order::Fetch(job) => job,
            Order::Begin(epoch) => {
                workers.epochs.begin(epoch);
                continue;
            }
            Order::Withdraw(epochs, done) => {
                workers.epochs.withdraw(&epochs).await;
                let _ = done.send(());
                continue;
            }
        };
        let key = authority(&job.at);
        let mut queues = workers.queues.borrow_mut();
        // A worker leaves the map before it ends, on this same thread, so its queue is open here.
        if let Some(queue) = queues.get(&key) {
            let _ = queue.send(job);
            continue;
        }
        let (queue, jobs) = mpsc::unbounded_channel();
        let _ = queue.send(job);
        queues.insert(key.clone(), queue);
        workers.hosts.fetch_add(1, Ordering::Relaxed);
        tokio::task::spawn_local(serve(workers.clone(), key, jobs));
    }
}

/// One host's worker: one job at a time.
async fn serve(workers: Rc<Workers>, key: (bool, Host), mut jobs: mpsc::UnboundedReceiver<Box<Job>>) {
    let gate = Gate::after_others(workers.clock.clone());
    let mut host = HostWorker::new(workers.network.clone(), workers.clock.clone(), gate);
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
        let epoch = job.tag.epoch;
        // Pinned here, because a future of this size is dear to move.
        let turn = workers.epochs.unless_withdrawn(epoch, pin!(host.work(job))).await;
        match turn {
            Some(Turn::Done(done)) => workers.answer.send(done),
            Some(Turn::HandOver(job)) => resubmit(&workers, job),
            None => host.break_off(),
        }
    }
}

fn resubmit(workers: &Workers, job: Box<Job>) {
    if let Some(submit) = workers.submit.upgrade() {
        let _ = submit.send(Order::Fetch(job));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::Timestamp;
    use settings::{Layers, Settings};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use stream::testing::ManualClock;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn pool(port: u16) -> FetchPool {
        let overrides = [
            ("fetch.resolve".to_owned(), format!("*.test=127.0.0.1:{port}")),
            ("politeness.crawl_delay".to_owned(), "0s".to_owned()),
        ];
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        let rules = Arc::new(Rules::new(&settings).unwrap());
        FetchPool::start(rules, ManualClock::at(Timestamp::from_secs(1_000))).unwrap()
    }

    fn job(epoch: u64, path: &str) -> Job {
        let url = CanonicalUrl::parse(&format!("http://a.test{path}")).unwrap();
        let request = FetchRequest::first(url, Timestamp::from_secs(0));
        Job::new(Tag { partition: 0, offset: epoch, epoch }, request)
    }

    /// The next request on a connection, by its first line; empty when the connection was closed.
    fn request(stream: &mut TcpStream) -> String {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = [0; 4_096];
        let length = stream.read(&mut head).unwrap_or(0);
        String::from_utf8_lossy(&head[..length]).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_is_withdrawn_is_broken_off_and_what_waited_behind_it_is_never_asked_for() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut pool = pool(server.local_addr().unwrap().port());
        pool.begin(1);
        pool.submit(job(1, "/first"));
        pool.submit(job(1, "/second"));
        let (mut stream, _) = server.accept().unwrap();
        assert!(request(&mut stream).contains("/robots.txt"));
        stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").unwrap();
        assert!(request(&mut stream).contains("/first"));
        pool.withdraw(vec![1]);
        assert_eq!(request(&mut stream), "", "the request is still under way");
        pool.submit(job(1, "/late"));
        pool.begin(2);
        pool.submit(job(2, "/third"));
        let (mut stream, _) = server.accept().unwrap();
        assert!(request(&mut stream).contains("/third"));
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").unwrap();
        let done = pool.answers.receive(PATIENCE).unwrap();
        assert_eq!((done.tag.epoch, done.result.body_length), (2, 2));
    }
}

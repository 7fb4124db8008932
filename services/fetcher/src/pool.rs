//! Runs all host workers on one tokio thread: the only concurrency in the fetcher.

use crate::answers::{self, Receiver, Sender};
use crate::crashes::CrashJournal;
use crate::epochs::Epochs;
use crate::host::{HostWorker, Turn};
use crate::job::{Answer, FetchJob};
use crate::memory::BodyMemory;
use crate::network::Network;
use crate::robots::RobotsBook;
use crate::rules::FetcherRules;
use crate::traffic::Traffic;
use messages::HostStop;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use stream::Clock;
use tokio::sync::mpsc;
use tokio::task::LocalSet;

/// Idle time (real) after which a host's connection is closed, so that others get its slot.
pub(crate) const CONNECTION_REST: Duration = Duration::from_secs(2);
/// Idle time (real) after which a host's worker ends.
const HOST_FORGOTTEN: Duration = Duration::from_secs(600);

/// A command to the pool's thread.
enum Order {
    Fetch(Box<FetchJob>),
    /// Jobs of this epoch will follow.
    Begin(u64),
    /// The host is to be asked for nothing, or may be again.
    Stop(HostStop),
    /// Jobs of these epochs belong to another fetcher now, or will come again. Answered when none of them is under way.
    Withdraw(Vec<u64>, std_mpsc::Sender<()>),
}

type Submit = mpsc::UnboundedSender<Order>;
/// The job queue of a host's worker.
type Queue = mpsc::UnboundedSender<Box<FetchJob>>;

/// The network side of the fetcher. Dropping it stops the workers and abandons the requests under way.
pub(crate) struct FetchPool {
    submit: Option<Submit>,
    pub(crate) answers: Receiver<Answer>,
    hosts: Arc<AtomicUsize>,
    traffic: Arc<Traffic>,
    memory: BodyMemory,
    pub(crate) robots: Arc<RobotsBook>,
    pub(crate) clock: Arc<dyn Clock>,
    thread: Option<JoinHandle<()>>,
}

impl FetchPool {
    /// Starts the network thread. `crashes` is where the requests under way are noted, if anywhere.
    pub(crate) fn start(
        rules: Arc<FetcherRules>,
        clock: Arc<dyn Clock>,
        crashes: Option<Arc<CrashJournal>>,
    ) -> io::Result<Self> {
        let (answer, answers) = answers::channel();
        let sender = answer.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || sender.hand_over())
            .build()?;
        let (submit, orders) = mpsc::unbounded_channel();
        let hosts = Arc::new(AtomicUsize::new(0));
        let traffic = Arc::new(Traffic::default());
        let robots = Arc::new(RobotsBook::default());
        let memory = BodyMemory::of(rules.fetch.memory);
        let memory_of_thread = memory.clone();
        let (traffic_of_thread, clock_of_thread, robots_of_thread) = (traffic.clone(), clock.clone(), robots.clone());
        // Weak, so that the workers end when the pool is dropped.
        let (resubmit, host_count) = (submit.downgrade(), hosts.clone());
        let thread = std::thread::Builder::new().name("fetch-pool".to_owned()).spawn(move || {
            let (clock, traffic) = (clock_of_thread, traffic_of_thread);
            let workers = Workers {
                network: Rc::new(Network {
                    traffic,
                    robots: robots_of_thread,
                    memory: memory_of_thread,
                    crashes,
                    ..Network::new(rules, clock.clone())
                }),
                clock,
                submit: resubmit,
                answer,
                queues: RefCell::new(HashMap::new()),
                hosts: host_count,
                epochs: Epochs::default(),
            };
            LocalSet::new().block_on(&runtime, dispatch(Rc::new(workers), orders));
        })?;
        Ok(Self { submit: Some(submit), answers, hosts, traffic, memory, robots, clock, thread: Some(thread) })
    }

    /// Accepts a job. Drops it if nothing is sent any more.
    pub(crate) fn submit(&self, mut job: FetchJob) {
        if !self.traffic.drops_jobs() {
            job.hold_recorded(&self.memory);
            job.waiting = Some(self.traffic.enter(self.clock.monotonic()));
            self.order(Order::Fetch(Box::new(job)));
        }
    }

    /// Starts an epoch. Only jobs of live epochs are worked on.
    pub(crate) fn begin(&self, epoch: u64) {
        self.traffic.resume();
        self.order(Order::Begin(epoch));
    }

    /// Sends nothing more to a host, or goes on. Requests on the wire are completed.
    pub(crate) fn stop_host(&self, stop: HostStop) {
        self.order(Order::Stop(stop));
    }

    /// Cancels all jobs of these epochs, and waits until none is under way.
    pub(crate) fn withdraw(&self, epochs: Vec<u64>) {
        let (done, is_done) = std_mpsc::channel();
        self.order(Order::Withdraw(epochs, done));
        let _ = is_done.recv();
    }

    /// Stops sending until an epoch begins. Waiting jobs are dropped without an answer. Requests in flight are completed and
    /// answered, unless they wait for memory, but further redirects are not followed.
    pub(crate) fn hold_back(&self) {
        self.traffic.hold_back();
    }

    /// Stops sending. Waiting jobs are dropped without an answer. Requests [in flight](Self::on_the_wire) are completed
    /// and answered, unless they would wait for memory, but further redirects are not followed. Once none is in flight, all remaining answers can be
    /// received.
    pub(crate) fn drain(&self) {
        self.traffic.drain();
        self.memory.drain();
    }

    /// Jobs waiting for their host's turn, or for a free connection slot.
    pub(crate) fn waiting_for_hosts(&self) -> usize {
        self.traffic.waiting()
    }

    /// How long the oldest waiting job has waited. `None` when none waits.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        self.traffic.waiting_since().map(|since| self.clock.monotonic().saturating_sub(since))
    }

    /// Requests in flight, including those for robots.txt, until their answer can be received.
    pub(crate) fn on_the_wire(&self) -> usize {
        self.traffic.on_the_wire()
    }

    fn order(&self, order: Order) {
        let submit = self.submit.as_ref().expect("only drop takes it");
        assert!(submit.send(order).is_ok(), "the pool's thread lives as long as the pool");
    }

    /// Number of hosts with a worker.
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
    submit: mpsc::WeakUnboundedSender<Order>,
    answer: Arc<Sender<Answer>>,
    /// By host name.
    queues: RefCell<HashMap<String, Queue>>,
    hosts: Arc<AtomicUsize>,
    epochs: Epochs,
}

/// Passes each job to its host's worker, until the pool is dropped.
async fn dispatch(workers: Rc<Workers>, mut orders: mpsc::UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        let job = match order {
            Order::Fetch(job) => job,
            Order::Begin(epoch) => {
                workers.epochs.begin(epoch);
                workers.network.gates.after_others();
                continue;
            }
            Order::Stop(HostStop { host, stopped, .. }) => {
                workers.network.stop(host.name().as_str(), stopped);
                continue;
            }
            Order::Withdraw(epochs, done) => {
                workers.epochs.withdraw(&epochs).await;
                let _ = done.send(());
                continue;
            }
        };
        let mut queues = workers.queues.borrow_mut();
        // A worker leaves the map before it ends, on this same thread, so its queue is still open here.
        if let Some(queue) = queues.get(job.at.host_name()) {
            let _ = queue.send(job);
            continue;
        }
        let name = job.at.host_name().to_owned();
        let (queue, jobs) = mpsc::unbounded_channel();
        let _ = queue.send(job);
        queues.insert(name.clone(), queue);
        workers.hosts.fetch_add(1, Ordering::Relaxed);
        tokio::task::spawn_local(serve(workers.clone(), name, jobs));
    }
}

/// Runs one host's worker, one job at a time.
async fn serve(workers: Rc<Workers>, name: String, mut jobs: mpsc::UnboundedReceiver<Box<FetchJob>>) {
    let mut host = HostWorker::new(&name, workers.network.clone(), workers.clock.clone());
    // Jobs that wait while others of the host go on.
    let mut waiting: VecDeque<Box<FetchJob>> = VecDeque::new();
    loop {
        let rest = if host.has_place() { CONNECTION_REST } else { HOST_FORGOTTEN };
        let left = waiting.front().map(|job| host.patience(job));
        let next = match left {
            Some(None) => Ok(waiting.pop_front()),
            Some(Some(left)) => tokio::time::timeout(left.min(rest), jobs.recv()).await,
            None => tokio::time::timeout(rest, jobs.recv()).await,
        };
        let job = match next {
            Ok(Some(job)) => job,
            Ok(None) => return,
            Err(_) if !waiting.is_empty() => {
                host.rest();
                continue;
            }
            Err(_) if host.has_place() => {
                host.rest();
                continue;
            }
            Err(_) => {
                workers.queues.borrow_mut().remove(&name);
                workers.hosts.fetch_sub(1, Ordering::Relaxed);
                // No job can have been queued since: the timeout and this removal run on this thread without a yield.
                if let Ok(job) = jobs.try_recv() {
                    resubmit(&workers, job);
                }
                return;
            }
        };
        let epoch = job.tag.epoch;
        // Pinned here because a future of this size is expensive to move.
        let turn = workers.epochs.unless_withdrawn(epoch, pin!(host.work(job))).await;
        match turn {
            Some(Turn::Done(done)) => workers.answer.send(Answer::Done(done)),
            Some(Turn::HandOver { job, leaves_site }) if leaves_site && workers.network.rules.sites_have_owners => {
                workers.answer.send(job.redirected(workers.clock.now()));
            }
            Some(Turn::HandOver { job, .. }) => resubmit(&workers, job),
            Some(Turn::Wait { job }) => waiting.push_back(job),
            Some(Turn::Drained) => {}
            None => host.break_off(),
        }
        // Only after the send: once nothing is in flight, every answer can be received.
        host.settled();
    }
}

fn resubmit(workers: &Workers, job: Box<FetchJob>) {
    if let Some(submit) = workers.submit.upgrade() {
        let _ = submit.send(Order::Fetch(job));
    }
}

#[cfg(test)]
mod tests;

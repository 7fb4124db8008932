//! Runs stages on their own threads until a stop signal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stream::Stage;

/// Interval between checks of the stop signal.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A stop flag. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// A signal set by Ctrl-C (SIGINT) and SIGTERM. A second one ends the process at once.
    pub fn on_signals() -> io::Result<Self> {
        let signal = Self::default();
        for number in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(number, 130, signal.0.clone())?;
            signal_hook::flag::register(number, signal.0.clone())?;
        }
        Ok(signal)
    }

    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Calls `work` on a thread of its own after `wait`, and again and again until the stop. Each call returns the time from
    /// its begin to the next.
    pub(crate) fn repeat(
        &self,
        name: &str,
        wait: Duration,
        mut work: impl FnMut() -> Duration + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let stop = self.clone();
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            let (mut begun, mut wait) = (Instant::now(), wait);
            while !stop.is_stopped() {
                if begun.elapsed() >= wait {
                    begun = Instant::now();
                    wait = work();
                }
                std::thread::sleep(LOOK_EVERY);
            }
        })
    }
}

/// Threads other than stages: HTTP, retention. Dropping it sets the stop signal and waits for them, so that their
/// resources (above all a database) are closed before the process ends: C++ destructors must not run beside running
/// threads.
pub struct Background {
    stop: StopSignal,
    threads: Vec<JoinHandle<()>>,
}

impl Background {
    pub fn new(stop: &StopSignal) -> Self {
        Self { stop: stop.clone(), threads: Vec::new() }
    }

    /// Adds a thread that ends on the stop signal.
    pub fn add(&mut self, thread: JoinHandle<()>) {
        self.threads.push(thread);
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The threads of running stages.
pub struct StageThreads {
    threads: Vec<JoinHandle<()>>,
    failure: Arc<Mutex<Option<String>>>,
    stop: StopSignal,
}

impl StageThreads {
    /// Runs each stage on its own thread until `stop`, or until one of them cannot go on, which stops the others too.
    /// At the end each stage has `patience` to finish its work in flight.
    pub fn start(
        stages: Vec<(&'static str, Box<dyn Stage>)>,
        patience: Duration,
        stop: &StopSignal,
    ) -> io::Result<Self> {
        let failure = Arc::new(Mutex::new(None));
        let mut threads = Vec::new();
        for (name, mut stage) in stages {
            let (stop, failure) = (stop.clone(), failure.clone());
            threads.push(std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                let _guard = StopOnPanic { stop: stop.clone(), failure: failure.clone(), name };
                while !stop.is_stopped() {
                    if let Err(stopped) = stage.step() {
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(stopped.to_string());
                        stop.stop();
                    }
                }
                stage.leave(patience);
            })?);
        }
        Ok(Self { threads, failure, stop: stop.clone() })
    }

    /// Stops the stages, waits until each has finished its step and left its group, and returns why one could not go
    /// on.
    pub fn finish(mut self) -> Result<(), String> {
        self.end();
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    fn end(&mut self) {
        self.stop.stop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert("a stage panicked; please report its message".to_owned());
            }
        }
    }
}

/// A stage that panics stops the process: the others would go on filling a log without a reader.
struct StopOnPanic {
    stop: StopSignal,
    failure: Arc<Mutex<Option<String>>>,
    name: &'static str,
}

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| format!("stage {} panicked; please report its message", self.name));
            self.stop.stop();
        }
    }
}

/// Stages hold databases: like [`Background`], they must end before the process does.
impl Drop for StageThreads {
    fn drop(&mut self) {
        self.end();
    }
}

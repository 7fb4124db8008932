//! Runs simulations with a progress line on stderr and a stop on Ctrl-C.

use daemon::StopSignal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use recrawl::CommandFailure;
use simulate::SimulationError;
use simulate::parallel::in_order;
use simulate::study::StudyProgress;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Resolution of the progress bar.
const PARTS: f64 = 1000.0;
/// Least time between two progress lines where no bar can be drawn.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows progress and handles Ctrl-C. Shared by many threads.
pub(super) struct Watch {
    stop: StopSignal,
    bar: ProgressBar,
    reported: Mutex<(u64, Instant)>,
}

impl Watch {
    /// Starts watching. From now on Ctrl-C stops the simulations.
    pub(super) fn start() -> Result<Self, CommandFailure> {
        let bar = ProgressBar::with_draw_target(Some(PARTS as u64), ProgressDrawTarget::stderr_with_hz(4));
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  {msg}") {
            bar.set_style(style);
        }
        Ok(Self { stop: StopSignal::on_signals()?, bar, reported: Mutex::new((0, Instant::now())) })
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Reports the share done, and returns whether to continue.
    pub(super) fn report(&self, done: f64, message: impl FnOnce() -> String) -> ControlFlow<()> {
        let parts = (done.clamp(0.0, 1.0) * PARTS) as u64;
        if !self.bar.is_hidden() {
            if parts != self.bar.position() {
                self.bar.set_message(message());
                self.bar.set_position(parts);
            }
        } else {
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            if parts >= reported.0 + PARTS as u64 / 10 && reported.1.elapsed() >= LINE_EVERY {
                *reported = (parts, Instant::now());
                eprintln!("{:>3} %  {}", parts / (PARTS as u64 / 100), message());
            }
        }
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Removes the progress bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Reports the progress of one job.
pub(super) type Announce<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// Runs every job on `threads` threads. Returns the results in the order of the jobs, and the number of jobs that
/// Ctrl-C prevented. If jobs fail, returns the error of the first.
pub(super) fn run<T: Send>(
    names: &[String],
    threads: usize,
    job: impl Fn(usize, Announce<'_>) -> Result<T, SimulationError> + Sync,
) -> Result<(Vec<T>, usize), CommandFailure> {
    let watch = Watch::start()?;
    let parts: Vec<AtomicU64> = names.iter().map(|_| AtomicU64::new(0)).collect();
    let finished = AtomicUsize::new(0);
    let numbers: Vec<usize> = (0..names.len()).collect();
    let results = in_order(&numbers, threads, |&index| {
        if watch.is_stopped() {
            return Ok(None);
        }
        let mut report = |done: f64| {
            parts[index].store((done.clamp(0.0, 1.0) * PARTS) as u64, Ordering::Relaxed);
            let sum: u64 = parts.iter().map(|parts| parts.load(Ordering::Relaxed)).sum();
            watch.report(sum as f64 / PARTS / names.len() as f64, || {
                format!("{} of {} done, now {}", finished.load(Ordering::Relaxed), names.len(), names[index])
            })
        };
        match job(index, &mut report) {
            Ok(result) => {
                let _ = report(1.0);
                finished.fetch_add(1, Ordering::Relaxed);
                Ok(Some(result))
            }
            Err(SimulationError::Stopped { .. }) => Ok(None),
            Err(error) => Err(CommandFailure::Input(format!("{}: {error}", names[index]))),
        }
    });
    watch.finish();
    let results: Vec<T> = results?.into_iter().flatten().collect();
    let stopped = names.len() - results.len();
    Ok((results, stopped))
}

/// Runs a study with progress. Fails if Ctrl-C stopped it.
pub(super) fn watched<T>(
    study: impl FnOnce(&(dyn Fn(StudyProgress) -> ControlFlow<()> + Sync)) -> Result<T, SimulationError>,
) -> Result<T, CommandFailure> {
    let watch = Watch::start()?;
    let last = Mutex::new((0, 0));
    let result = study(&|progress: StudyProgress| {
        *last.lock().unwrap_or_else(PoisonError::into_inner) = (progress.runs_done, progress.runs);
        watch.report(progress.done / progress.runs.max(1) as f64, || {
            format!("{} of {} simulations done", progress.runs_done, progress.runs)
        })
    });
    watch.finish();
    result.map_err(|error| match error {
        SimulationError::Stopped { .. } => {
            let (done, all) = *last.lock().unwrap_or_else(PoisonError::into_inner);
            super::stopped(done, all)
        }
        other => super::input(other),
    })
}

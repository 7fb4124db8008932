//! Runs independent jobs on threads, with results in the order of the jobs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs every job on this many threads (at least one). Returns the results in the order of the jobs, whatever the
/// number of threads. After a failure no further job starts; of several failures, that of the first job is returned.
pub fn in_order<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(jobs.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { break };
                    let result = work(job);
                    if result.is_err() {
                        next.store(jobs.len(), Ordering::Relaxed);
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..100).collect();
        for threads in [0, 1, 4, 1000] {
            let squares = in_order(&jobs, threads, |job| Ok::<u64, ()>(job * job)).expect("no job fails");
            assert_eq!(squares, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
        }
        assert_eq!(in_order(&[] as &[u64], 2, |_| Ok::<(), ()>(())), Ok(vec![]));
    }

    #[test]
    fn a_failure_ends_it() {
        let jobs: Vec<u64> = (0..100).collect();
        assert_eq!(in_order(&jobs, 1, |&job| if job == 30 { Err(job) } else { Ok(()) }), Err(30));
        assert!(in_order(&jobs, 4, |&job| if job >= 30 { Err(job) } else { Ok(()) }).is_err());
    }
}

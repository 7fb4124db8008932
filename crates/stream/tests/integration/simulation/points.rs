//! The points at which a stage can be interrupted, what can happen there, and how often it did.

use super::LogKind;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A place inside a step at which something may happen. `Poll` is before the call, `Polled` after it, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum InjectionPoint {
    Ask,
    Join,
    Joined,
    Poll,
    Polled,
    Start,
    Started,
    CommitBegun,
    CommitDone,
    Committed,
    Bounds,
    Read,
    Append,
    Open,
    Opened,
    Checkpoint,
    Empty,
    Emptied,
    Apply,
    Applied,
    SetAside,
    Get,
    Scan,
    Make,
    Restored,
    Process,
    Punctuate,
    Flush,
    Submit,
    Receive,
    Withdraw,
}

/// The event at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PointAction {
    Nothing,
    /// The call fails without effect; a commit may have succeeded.
    Retry,
    /// The commit fails without effect.
    Abort,
    /// The call fails and the member is unsound.
    Rejoin,
    /// The store reports damage.
    Damaged,
    /// The disk fails.
    Failed,
    /// Other processes run meanwhile.
    Others,
    /// The call takes longer than the session: the group goes on without the member, and other processes run meanwhile.
    Expire,
    /// Something happens to the log or the clock.
    World,
    /// The process dies.
    Crash,
}

use InjectionPoint::{
    Append, Applied, Apply, Ask, Bounds, Checkpoint, CommitBegun, CommitDone, Committed, Emptied, Empty, Flush, Get,
    Join, Joined, Make, Open, Opened, Poll, Polled, Process, Punctuate, Read, Receive, Restored, Scan, SetAside, Start,
    Started, Submit, Withdraw,
};
use PointAction::{Abort, Crash, Damaged, Expire, Failed, Nothing, Others, Rejoin, Retry, World};

/// All points, in the order of the table.
const POINTS: &[InjectionPoint] = &[
    Ask,
    Join,
    Joined,
    Poll,
    Polled,
    Start,
    Started,
    CommitBegun,
    CommitDone,
    Committed,
    Bounds,
    Read,
    Append,
    Open,
    Opened,
    Checkpoint,
    Empty,
    Emptied,
    Apply,
    Applied,
    SetAside,
    Get,
    Scan,
    Make,
    Restored,
    Process,
    Punctuate,
    Flush,
    Submit,
    Receive,
    Withdraw,
];

const ACTIONS: &[PointAction] = &[Nothing, Retry, Abort, Rejoin, Damaged, Failed, Others, Expire, World, Crash];

impl InjectionPoint {
    /// The errors that a real log or disk returns here.
    pub(super) fn failures(self, kind: LogKind) -> &'static [PointAction] {
        match self {
            Ask | Join | Joined | Bounds | Read | Append => &[Retry],
            Poll | Start | Committed => &[Retry, Rejoin],
            Polled | Started => &[Rejoin],
            CommitBegun => &[Retry, Abort, Rejoin],
            CommitDone => &[Retry, Rejoin],
            // If the log keeps the state, its damage is the log's own and nothing can be refilled.
            Open | Checkpoint | Get | Scan if kind == LogKind::StateInLog => &[Failed],
            Open | Checkpoint | Apply | Get | Scan => &[Damaged, Failed],
            Empty | SetAside => &[Failed],
            Opened | Emptied | Applied | Make | Restored | Process | Punctuate | Flush | Submit | Receive
            | Withdraw => &[],
        }
    }

    /// Whether a log of this kind reaches this point.
    fn exists(self, kind: LogKind) -> bool {
        kind != LogKind::StateInLog || !matches!(self, Empty | Emptied | Apply | Applied | SetAside)
    }

    pub(super) fn can(self, action: PointAction, kind: LogKind) -> bool {
        match action {
            Nothing | Others | World => true,
            // The source of the input is not one of the processes.
            Crash | Expire => self != Append,
            failure => self.failures(kind).contains(&failure),
        }
    }
}

/// Number of times each action happened at each point.
#[derive(Clone, Debug, Default)]
pub(super) struct Coverage(BTreeMap<(InjectionPoint, PointAction), u64>);

impl Coverage {
    pub(super) fn note(&mut self, point: InjectionPoint, action: PointAction) {
        *self.0.entry((point, action)).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: &Coverage) {
        other.0.iter().for_each(|(&at, count)| *self.0.entry(at).or_default() += count);
    }

    /// Actions possible for a log of this kind that never happened.
    pub(super) fn missing(&self, kind: LogKind) -> Vec<String> {
        let all = POINTS.iter().filter(|point| point.exists(kind));
        let all = all.flat_map(|&point| ACTIONS.iter().map(move |&action| (point, action)));
        all.filter(|&(point, action)| point.can(action, kind) && !self.0.contains_key(&(point, action)))
            .map(|(point, action)| format!("{point:?} × {action:?}"))
            .collect()
    }

    pub(super) fn table(&self, kind: LogKind) -> String {
        let mut table = format!("{:<12}", format!("{kind:?}"));
        ACTIONS.iter().for_each(|action| write!(table, "{:>9}", format!("{action:?}")).expect("text can be written"));
        for &point in POINTS.iter().filter(|point| point.exists(kind)) {
            write!(table, "\n{:<12}", format!("{point:?}")).expect("text can be written");
            for &action in ACTIONS {
                let count = self.0.get(&(point, action)).copied().unwrap_or_default();
                let cell = if point.can(action, kind) { count.to_string() } else { "·".to_owned() };
                write!(table, "{cell:>9}").expect("text can be written");
            }
        }
        table
    }
}

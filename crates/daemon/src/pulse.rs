//! Detects stages that no longer turn their loops.

use std::collections::HashMap;
use std::time::{Duration, Instant};
use stream::StageStatus;

/// Last turn of each stage, and when it was seen.
#[derive(Debug, Default)]
pub(crate) struct Pulse(HashMap<String, (u64, Instant)>);

impl Pulse {
    /// Checks the stages now. Describes the first one that has not turned for longer than `limit`. A stage still
    /// waiting for its log has not begun to turn.
    pub(crate) fn feel(&mut self, stages: &[StageStatus], now: Instant, limit: Duration) -> Option<String> {
        let mut hung = None;
        for stage in stages.iter().filter(|stage| stage.turns_total > 0) {
            let seen = self.0.entry(stage.name.clone()).or_insert((stage.turns_total, now));
            if seen.0 != stage.turns_total {
                *seen = (stage.turns_total, now);
            }
            let since = now.duration_since(seen.1);
            if since > limit {
                let (name, since) = (&stage.name, since.as_secs());
                hung.get_or_insert(format!("stage {name} hangs: its loop has not turned for {since} s"));
            }
        }
        hung
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_stands_still_is_named_and_one_that_turns_is_not() {
        let stage =
            |name: &str, turns_total| StageStatus { name: name.to_owned(), turns_total, ..StageStatus::default() };
        let (began, limit) = (Instant::now(), Duration::from_secs(50));
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut pulse = Pulse::default();
        let waiting = stage("waiting", 0);
        assert_eq!(pulse.feel(&[stage("a", 1), stage("b", 5), waiting.clone()], at(0), limit), None);
        assert_eq!(pulse.feel(&[stage("a", 1), stage("b", 6), waiting.clone()], at(50), limit), None);
        let said = pulse.feel(&[stage("a", 1), stage("b", 7), waiting], at(60), limit).unwrap();
        assert_eq!(said, "stage a hangs: its loop has not turned for 60 s");
        assert_eq!(pulse.feel(&[stage("a", 2), stage("b", 7)], at(70), limit), None);
    }
}

//! Pages that are counted for another estimator than the one in use: an operator has chosen another since.
//!
//! Their counts are in tables that are not in memory now, so they are changed there.

use crate::groups::keys_of;
use crate::state::{GROUPS, PageBelief, SWEEPS, SweepKey, SweepRecord};
use crate::sweep_learner::place_of;
use crate::sweep_state::SweepSize;
use change_rate::EstimatorKind;
use messages::SweepForecast;
use messages::topics::SCHEDULER_EVENTS;
use page::CanonicalUrl;
use stream::{Context, ProcessError};

/// Estimators that count the pages of groups, in the records of these pages.
const COUNTING: [&str; 2] = [GROUPED, crate::sweep_learner::NAME];
const GROUPED: &str = EstimatorKind::GammaGrouped.name();

/// Takes a page out of the counts of another estimator than `own`. What is without pages then is deleted, here and in the
/// scheduler.
pub(crate) fn leave(
    url: &CanonicalUrl,
    belief: &mut PageBelief,
    own: &str,
    context: &mut Context<'_>,
) -> Result<(), ProcessError> {
    if belief.estimator == own || !COUNTING.contains(&belief.estimator.as_str()) {
        return Ok(());
    }
    let gone = if belief.estimator == GROUPED { leave_groups(url, context)? } else { leave_sweeps(url, context)? };
    belief.estimator.clear();
    if !gone.is_empty() {
        context.emit(SCHEDULER_EVENTS, SweepForecast { gone, ..SweepForecast::new(url.site_key(), context.now()) });
    }
    Ok(())
}

fn leave_groups(url: &CanonicalUrl, context: &mut Context<'_>) -> Result<Vec<i64>, ProcessError> {
    let mut gone = Vec::new();
    let keys = keys_of(url);
    for key in &keys {
        let Some(mut group) = context.get(GROUPS, key)? else { continue };
        group.pages -= 1;
        if group.pages > 0 {
            context.put(GROUPS, key, &group);
        } else {
            context.delete(GROUPS, key);
            gone.extend(keys[0].cell_of(key).map(u64::cast_signed));
        }
    }
    Ok(gone)
}

fn leave_sweeps(url: &CanonicalUrl, context: &mut Context<'_>) -> Result<Vec<i64>, ProcessError> {
    let mut gone = Vec::new();
    for hash in place_of(url).counted() {
        let size = SweepKey::Size(hash);
        let Some(SweepRecord::Size(SweepSize { pages })) = context.get(SWEEPS, &size)? else { continue };
        if pages > 1 {
            context.put(SWEEPS, &size, &SweepSize { pages: pages - 1 }.into());
            continue;
        }
        context.delete(SWEEPS, &size);
        for key in [SweepKey::Group(hash), SweepKey::Cell(hash), SweepKey::Site(hash)] {
            if context.get(SWEEPS, &key)?.is_some() {
                context.delete(SWEEPS, &key);
                gone.push(hash.cast_signed());
            }
        }
    }
    gone.dedup();
    Ok(gone)
}

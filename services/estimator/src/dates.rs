//! Which of the dates claimed for a page's last change can be believed.

use crate::state::{DatesOfHost, HOSTS, PageBelief};
use change_rate::DateTrust;
use messages::{DateSource, PageObservation, Verdict};
use page::{CanonicalUrl, Timestamp};
use stream::{Context, ProcessError};

/// The sources that are judged, in the order of [`DatesOfHost::looks`].
const SOURCES: [DateSource; 3] = [DateSource::LastModified, DateSource::Page, DateSource::Listed];
/// Dates that servers make up for the answer, or made up for one that a cache still holds, are about this new. A first
/// look cannot distinguish them from true ones, so it believes older dates only.
const FIRST_LOOK_LEAST_AGE_DAYS: f64 = 1.0 / 24.0;

/// The best date claimed for the page's last change, if one can be believed. Then counts for its host whether the look
/// agrees with each date. A difference that no reader notices is no change here, so dates that move with it are of no
/// use.
pub(crate) fn believed(
    seen: &PageObservation,
    belief: &mut PageBelief,
    context: &mut Context<'_>,
) -> Result<Option<Timestamp>, ProcessError> {
    let dates: Vec<(usize, Timestamp)> = SOURCES
        .iter()
        .enumerate()
        .filter_map(|(number, source)| {
            Some((number, seen.judgement.dates.iter().find(|date| date.source == *source)?.at))
        })
        .filter(|(_, at)| *at <= seen.look.fetched_at)
        .collect();
    if dates.is_empty() {
        return Ok(None);
    }
    let host = seen.look.url.host();
    let stored = context.get(HOSTS, &host)?.unwrap_or_default();
    let mut trusts = [0, 1, 2].map(|number| stored.trust(number));
    // At equal agreement the earlier source is the better one.
    let better = |one: &&(usize, Timestamp), other: &&(usize, Timestamp)| {
        trusts[one.0].agreement().total_cmp(&trusts[other.0].agreement()).then(other.0.cmp(&one.0))
    };
    let best = dates.iter().filter(|(number, _)| trusts[*number].is_trusted()).max_by(better).map(|(_, at)| *at);
    let changed = match seen.judgement.verdict {
        Verdict::Unchanged | Verdict::Cosmetic => Some(false),
        Verdict::Minor | Verdict::Major => Some(true),
        Verdict::First | Verdict::Gone | Verdict::Returned | Verdict::Missing => None,
        Verdict::Unknown | Verdict::Unwatched | Verdict::Watched => None,
        Verdict::Obscured | Verdict::Redirected | Verdict::Forgotten | Verdict::Failed => None,
    };
    if let (Some(changed), Some(previous)) = (changed, seen.judgement.previous_fetched_at) {
        dates.iter().for_each(|(number, at)| trusts[*number].add(changed, *at > previous));
        let pages = stored.pages + i64::from(!std::mem::replace(&mut belief.dates, true));
        context.put(HOSTS, &host, &DatesOfHost::of(&trusts, pages));
        return Ok(best);
    }
    Ok(best.filter(|at| seen.look.fetched_at.days_since(*at) >= FIRST_LOOK_LEAST_AGE_DAYS))
}

/// Takes a removed page out of the count of its host, which is forgotten with the last one.
pub(crate) fn remove(url: &CanonicalUrl, belief: &PageBelief, context: &mut Context<'_>) -> Result<(), ProcessError> {
    let host = url.host();
    if let (true, Some(mut dates)) = (belief.dates, context.get(HOSTS, &host)?) {
        dates.pages -= 1;
        match dates.pages > 0 {
            true => context.put(HOSTS, &host, &dates),
            false => context.delete(HOSTS, &host),
        }
    }
    Ok(())
}

impl DatesOfHost {
    fn of(trusts: &[DateTrust], pages: i64) -> Self {
        let counts = |trust: &DateTrust| [trust.reported, trust.unreported, trust.stood, trust.moved].map(i64::from);
        Self { looks: trusts.iter().flat_map(counts).collect(), pages }
    }

    /// Counts that are missing or cannot be are 0.
    fn trust(&self, number: usize) -> DateTrust {
        let count = |place: usize| {
            let count = self.looks.get(4 * number + place).copied();
            count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
        };
        DateTrust { reported: count(0), unreported: count(1), stood: count(2), moved: count(3) }
    }
}

//! One visit to a page: a look, and the looks that follow within minutes.

use crate::looks::is_reported;
use archives::LivePage;
use change::Judgement;

/// The looks of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    /// One, as a record has it.
    Single,
    /// The second looks that the detector wants, too.
    Wanted,
    /// A second look a minute later, whoever wants it, and whatever the detector wants then.
    Twice,
}

const MINUTE_S: i64 = 60;

/// Makes the looks of one visit and shows each judgement.
pub(super) fn visit(
    live: &mut LivePage<'_>,
    now_s: i64,
    looks: Looks,
    mut fetch: impl FnMut() -> String,
    mut see: impl FnMut(&Judgement, &str),
) {
    let mut single = |live: &mut LivePage<'_>, body: String| see(&live.look(body.as_bytes(), now_s), &body);
    match looks {
        Looks::Single => single(live, fetch()),
        Looks::Wanted => live.visit(now_s, fetch, see),
        Looks::Twice => {
            single(live, fetch());
            live.visit(now_s + MINUTE_S, fetch, see);
        }
    }
}

/// Whether a change is reported, in one of these words. They are separated by a bar.
pub(super) fn reports(judgement: &Judgement, words: &str) -> bool {
    let units = &judgement.record.changes;
    let texts = || units.iter().flat_map(|unit| [unit.before.as_deref(), unit.after.as_deref()]).flatten();
    is_reported(judgement) && words.split('|').any(|words| texts().any(|text| text.contains(words)))
}

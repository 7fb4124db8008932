//! Pages with the same text share one stream of fetches: what they say to each other ([`mirrors::Ties`]) arrives here, and
//! a page that follows another is passed over nine times of ten when its turn comes, by whatever policy. A turn passed
//! over costs nothing and counts as a look where turns are worked out: its content is being looked at, in another place.

use crate::Frontier;
use crate::page_record::ScheduledPage;
use crate::planner::look_of;
use crate::request::Wanted;
use crate::rules::Rules;
use crate::siblings::belief_of;
use messages::{ChangeEstimate, FetchOutcome, MirrorLetter, MirrorSaying, Verdict};
use mirrors::{Letter, Peer, Saying, Standing, Ties, shared_weight};
use page::{PageId, SiteKey, Timestamp};
use revisit::columns::Slot;

/// After so many fetches in a row that told nothing, a page stands for no other.
const FAILURES_BORNE: i32 = 3;

/// The weight a page is fetched with: its own, and that of the pages that follow it.
pub(crate) fn weight_of(page: &ScheduledPage, rules: &Rules) -> f64 {
    match &page.ties {
        Some(ties) if rules.mirrors => {
            shared_weight(page.weight, ties.followers.iter().map(|follower| follower.weight))
        }
        _ => page.weight,
    }
}

/// When a page last had its turn, be it that it was passed over.
pub(crate) fn last_turn(page: &ScheduledPage) -> Option<Timestamp> {
    page.last_look_at.max(page.ties.as_ref().and_then(|ties| ties.passed_at))
}

/// Whether another page is fetched for it.
pub(crate) fn is_follower(page: &ScheduledPage) -> bool {
    page.ties.as_ref().is_some_and(|ties| ties.canonical.is_some())
}

/// Whether a page whose turn it is can be passed over.
fn can_be_passed(page: &ScheduledPage, rules: &Rules, now: Timestamp) -> bool {
    let (Some(ties), Some(last_look_at)) = (&page.ties, page.last_look_at) else { return false };
    rules.mirrors
        && ties.may_pass()
        && page.request.wanted == Wanted::No
        && page.hinted == 0
        && page.request.failures == 0
        && now.saturating_since(last_look_at) < rules.max_interval
}

impl Frontier {
    /// Whether pages with the same text share fetches here.
    pub fn shares_fetches(&self) -> bool {
        self.rules.mirrors
    }

    /// A page, or whoever finds mirrors, speaks to one of ours. Returns the answers.
    ///
    /// # Errors
    /// When nothing can be made of the letter.
    pub fn take_letter(
        &mut self,
        letter: &MirrorLetter,
        page: &mut ScheduledPage,
        now: Timestamp,
    ) -> Result<Vec<MirrorLetter>, String> {
        let about = Peer { page_id: letter.about, site: letter.about_site.clone() };
        let saying = read(letter)?;
        // A follower was found changed: so has this page, most likely, and a look at it brings the two together again.
        if let Saying::Leave { changed_at: Some(changed_at), .. } = saying {
            let was_follower =
                page.ties.iter().flat_map(|ties| &ties.followers).any(|known| known.peer.page_id == letter.about);
            let is_older = page.last_look_at.is_some_and(|last| last < changed_at);
            if was_follower && is_older {
                page.request = page.request.want(Wanted::Probe);
            }
        }
        let letters = with_ties(letter.to, page, |ties, me, standing| ties.hear(me, standing, &about, saying));
        let before = self.pages.weight(letter.to);
        let slot = self.set(letter.to, page);
        if before != self.pages.weight(letter.to) {
            self.plan_for(slot, page, now);
        }
        Ok(letters)
    }

    /// The answer to a letter to a page that is not known, and whose site is `site`: whoever would follow it must not
    /// wait.
    ///
    /// # Errors
    /// When nothing can be made of the letter.
    pub fn answer_for_unknown(&mut self, letter: &MirrorLetter, site: SiteKey) -> Result<Option<MirrorLetter>, String> {
        self.count_unknown_page();
        let saying = match read(letter)? {
            Saying::Follow { .. } => Saying::Release,
            Saying::Accept { epoch, .. } => Saying::Leave { epoch, changed_at: None },
            Saying::Candidate { .. } | Saying::Release | Saying::Leave { .. } => return Ok(None),
        };
        let to = Peer { page_id: letter.about, site: letter.about_site.clone() };
        Ok(Some(write(Letter { to, about: Peer { page_id: letter.to, site }, saying })))
    }

    /// What a look says about a page among its mirrors. The caller keeps the page.
    pub(crate) fn judge_ties(&mut self, page: &mut ScheduledPage, estimate: &ChangeEstimate) -> Vec<MirrorLetter> {
        let Some(ties) = &mut page.ties else { return Vec::new() };
        ties.fetched();
        let ChangeEstimate { look, judgement, .. } = estimate;
        let changed = judgement.verdict.is_change() == Some(true);
        let is_lost = judgement.verdict == Verdict::Gone
            || look.outcome == FetchOutcome::RobotsDisallowed
            || page.request.failures >= FAILURES_BORNE;
        if is_lost {
            with_ties(look.page_id, page, |ties, me, _| ties.dissolve(me))
        } else if changed {
            with_ties(look.page_id, page, |ties, me, _| ties.changed(me, look.fetched_at))
        } else {
            Vec::new()
        }
    }

    /// The page is forgotten: nobody can follow it.
    pub(crate) fn dissolve_ties(&mut self, id: PageId, page: &mut ScheduledPage) -> Vec<MirrorLetter> {
        with_ties(id, page, |ties, me, _| ties.dissolve(me))
    }

    /// The page has another weight.
    pub(crate) fn reweigh(&mut self, id: PageId, page: &mut ScheduledPage) -> Vec<MirrorLetter> {
        with_ties(id, page, |ties, me, standing| ties.reweighed(me, standing))
    }

    /// Passes a page over if its content is looked at elsewhere; `false` when it is to be fetched.
    pub(crate) fn pass_over(&mut self, slot: Slot, id: PageId, page: &mut ScheduledPage, now: Timestamp) -> bool {
        if !can_be_passed(page, &self.rules, now) {
            return false;
        }
        let Some(ties) = &mut page.ties else { return false };
        ties.passed(now);
        self.counts.spared += 1;
        self.set(id, page);
        if let Some(planner) = &mut self.planner {
            let cell = self.pages.columns.place(slot).map_or(0, |place| place.cell);
            let belief = belief_of(page, cell, &self.rules, &self.outlook);
            planner.looked(slot, &look_of(Verdict::Unknown, now, None, belief));
        }
        true
    }
}

fn with_ties(
    id: PageId,
    page: &mut ScheduledPage,
    act: impl FnOnce(&mut Ties, &Peer, &Standing) -> Vec<Letter>,
) -> Vec<MirrorLetter> {
    let me = Peer { page_id: id, site: page.url.site_key() };
    let standing = Standing { url: page.url.clone(), weight: page.weight };
    let mut ties = page.ties.take().unwrap_or_default();
    let letters = act(&mut ties, &me, &standing);
    page.ties = (ties != Ties::default()).then_some(ties);
    letters.into_iter().map(write).collect()
}

fn read(letter: &MirrorLetter) -> Result<Saying, String> {
    let (version_at, epoch) = (letter.version_at, letter.epoch);
    let standing = || {
        let url = letter.url.clone();
        let url = url.ok_or_else(|| format!("a letter to {} without the sender's address", letter.to))?;
        Ok::<_, String>(Standing { url, weight: letter.weight })
    };
    Ok(match letter.saying {
        MirrorSaying::Candidate => Saying::Candidate { version_at, of_version_at: letter.of_version_at },
        MirrorSaying::Follow => Saying::Follow { standing: standing()?, epoch, version_at },
        MirrorSaying::Accept => Saying::Accept { standing: standing()?, epoch },
        MirrorSaying::Release => Saying::Release,
        MirrorSaying::Leave => Saying::Leave { epoch, changed_at: version_at },
        MirrorSaying::Unknown => {
            return Err(format!("a letter to {} says what only a newer scheduler knows; update this one", letter.to));
        }
    })
}

fn write(letter: Letter) -> MirrorLetter {
    let Letter { to, about, saying } = letter;
    // The kind, who says it, the two versions, and the epoch.
    let (saying, standing, version_at, of_version_at, epoch) = match saying {
        Saying::Candidate { version_at, of_version_at } => {
            (MirrorSaying::Candidate, None, version_at, of_version_at, 0)
        }
        Saying::Follow { standing, epoch, version_at } => {
            (MirrorSaying::Follow, Some(standing), version_at, None, epoch)
        }
        Saying::Accept { standing, epoch } => (MirrorSaying::Accept, Some(standing), None, None, epoch),
        Saying::Release => (MirrorSaying::Release, None, None, None, 0),
        Saying::Leave { epoch, changed_at } => (MirrorSaying::Leave, None, changed_at, None, epoch),
    };
    let (url, weight) = standing.map_or((None, 0.0), |standing| (Some(standing.url), standing.weight));
    MirrorLetter {
        to: to.page_id,
        to_site: to.site,
        about: about.page_id,
        about_site: about.site,
        saying,
        url,
        weight,
        version_at,
        of_version_at,
        epoch,
    }
}

//! Pages with the same text share one stream of fetches: what they say to each other ([`mirrors::Ties`]) arrives here, and
//! a page that follows another is passed over nine times of ten when its turn comes, by whatever policy. A turn passed
//! over costs nothing and counts as a look where turns are worked out: its content is being looked at, in another place.

use crate::Scheduler;
use crate::dispatch::find;
use crate::planner::look_of;
use crate::rules::Rules;
use crate::siblings::belief_of;
use ::frontier::{MirrorCanonical, MirrorFollower, MirrorTies, ScheduledPage, Wanted};
use messages::topics::SCHEDULER_EVENTS;
use messages::{ChangeEstimate, FetchOutcome, MirrorLetter, MirrorSaying, Verdict};
use mirrors::{Follower, Letter, PROBE_EVERY, Peer, Saying, Standing, Ties, shared_weight};
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use revisit::columns::Slot;
use stream::{Context, ProcessError};

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
        && ties.canonical.is_some()
        && ties.passes + 1 < PROBE_EVERY as i32
        && page.request.wanted == Wanted::No
        && page.hinted == 0
        && page.request.failures == 0
        && now.saturating_since(last_look_at) < rules.max_interval
}

impl Scheduler {
    /// A page, or whoever finds mirrors, speaks to one of ours.
    pub(crate) fn take_letter(
        &mut self,
        letter: &MirrorLetter,
        site: &[u8],
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        if !self.rules.mirrors {
            return Ok(());
        }
        let about = Peer { page: letter.about.0, site: letter.about_site.as_str().to_owned() };
        let saying = read(letter).map_err(ProcessError::SetAside)?;
        let Some(mut page) = find(context, letter.to)? else {
            self.counts.unknown_pages += 1;
            // Whoever would follow a page that is not known must not wait for its answer.
            let me = Peer { page: letter.to.0, site: String::from_utf8_lossy(site).into_owned() };
            if matches!(saying, Saying::Follow { .. } | Saying::Accept { .. }) {
                let epoch = letter.epoch;
                let answer = if letter.saying == MirrorSaying::Follow {
                    Saying::Release
                } else {
                    Saying::Leave { epoch, changed_at: None }
                };
                self.send(&[Letter { to: about, about: me, saying: answer }], context);
            }
            return Ok(());
        };
        // A follower was found changed: so has this page, most likely, and a look at it brings the two together again.
        if let Saying::Leave { changed_at: Some(changed_at), .. } = saying {
            let was_follower =
                page.ties.iter().flat_map(|ties| &ties.followers).any(|known| known.page_id == letter.about);
            let is_older = page.last_look_at.is_some_and(|last| last.as_micros() < changed_at);
            if was_follower && is_older {
                page.request = page.request.want(Wanted::Probe);
            }
        }
        self.with_ties(letter.to, &mut page, context, |ties, me, standing| ties.hear(me, standing, &about, saying));
        self.store_anew(letter.to, &page, context);
        Ok(())
    }

    /// What a look says about a page's standing among its mirrors. The caller keeps the page.
    pub(crate) fn judge_ties(
        &mut self,
        page: &mut ScheduledPage,
        estimate: &ChangeEstimate,
        context: &mut Context<'_>,
    ) {
        let Some(ties) = &mut page.ties else { return };
        ties.passes = 0;
        let changed = estimate.judgement.verdict.is_change() == Some(true);
        let is_lost = estimate.judgement.verdict == Verdict::Gone
            || estimate.look.outcome == FetchOutcome::RobotsDisallowed
            || page.request.failures >= FAILURES_BORNE;
        let version_at = estimate.look.fetched_at.as_micros();
        if is_lost {
            self.with_ties(estimate.look.page_id, page, context, |ties, me, _| ties.dissolve(me));
        } else if changed {
            self.with_ties(estimate.look.page_id, page, context, |ties, me, _| ties.changed(me, version_at));
        }
    }

    /// The page is forgotten: nobody can follow it.
    pub(crate) fn dissolve_ties(&mut self, id: PageId, page: &mut ScheduledPage, context: &mut Context<'_>) {
        self.with_ties(id, page, context, |ties, me, _| ties.dissolve(me));
    }

    /// The page has another weight.
    pub(crate) fn reweigh(&mut self, id: PageId, page: &mut ScheduledPage, context: &mut Context<'_>) {
        self.with_ties(id, page, context, |ties, me, standing| ties.reweighed(me, standing));
    }

    fn with_ties(
        &mut self,
        id: PageId,
        page: &mut ScheduledPage,
        context: &mut Context<'_>,
        act: impl FnOnce(&mut Ties, &Peer, &Standing) -> Vec<Letter>,
    ) {
        let me = Peer { page: id.0, site: page.url.site_key().as_str().to_owned() };
        let standing = Standing { url: page.url.as_str().to_owned(), weight: page.weight };
        let kept = page.ties.take().unwrap_or_default();
        let mut ties = ties_of(&kept);
        let letters = act(&mut ties, &me, &standing);
        page.ties = keep(ties, &kept);
        self.send(&letters, context);
    }

    fn send(&mut self, letters: &[Letter], context: &mut Context<'_>) {
        for letter in letters {
            context.emit(SCHEDULER_EVENTS, write(letter));
        }
    }

    /// Keeps a page whose weight may be another than before.
    fn store_anew(&mut self, id: PageId, page: &ScheduledPage, context: &mut Context<'_>) {
        let before = self.frontier.weight(id);
        let slot = self.store(id, page, context);
        if before != self.frontier.weight(id) {
            self.plan_for(slot, page, context.now());
        }
    }

    /// Passes a page over if its content is looked at elsewhere; `false` when it is to be fetched.
    pub(crate) fn pass_over(
        &mut self,
        slot: Slot,
        id: PageId,
        page: &mut ScheduledPage,
        context: &mut Context<'_>,
    ) -> bool {
        let now = context.now();
        if !can_be_passed(page, &self.rules, now) {
            return false;
        }
        let Some(ties) = &mut page.ties else { return false };
        (ties.passes, ties.passed_at) = (ties.passes + 1, Some(now));
        self.counts.spared += 1;
        self.store(id, page, context);
        if let Some(planner) = &mut self.planner {
            let cell = self.frontier.columns.place(slot).map_or(0, |place| place.cell);
            let belief = belief_of(page, cell, &self.rules, &self.outlook);
            planner.looked(slot, &look_of(Verdict::Unknown, now, None, belief));
        }
        true
    }
}

fn ties_of(kept: &MirrorTies) -> Ties {
    let peer = |page: PageId, site: &SiteKey| Peer { page: page.0, site: site.as_str().to_owned() };
    let canonical = kept.canonical.as_ref().map(|canonical| {
        let standing = Standing { url: canonical.url.as_str().to_owned(), weight: canonical.weight };
        (peer(canonical.page_id, &canonical.site), standing)
    });
    let follower = |kept: &MirrorFollower| {
        let peer = peer(kept.page_id, &kept.site);
        Follower { peer, weight: kept.weight, epoch: kept.epoch }
    };
    Ties {
        canonical,
        followers: kept.followers.iter().map(follower).collect(),
        matched_at: kept.matched_at.map(Timestamp::as_micros),
        epoch: kept.epoch,
    }
}

/// What is kept of ties; turns passed over count from the moment that somebody is followed.
fn keep(ties: Ties, before: &MirrorTies) -> Option<MirrorTies> {
    if ties.is_empty() && ties.epoch == 0 {
        return None;
    }
    let canonical = ties.canonical.and_then(|(peer, standing)| {
        // It came from a canonical address, so it is one.
        let url = CanonicalUrl::parse(&standing.url).ok()?;
        let (page_id, site) = (PageId(peer.page), SiteKey::from_domain(peer.site));
        Some(MirrorCanonical { page_id, site, url, weight: standing.weight })
    });
    let follower = |follower: Follower| MirrorFollower {
        page_id: PageId(follower.peer.page),
        site: SiteKey::from_domain(follower.peer.site),
        weight: follower.weight,
        epoch: follower.epoch,
    };
    let (passes, passed_at) = if canonical.is_some() { (before.passes, before.passed_at) } else { (0, None) };
    Some(MirrorTies {
        canonical,
        followers: ties.followers.into_iter().map(follower).collect(),
        matched_at: ties.matched_at.map(Timestamp::from_micros),
        epoch: ties.epoch,
        passes,
        passed_at,
    })
}

fn read(letter: &MirrorLetter) -> Result<Saying, String> {
    let micros = |moment: Option<Timestamp>| moment.map(Timestamp::as_micros);
    let (version_at, epoch) = (micros(letter.version_at), letter.epoch);
    let standing = || {
        let url =
            letter.url.as_ref().ok_or_else(|| format!("a letter to {} without the sender's address", letter.to))?;
        Ok::<_, String>(Standing { url: url.as_str().to_owned(), weight: letter.weight })
    };
    Ok(match letter.saying {
        MirrorSaying::Candidate => Saying::Candidate { version_at, of_version_at: micros(letter.of_version_at) },
        MirrorSaying::Follow => Saying::Follow { standing: standing()?, epoch, version_at },
        MirrorSaying::Accept => Saying::Accept { standing: standing()?, epoch },
        MirrorSaying::Release => Saying::Release,
        MirrorSaying::Leave => Saying::Leave { epoch, changed_at: version_at },
        MirrorSaying::Unknown => {
            return Err(format!("a letter to {} says what only a newer scheduler knows; update this one", letter.to));
        }
    })
}

fn write(letter: &Letter) -> MirrorLetter {
    let moment = |micros: Option<i64>| micros.map(Timestamp::from_micros);
    let plain = MirrorLetter {
        to: PageId(letter.to.page),
        to_site: SiteKey::from_domain(letter.to.site.as_str()),
        about: PageId(letter.about.page),
        about_site: SiteKey::from_domain(letter.about.site.as_str()),
        saying: MirrorSaying::Release,
        url: None,
        weight: 0.0,
        version_at: None,
        of_version_at: None,
        epoch: 0,
    };
    let named = |standing: &Standing| (CanonicalUrl::parse(&standing.url).ok(), standing.weight);
    match &letter.saying {
        Saying::Candidate { version_at, of_version_at } => MirrorLetter {
            saying: MirrorSaying::Candidate,
            version_at: moment(*version_at),
            of_version_at: moment(*of_version_at),
            ..plain
        },
        Saying::Follow { standing, epoch, version_at } => {
            let (url, weight) = named(standing);
            let version_at = moment(*version_at);
            MirrorLetter { saying: MirrorSaying::Follow, url, weight, version_at, epoch: *epoch, ..plain }
        }
        Saying::Accept { standing, epoch } => {
            let (url, weight) = named(standing);
            MirrorLetter { saying: MirrorSaying::Accept, url, weight, epoch: *epoch, ..plain }
        }
        Saying::Release => plain,
        Saying::Leave { epoch, changed_at } => {
            let version_at = moment(*changed_at);
            MirrorLetter { saying: MirrorSaying::Leave, version_at, epoch: *epoch, ..plain }
        }
    }
}

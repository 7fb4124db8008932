//! How mirrors share one stream of fetches (Section E7): one of them, the canonical page, is kept fresh for all and carries
//! their weight; the others follow it and are looked at a tenth as often, to notice when they go their own way.
//!
//! Mirrors are of different sites, and no one place knows all of a group. So pages agree by letters. A page that was
//! [found alike](Saying::Candidate) asks the other to be [followed](Saying::Follow); who ranks higher accepts, who follows
//! somebody already names that page instead. A page that changes leaves: whether it did as its canonical page does is found
//! out by comparing their texts anew, once that was looked at, too. A canonical page that cannot be fetched any longer
//! releases its followers.

use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};

/// Of so many fetches that a follower would get on its own, it gets one.
pub const PROBE_EVERY: u32 = 10;
/// The most pages that follow one. More have a template in common rather than a text.
pub const MAX_FOLLOWERS: usize = 64;

/// Before all versions: stands for the current one in [`Ties::matched_at`].
const CURRENT_VERSION: Timestamp = Timestamp::from_micros(i64::MIN);
const REDIRECTION: Saying = Saying::Candidate { version_at: None, of_version_at: None };

/// A page that letters can be sent to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Peer {
    /// Its name.
    pub page_id: PageId,
    /// Its site, which letters to it go by.
    pub site: SiteKey,
}

impl Peer {
    /// The page with an address.
    pub fn at(url: &CanonicalUrl) -> Self {
        Self { page_id: url.page_id(), site: url.site_key() }
    }
}

/// What ranks a page among its mirrors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Its address.
    pub url: CanonicalUrl,
    /// Its importance; what is not positive counts as nothing.
    pub weight: f64,
}

impl Standing {
    /// Whether this page comes before another: the higher weight, or among equals the better address.
    fn precedes(&self, other: &Self) -> bool {
        let order = counted(other.weight).total_cmp(&counted(self.weight));
        order.then_with(|| address_order(self.url.as_str(), other.url.as_str())) == Ordering::Less
    }
}

/// Of mirrors of equal weight the first: https before http, then the shorter address, then the first by bytes.
pub(crate) fn address_order(a: &str, b: &str) -> Ordering {
    let form = |url: &str| (Reverse(url.starts_with("https:")), url.len());
    form(a).cmp(&form(b)).then_with(|| a.cmp(b))
}

/// Also for a weight that is no number; never a negative zero, which would rank below zero.
fn counted(weight: f64) -> f64 {
    if weight > 0.0 { weight } else { 0.0 }
}

/// The weight to keep a page fresh with: its own and those of its followers.
pub fn shared_weight(own: f64, followers: impl IntoIterator<Item = f64>) -> f64 {
    own + followers.into_iter().map(counted).sum::<f64>()
}

/// What one page says to another.
#[derive(Clone, Debug, PartialEq)]
pub enum Saying {
    /// The page spoken of has your text.
    Candidate {
        /// Which version of yours, by the moment of its fetch. None: the current one.
        version_at: Option<Timestamp>,
        /// Which version of its.
        of_version_at: Option<Timestamp>,
    },
    /// I would follow you.
    Follow {
        /// My rank.
        standing: Standing,
        /// My [`Ties::epoch`].
        epoch: i64,
        /// Which version of yours I have. None: the current one.
        version_at: Option<Timestamp>,
    },
    /// Do.
    Accept {
        /// My rank.
        standing: Standing,
        /// The epoch in which you asked.
        epoch: i64,
    },
    /// Do no longer.
    Release,
    /// I do no longer.
    Leave {
        /// The last epoch for which that is so.
        epoch: i64,
        /// When I was fetched and found changed, if that is why. Then you may have changed, too: if a look shows that you
        /// have, we find each other again.
        changed_at: Option<Timestamp>,
    },
}

/// Something said, and to whom.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Who hears it.
    pub to: Peer,
    /// Of whom it speaks: who says it, but for a candidate.
    pub about: Peer,
    /// What.
    pub saying: Saying,
}

/// A page that follows another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Follower {
    /// The page.
    pub peer: Peer,
    /// Its importance.
    pub weight: f64,
    /// The epoch in which it asked.
    pub epoch: i64,
}

/// The page that another follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canonical {
    /// The page.
    pub peer: Peer,
    /// Its rank.
    pub standing: Standing,
}

/// Where a page stands among its mirrors. By default it has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ties {
    /// Who is fetched for it.
    pub canonical: Option<Canonical>,
    /// Whom it is fetched for.
    pub followers: Vec<Follower>,
    /// The latest of its versions that was found in another page. None: its current version is its own.
    pub matched_at: Option<Timestamp>,
    /// Counts the ties that ended: letters of an earlier epoch that are still under way mean nothing any longer.
    pub epoch: i64,
    /// Turns that it was passed over since its last fetch.
    pub passes: u16,
    /// The last of them. None: none since it follows another.
    pub passed_at: Option<Timestamp>,
}

impl Ties {
    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        self.canonical.is_none() && self.followers.is_empty() && self.matched_at.is_none()
    }

    /// Whether a follower's turn may pass without a fetch: one of [`PROBE_EVERY`] turns is kept.
    pub fn may_pass(&self) -> bool {
        self.canonical.is_some() && u32::from(self.passes) + 1 < PROBE_EVERY
    }

    /// A turn passed without a fetch.
    pub fn passed(&mut self, now: Timestamp) {
        (self.passes, self.passed_at) = (self.passes + 1, Some(now));
    }

    /// The page was fetched.
    pub fn fetched(&mut self) {
        self.passes = 0;
    }

    /// Takes in what was said of a page. Returns what is to be said in turn.
    pub fn hear(&mut self, me: &Peer, standing: &Standing, about: &Peer, saying: Saying) -> Vec<Letter> {
        if about.page_id == me.page_id {
            return Vec::new();
        }
        match saying {
            Saying::Candidate { version_at, of_version_at } => {
                self.hear_of_candidate(me, standing, about, version_at, of_version_at)
            }
            Saying::Follow { standing: theirs, epoch, version_at } => {
                let follower = Follower { peer: about.clone(), weight: theirs.weight, epoch };
                self.hear_follow(me, standing, follower, &theirs, version_at)
            }
            Saying::Accept { standing: theirs, epoch } => self.hear_accept(me, standing, about, theirs, epoch),
            Saying::Release => {
                if self.follows(about) {
                    self.untie();
                }
                Vec::new()
            }
            Saying::Leave { epoch, .. } => {
                self.followers.retain(|follower| follower.peer.page_id != about.page_id || follower.epoch > epoch);
                Vec::new()
            }
        }
    }

    fn hear_of_candidate(
        &mut self,
        me: &Peer,
        standing: &Standing,
        about: &Peer,
        version_at: Option<Timestamp>,
        of_version_at: Option<Timestamp>,
    ) -> Vec<Letter> {
        let mut letters = Vec::new();
        let is_known = |version_at: Timestamp| version_at > CURRENT_VERSION;
        let is_new_version = self.matched_at.is_some_and(is_known) && version_at > self.matched_at;
        self.matched(version_at);
        if self.follows(about) || self.followers.iter().any(|follower| follower.peer.page_id == about.page_id) {
            return letters;
        }
        // It followed another page with an older version. The new one may lead back to it, or not.
        if is_new_version {
            letters.extend(self.leave(me, None));
        }
        letters.push(self.ask(me, standing, about, of_version_at));
        letters
    }

    fn matched(&mut self, version_at: Option<Timestamp>) {
        self.matched_at = self.matched_at.max(version_at).or(Some(CURRENT_VERSION));
    }

    fn hear_follow(
        &mut self,
        me: &Peer,
        standing: &Standing,
        follower: Follower,
        theirs: &Standing,
        version_at: Option<Timestamp>,
    ) -> Vec<Letter> {
        let about = &follower.peer;
        let precedes = standing.precedes(theirs);
        match &self.canonical {
            Some(canonical) if canonical.peer.page_id != about.page_id => {
                // In its book it may stand as a follower that it is no longer in this one.
                let is_known = self.followers.iter().any(|known| known.peer.page_id == about.page_id);
                let release = (!is_known).then(|| letter(about, me, Saying::Release));
                return release.into_iter().chain([letter(about, &canonical.peer, REDIRECTION)]).collect();
            }
            // Who asks has read this page's text, and found it its own.
            _ if !precedes => {
                self.matched(version_at);
                return vec![self.ask(me, standing, about, None)];
            }
            _ => {}
        }
        // Who was above it no longer is.
        let mut letters = Vec::new();
        if self.canonical.is_some() {
            letters.extend(self.leave(me, None));
        }
        let known = self.followers.iter().position(|known| known.peer.page_id == about.page_id);
        if known.is_none() && self.followers.len() >= MAX_FOLLOWERS {
            letters.push(letter(about, me, Saying::Release));
            return letters;
        }
        letters.push(letter(about, me, Saying::Accept { standing: standing.clone(), epoch: follower.epoch }));
        match known {
            Some(known) => self.followers[known] = follower,
            None => self.followers.push(follower),
        }
        letters
    }

    fn hear_accept(
        &mut self,
        me: &Peer,
        standing: &Standing,
        about: &Peer,
        theirs: Standing,
        epoch: i64,
    ) -> Vec<Letter> {
        let leave = |page: &Peer| letter(page, me, Saying::Leave { epoch, changed_at: None });
        let candidate = |to: &Peer, about: &Peer| letter(to, about, REDIRECTION);
        // It has changed meanwhile, or one of the two is not what it was.
        if epoch != self.epoch || self.matched_at.is_none() || !theirs.precedes(standing) {
            // A page already followed that was outgrown: the tie ends on this side, too.
            if epoch == self.epoch && self.follows(about) {
                self.untie();
            }
            return vec![leave(about)];
        }
        // Each has accepted the other; who is to follow whom is asked anew.
        if let Some(known) = self.followers.iter().position(|follower| follower.peer.page_id == about.page_id) {
            self.followers.remove(known);
            return vec![leave(about), letter(about, me, Saying::Release), self.ask(me, standing, about, None)];
        }
        let mut letters = Vec::new();
        match &self.canonical {
            Some(canonical) if canonical.peer.page_id == about.page_id => {
                self.canonical = Some(Canonical { peer: about.clone(), standing: theirs });
                return letters;
            }
            // Of two pages to follow the higher one is chosen, and the other hears of it.
            Some(canonical) if !theirs.precedes(&canonical.standing) => {
                return vec![leave(about), candidate(about, &canonical.peer)];
            }
            Some(canonical) => {
                letters.extend([leave(&canonical.peer), candidate(&canonical.peer, about)]);
            }
            None => {}
        }
        letters.extend(self.followers.iter().map(|follower| candidate(&follower.peer, about)));
        self.canonical = Some(Canonical { peer: about.clone(), standing: theirs });
        // What was accepted may have been asked before this page left it again, in a letter still under way.
        letters.push(self.ask(me, standing, about, None));
        letters
    }

    /// The page was found changed, in the version of that moment. Unless the same version was found in another page,
    /// it is on its own now.
    pub fn changed(&mut self, me: &Peer, version_at: Timestamp) -> Vec<Letter> {
        if self.matched_at.is_some_and(|matched_at| matched_at >= version_at) {
            return Vec::new();
        }
        self.matched_at = None;
        self.leave(me, Some(version_at)).into_iter().collect()
    }

    /// The page has another weight. Its canonical page hears of it, and may have to trade places; so do its followers, of
    /// whom one may have outgrown it.
    pub fn reweighed(&self, me: &Peer, standing: &Standing) -> Vec<Letter> {
        let asked = self.canonical.iter().map(|canonical| self.ask(me, standing, &canonical.peer, None));
        let accept = |follower: &Follower| {
            letter(&follower.peer, me, Saying::Accept { standing: standing.clone(), epoch: follower.epoch })
        };
        asked.chain(self.followers.iter().map(accept)).collect()
    }

    /// The page can stand for nobody: it is gone, forgotten, or may not be fetched.
    pub fn dissolve(&mut self, me: &Peer) -> Vec<Letter> {
        let released = std::mem::take(&mut self.followers).into_iter();
        let letters = released.map(|follower| letter(&follower.peer, me, Saying::Release));
        let letters = letters.chain(self.leave(me, None)).collect();
        self.matched_at = None;
        letters
    }

    /// Follows nobody any longer; answers to what was asked so far come too late.
    fn leave(&mut self, me: &Peer, changed_at: Option<Timestamp>) -> Option<Letter> {
        let canonical = self.untie()?;
        Some(letter(&canonical, me, Saying::Leave { epoch: self.epoch - 1, changed_at }))
    }

    /// Begins a new epoch, in which nobody is followed yet. Returns who was.
    fn untie(&mut self) -> Option<Peer> {
        self.epoch += 1;
        (self.passes, self.passed_at) = (0, None);
        self.canonical.take().map(|canonical| canonical.peer)
    }

    fn ask(&self, me: &Peer, standing: &Standing, page: &Peer, version_at: Option<Timestamp>) -> Letter {
        letter(page, me, Saying::Follow { standing: standing.clone(), epoch: self.epoch, version_at })
    }

    fn follows(&self, page: &Peer) -> bool {
        self.canonical.as_ref().is_some_and(|canonical| canonical.peer.page_id == page.page_id)
    }
}

fn letter(to: &Peer, about: &Peer, saying: Saying) -> Letter {
    Letter { to: to.clone(), about: about.clone(), saying }
}

#[cfg(test)]
#[path = "ties_tests.rs"]
mod tests;

//! How mirrors share one stream of fetches (Section E7). One of them, the canonical page, is kept fresh for all and
//! carries their weight. The others follow it and are fetched a tenth as often, to notice when they diverge.
//!
//! Mirrors are on different sites, and no one place knows a whole group. So pages agree by messages. A page that was
//! [found alike](Saying::Candidate) asks to [follow](Saying::Follow) the other. The page that ranks higher accepts; a
//! page that already follows another names that one instead. A page that changes leaves. Whether its canonical page
//! changed the same way shows when their texts are compared anew, after that page was fetched too. A canonical page
//! that can no longer be fetched releases its followers.

use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};

/// A follower gets one of this many fetches that it would get on its own.
pub const PROBE_EVERY: u32 = 10;
/// The most followers of a page. More pages than this share a template rather than a text.
pub const MAX_FOLLOWERS: usize = 64;

/// Earlier than all versions; stands for the current one in [`Ties::matched_at`].
const CURRENT_VERSION: Timestamp = Timestamp::from_micros(i64::MIN);
const REDIRECTION: Saying = Saying::Candidate { version_at: None, of_version_at: None };

/// A page as the address of messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename = "Peer")] // Its name in the schema of the scheduler's pages.
pub struct MirrorPeer {
    pub page_id: PageId,
    /// The page's site, by which messages to it are routed.
    pub site: SiteKey,
}

impl MirrorPeer {
    /// The page at an address.
    pub fn at(url: &CanonicalUrl) -> Self {
        Self { page_id: url.page_id(), site: url.site_key() }
    }
}

/// The rank of a page among its mirrors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Standing")] // Its name in the schema of the scheduler's pages.
pub struct MirrorRank {
    pub url: CanonicalUrl,
    /// Its importance. A weight that is not positive counts as zero.
    pub weight: f64,
}

impl MirrorRank {
    /// Whether this page outranks another: by the higher weight, or among equals by the better address.
    fn precedes(&self, other: &Self) -> bool {
        let order = counted(other.weight).total_cmp(&counted(self.weight));
        order.then_with(|| address_order(self.url.as_str(), other.url.as_str())) == Ordering::Less
    }
}

/// Order of mirrors of equal weight: https before http, then the shorter address, then by bytes.
pub fn address_order(a: &str, b: &str) -> Ordering {
    let form = |url: &str| (Reverse(url.starts_with("https:")), url.len());
    form(a).cmp(&form(b)).then_with(|| a.cmp(b))
}

/// The weight, or zero if it is not positive or not a number. Never negative zero, which would rank below zero.
fn counted(weight: f64) -> f64 {
    if weight > 0.0 { weight } else { 0.0 }
}

/// The weight a page is kept fresh with: its own and those of its followers.
pub fn shared_weight(own: f64, followers: impl IntoIterator<Item = f64>) -> f64 {
    own + followers.into_iter().map(counted).sum::<f64>()
}

/// The content of a message from one page to another.
#[derive(Clone, Debug, PartialEq)]
pub enum Saying {
    /// The page that the message is about has the recipient's text.
    Candidate {
        /// The recipient's version, by the time of its fetch; `None` for the current one.
        version_at: Option<Timestamp>,
        /// The version of the other page, by the time of its fetch; `None` for the current one.
        of_version_at: Option<Timestamp>,
    },
    /// A request to follow the recipient.
    Follow {
        /// The sender's rank.
        rank: MirrorRank,
        /// The sender's [`Ties::epoch`].
        epoch: i64,
        /// The recipient's version whose text the sender has; `None` for the current one.
        version_at: Option<Timestamp>,
    },
    /// The sender accepts the recipient as a follower.
    Accept {
        /// The sender's rank.
        rank: MirrorRank,
        /// The epoch of the request that is accepted.
        epoch: i64,
    },
    /// The sender no longer accepts the recipient as a follower.
    Release,
    /// The sender no longer follows the recipient.
    Leave {
        /// The last epoch that the sender leaves; a request of a later one stands.
        epoch: i64,
        /// When the sender was fetched and found changed, if that is the reason. The recipient may have changed, too:
        /// if a fetch shows that it did, the two are matched again.
        changed_at: Option<Timestamp>,
    },
}

/// A message from one page to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The recipient.
    pub to: MirrorPeer,
    /// The page that the message is about: the sender, except for a candidate.
    pub about: MirrorPeer,
    pub saying: Saying,
}

/// A page that follows this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Follower")] // Its name in the schema of the scheduler's pages.
pub struct MirrorFollower {
    pub peer: MirrorPeer,
    /// The follower's importance.
    pub weight: f64,
    /// The epoch of its accepted request.
    pub epoch: i64,
}

/// The page that this one follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canonical {
    pub peer: MirrorPeer,
    #[serde(rename = "standing")]
    pub rank: MirrorRank,
}

/// A page's relations to its mirrors. By default it has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ties {
    /// The page fetched in its place, if it follows one.
    pub canonical: Option<Canonical>,
    /// The pages it is fetched for.
    pub followers: Vec<MirrorFollower>,
    /// The latest of its versions whose text another page has; `None` if no other page is known to have its current
    /// text.
    pub matched_at: Option<Timestamp>,
    /// Counts the ties that ended. Messages of an earlier epoch that are still under way are void.
    pub epoch: i64,
    /// Turns skipped since its last fetch.
    pub passes: u16,
    /// Time of the last skipped turn; `None` if none was skipped since it follows its canonical page.
    pub passed_at: Option<Timestamp>,
}

impl Ties {
    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.canonical.is_none() && self.followers.is_empty() && self.matched_at.is_none()
    }

    /// Whether a follower's turn may be skipped: one of [`PROBE_EVERY`] turns is kept.
    pub fn may_pass(&self) -> bool {
        self.canonical.is_some() && u32::from(self.passes) + 1 < PROBE_EVERY
    }

    /// Records a turn skipped without a fetch.
    pub fn passed(&mut self, now: Timestamp) {
        (self.passes, self.passed_at) = (self.passes + 1, Some(now));
    }

    pub fn fetched(&mut self) {
        self.passes = 0;
    }

    /// Processes a message. Returns the messages to send in turn.
    pub fn receive(&mut self, me: &MirrorPeer, rank: &MirrorRank, about: &MirrorPeer, saying: Saying) -> Vec<Message> {
        if about.page_id == me.page_id {
            return Vec::new();
        }
        match saying {
            Saying::Candidate { version_at, of_version_at } => {
                self.take_candidate(me, rank, about, version_at, of_version_at)
            }
            Saying::Follow { rank: theirs, epoch, version_at } => {
                let follower = MirrorFollower { peer: about.clone(), weight: theirs.weight, epoch };
                self.take_follow(me, rank, follower, &theirs, version_at)
            }
            Saying::Accept { rank: theirs, epoch } => self.take_accept(me, rank, about, theirs, epoch),
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

    fn take_candidate(
        &mut self,
        me: &MirrorPeer,
        rank: &MirrorRank,
        about: &MirrorPeer,
        version_at: Option<Timestamp>,
        of_version_at: Option<Timestamp>,
    ) -> Vec<Message> {
        let mut messages = Vec::new();
        let is_known = |version_at: Timestamp| version_at > CURRENT_VERSION;
        let is_new_version = self.matched_at.is_some_and(is_known) && version_at > self.matched_at;
        self.matched(version_at);
        if self.follows(about) || self.followers.iter().any(|follower| follower.peer.page_id == about.page_id) {
            return messages;
        }
        // It followed another page with an older version. The new version may lead back to it, or not.
        if is_new_version {
            messages.extend(self.leave(me, None));
        }
        messages.push(self.ask(me, rank, about, of_version_at));
        messages
    }

    fn matched(&mut self, version_at: Option<Timestamp>) {
        self.matched_at = self.matched_at.max(version_at).or(Some(CURRENT_VERSION));
    }

    fn take_follow(
        &mut self,
        me: &MirrorPeer,
        rank: &MirrorRank,
        follower: MirrorFollower,
        theirs: &MirrorRank,
        version_at: Option<Timestamp>,
    ) -> Vec<Message> {
        let about = &follower.peer;
        let precedes = rank.precedes(theirs);
        match &self.canonical {
            Some(canonical) if canonical.peer.page_id != about.page_id => {
                // The sender may still hold itself for a follower that this page no longer has.
                let is_known = self.followers.iter().any(|known| known.peer.page_id == about.page_id);
                let release = (!is_known).then(|| message(about, me, Saying::Release));
                return release.into_iter().chain([message(about, &canonical.peer, REDIRECTION)]).collect();
            }
            // The sender has matched this page's text with its own.
            _ if !precedes => {
                self.matched(version_at);
                return vec![self.ask(me, rank, about, None)];
            }
            _ => {}
        }
        // This page now outranks the page it followed.
        let mut messages = Vec::new();
        if self.canonical.is_some() {
            messages.extend(self.leave(me, None));
        }
        let known = self.followers.iter().position(|known| known.peer.page_id == about.page_id);
        if known.is_none() && self.followers.len() >= MAX_FOLLOWERS {
            messages.push(message(about, me, Saying::Release));
            return messages;
        }
        messages.push(message(about, me, Saying::Accept { rank: rank.clone(), epoch: follower.epoch }));
        match known {
            Some(known) => self.followers[known] = follower,
            None => self.followers.push(follower),
        }
        messages
    }

    fn take_accept(
        &mut self,
        me: &MirrorPeer,
        rank: &MirrorRank,
        about: &MirrorPeer,
        theirs: MirrorRank,
        epoch: i64,
    ) -> Vec<Message> {
        let leave = |page: &MirrorPeer| message(page, me, Saying::Leave { epoch, changed_at: None });
        let candidate = |to: &MirrorPeer, about: &MirrorPeer| message(to, about, REDIRECTION);
        // This page has changed meanwhile, or the ranks of the two have.
        if epoch != self.epoch || self.matched_at.is_none() || !theirs.precedes(rank) {
            // This page has outgrown the page it follows: the tie ends on this side, too.
            if epoch == self.epoch && self.follows(about) {
                self.untie();
            }
            return vec![leave(about)];
        }
        // Each has accepted the other. Ask again who follows whom.
        if let Some(known) = self.followers.iter().position(|follower| follower.peer.page_id == about.page_id) {
            self.followers.remove(known);
            return vec![leave(about), message(about, me, Saying::Release), self.ask(me, rank, about, None)];
        }
        let mut messages = Vec::new();
        match &self.canonical {
            Some(canonical) if canonical.peer.page_id == about.page_id => {
                self.canonical = Some(Canonical { peer: about.clone(), rank: theirs });
                return messages;
            }
            // Follow the higher of the two pages, and name it to the other.
            Some(canonical) if !theirs.precedes(&canonical.rank) => {
                return vec![leave(about), candidate(about, &canonical.peer)];
            }
            Some(canonical) => {
                messages.extend([leave(&canonical.peer), candidate(&canonical.peer, about)]);
            }
            None => {}
        }
        messages.extend(self.followers.iter().map(|follower| candidate(&follower.peer, about)));
        self.canonical = Some(Canonical { peer: about.clone(), rank: theirs });
        // The accepted request may be older than a leave message that is still under way.
        messages.push(self.ask(me, rank, about, None));
        messages
    }

    /// Records that the page was found changed, in the version fetched at that time. It leaves its canonical page
    /// unless the same version was found in another page.
    pub fn changed(&mut self, me: &MirrorPeer, version_at: Timestamp) -> Vec<Message> {
        if self.matched_at.is_some_and(|matched_at| matched_at >= version_at) {
            return Vec::new();
        }
        self.matched_at = None;
        self.leave(me, Some(version_at)).into_iter().collect()
    }

    /// Announces a new weight of the page. Its canonical page may have to trade places with it, and one of its
    /// followers may have outgrown it.
    pub fn reweighed(&self, me: &MirrorPeer, rank: &MirrorRank) -> Vec<Message> {
        let asked = self.canonical.iter().map(|canonical| self.ask(me, rank, &canonical.peer, None));
        let accept = |follower: &MirrorFollower| {
            message(&follower.peer, me, Saying::Accept { rank: rank.clone(), epoch: follower.epoch })
        };
        asked.chain(self.followers.iter().map(accept)).collect()
    }

    /// Ends all ties of a page that cannot stand for others: it is gone, forgotten, or may not be fetched.
    pub fn dissolve(&mut self, me: &MirrorPeer) -> Vec<Message> {
        let released = std::mem::take(&mut self.followers).into_iter();
        let messages = released.map(|follower| message(&follower.peer, me, Saying::Release));
        let messages = messages.chain(self.leave(me, None)).collect();
        self.matched_at = None;
        messages
    }

    /// Leaves the canonical page, if any. Answers to earlier requests come too late.
    fn leave(&mut self, me: &MirrorPeer, changed_at: Option<Timestamp>) -> Option<Message> {
        let canonical = self.untie()?;
        Some(message(&canonical, me, Saying::Leave { epoch: self.epoch - 1, changed_at }))
    }

    /// Begins a new epoch without a canonical page. Returns the previous one.
    fn untie(&mut self) -> Option<MirrorPeer> {
        self.epoch += 1;
        (self.passes, self.passed_at) = (0, None);
        self.canonical.take().map(|canonical| canonical.peer)
    }

    fn ask(&self, me: &MirrorPeer, rank: &MirrorRank, page: &MirrorPeer, version_at: Option<Timestamp>) -> Message {
        message(page, me, Saying::Follow { rank: rank.clone(), epoch: self.epoch, version_at })
    }

    fn follows(&self, page: &MirrorPeer) -> bool {
        self.canonical.as_ref().is_some_and(|canonical| canonical.peer.page_id == page.page_id)
    }
}

fn message(to: &MirrorPeer, about: &MirrorPeer, saying: Saying) -> Message {
    Message { to: to.clone(), about: about.clone(), saying }
}

#[cfg(test)]
#[path = "ties_tests.rs"]
mod tests;

//! Pages with the same text share one stream of fetches. Their messages ([`mirrors::Ties`]) arrive here. A page that
//! follows another is passed over at nine turns of ten, under any policy. A turn passed over costs nothing, and counts
//! as a look where turns are computed: the content is looked at in another place.

use crate::page_record::ScheduledPage;
use crate::request::WantedReason;
use crate::rules::FrontierRules;
use messages::{MirrorMessage, MirrorSaying};
use mirrors::{Message, MirrorPeer, MirrorRank, Saying, Ties, shared_weight};
use page::{PageId, Timestamp};

/// Consecutive fetches without content after which a page stands for no other.
pub(crate) const FAILURES_BORNE: i32 = 3;

/// The weight that a page competes with: its own and its followers'.
pub(crate) fn weight_of(page: &ScheduledPage, rules: &FrontierRules) -> f64 {
    match &page.ties {
        Some(ties) if rules.mirrors => {
            shared_weight(rules.own_weight(page), ties.followers.iter().map(|follower| follower.weight))
        }
        _ => rules.own_weight(page),
    }
}

/// When a page last had its turn, passed over or not.
pub(crate) fn last_turn(page: &ScheduledPage) -> Option<Timestamp> {
    page.last_look_at.max(page.ties.as_ref().and_then(|ties| ties.passed_at))
}

/// Whether the page's content is fetched through a mirror.
pub(crate) fn is_follower(page: &ScheduledPage) -> bool {
    page.ties.as_ref().is_some_and(|ties| ties.canonical.is_some())
}

/// Whether a page may be passed over at its turn.
pub(crate) fn can_be_passed(page: &ScheduledPage, rules: &FrontierRules, now: Timestamp) -> bool {
    let (Some(ties), Some(last_look_at)) = (&page.ties, page.last_look_at) else { return false };
    rules.mirrors
        && ties.may_pass()
        && page.request.wanted == WantedReason::No
        && page.hinted == 0
        && page.request.failures == 0
        && now.saturating_since(last_look_at) < rules.max_interval_of(&page.url)
}

pub(crate) fn with_ties(
    id: PageId,
    page: &mut ScheduledPage,
    act: impl FnOnce(&mut Ties, &MirrorPeer, &MirrorRank) -> Vec<Message>,
) -> Vec<MirrorMessage> {
    let me = MirrorPeer { page_id: id, site: page.url.site_key() };
    let rank = MirrorRank { url: page.url.clone(), weight: page.weight };
    let mut ties = page.ties.take().unwrap_or_default();
    let messages = act(&mut ties, &me, &rank);
    page.ties = (ties != Ties::default()).then_some(ties);
    messages.into_iter().map(write_message).collect()
}

pub(crate) fn read_message(message: &MirrorMessage) -> Result<Saying, String> {
    let (version_at, epoch) = (message.version_at, message.epoch);
    let rank = || {
        let url = message.url.clone();
        let url = url.ok_or_else(|| format!("a MirrorMessage to {} lacks the sender's url", message.to))?;
        Ok::<_, String>(MirrorRank { url, weight: message.weight })
    };
    Ok(match message.saying {
        MirrorSaying::Candidate => Saying::Candidate { version_at, of_version_at: message.of_version_at },
        MirrorSaying::Follow => Saying::Follow { rank: rank()?, epoch, version_at },
        MirrorSaying::Accept => Saying::Accept { rank: rank()?, epoch },
        MirrorSaying::Release => Saying::Release,
        MirrorSaying::Leave => Saying::Leave { epoch, changed_at: version_at },
        MirrorSaying::Unknown => {
            return Err(format!(
                "a MirrorMessage to {} is of a kind that only a newer scheduler knows; update this one",
                message.to
            ));
        }
    })
}

pub(crate) fn write_message(message: Message) -> MirrorMessage {
    let Message { to, about, saying } = message;
    // The kind, the sender's state, the two versions, and the epoch.
    let (saying, rank, version_at, of_version_at, epoch) = match saying {
        Saying::Candidate { version_at, of_version_at } => {
            (MirrorSaying::Candidate, None, version_at, of_version_at, 0)
        }
        Saying::Follow { rank, epoch, version_at } => (MirrorSaying::Follow, Some(rank), version_at, None, epoch),
        Saying::Accept { rank, epoch } => (MirrorSaying::Accept, Some(rank), None, None, epoch),
        Saying::Release => (MirrorSaying::Release, None, None, None, 0),
        Saying::Leave { epoch, changed_at } => (MirrorSaying::Leave, None, changed_at, None, epoch),
    };
    let (url, weight) = rank.map_or((None, 0.0), |rank| (Some(rank.url), rank.weight));
    MirrorMessage {
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

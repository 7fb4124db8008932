//! Whether the page is where it was, for people: it is missing, leads elsewhere, something else is served in its place,
//! or it is back.

use crate::DetectorRules;
use crate::look::{JudgedLook, PageMemory};
use change::{Lead, is_same_page};
use messages::{ContentEvidence, Look, Verdict};
use page::{CanonicalUrl, UrlRules};

/// The other page that a look's redirects led to. `None` for another spelling of the page's own address.
pub(crate) fn leads_to<'l>(look: &'l Look, urls: &UrlRules) -> Option<&'l CanonicalUrl> {
    look.final_url.as_ref().filter(|led_to| !is_same_page(&look.url, led_to, urls))
}

/// Records where a look led, if it shows anything. Call it before the look is judged.
pub(crate) fn lead(look: &Look, rules: &DetectorRules, known: &mut PageMemory) -> Lead {
    match look.outcome.meaning().content {
        ContentEvidence::Body | ContentEvidence::SameAsKnown => {
            known.state.observe_address(&look.url, look.answered_by(), &rules.urls)
        }
        ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere | ContentEvidence::Nothing => Lead::Same,
    }
}

/// Decides the verdict that is published in place of the look's, if one is.
pub(crate) fn decide(look: &mut JudgedLook, lead: Lead, rules: &DetectorRules, known: &mut PageMemory) {
    if look.judgement.reports_stand_in {
        if rules.missing {
            look.presence = Some(Verdict::Obscured);
        } else {
            known.state.end_absence();
        }
    }
    // A page that was published as away is published as returned, unless it is gone.
    if look.verdict != Verdict::Unknown && known.state.end_absence() && look.verdict != Verdict::Gone {
        look.presence = Some(Verdict::Returned);
    }
    if lead == (Lead::Elsewhere { is_reported: true }) {
        look.presence = Some(Verdict::Redirected);
    }
}

//! Beliefs of pages after looks at their siblings, for policies that use a page's whole belief. (The live default
//! combines prior and evidence whenever it scores a page.)
//!
//! The estimator publishes how the priors of cells have moved. A page's belief is the last published prior of its cell,
//! plus its own evidence, which came with its own looks. So one number per cell travels and is stored, instead of one
//! record per page.

use crate::page_index::evidence_of;
use crate::page_record::ScheduledPage;
use crate::rules::{FrontierRules, Siblings};
use change_rate::{Gamma, GammaState};
use revisit::columns::{Index, whole_belief};
use std::collections::BTreeSet;
use sweeps::{Outlook, OwnEvidence};

/// The whole belief about a page's change rate, in this cell.
pub(crate) fn belief_of(page: &ScheduledPage, cell: u64, rules: &FrontierRules, outlook: &Outlook) -> Gamma {
    taught(evidence_of(page).plain, cell, rules, outlook).unwrap_or_else(|| {
        Gamma::new(page.belief.alpha, page.belief.beta_days).unwrap_or_else(|_| {
            // An invalid belief is replaced by a vague one, so that the page is looked at again.
            Gamma::new(1.0, 1.0).expect("1 and 1 are positive")
        })
    })
}

/// The columns' entry of a page. Under the live default this is its evidence. Otherwise it is its whole belief, with
/// the evidence beside it for when the prior moves.
pub(crate) fn entry_of(page: &ScheduledPage, cell: u64, rules: &FrontierRules, outlook: &Outlook) -> OwnEvidence {
    let evidence = evidence_of(page);
    match rules.index {
        Index::Live { .. } => evidence,
        Index::CrawlValue { .. } | Index::Uniform => {
            OwnEvidence { plain: evidence.plain, ..whole_belief(belief_of(page, cell, rules, outlook)) }
        }
    }
}

/// The belief from the published prior of a cell; `None` when no prior was published.
pub(crate) fn taught(evidence: GammaState, cell: u64, rules: &FrontierRules, outlook: &Outlook) -> Option<Gamma> {
    let priors = outlook.sent_priors(cell).filter(|_| rules.siblings.is_some())?;
    let belief = OwnEvidence { own: GammaState::default(), plain: evidence };
    match rules.siblings? {
        Siblings::Sweeps => Some(priors.plain(&belief)),
        Siblings::GammaGrouped => {
            let beyond = |number: f32| f64::from(number.max(0.0));
            let alpha = rules.prior.alpha() + beyond(evidence.delta_alpha);
            Gamma::new(alpha, priors.plain_beta_days + beyond(evidence.delta_beta_days)).ok()
        }
    }
}

/// Cells with a new prior.
pub(crate) type TaughtCells = BTreeSet<u64>;

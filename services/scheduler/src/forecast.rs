//! What the estimator foretells of sweeps: in memory for scoring, in the store for the next life.

use crate::Scheduler;
use crate::state::{CELL, GROUP, OUTLOOK, OutlookCell, OutlookGroup, OutlookSite, SITE, key};
use messages::{Message, SweepForecast};
use page::CanonicalUrl;
use std::ops::ControlFlow;
use stream::{Context, ProcessError};
use sweeps::{CellChange, CellPriors, Changes, GroupChange, Outlook, Place, SiteChange};

/// The place of a page on its site.
pub(crate) fn place_of(url: &CanonicalUrl) -> Place {
    Place::of(url.site_key().as_str(), url.host().as_str(), url.path())
}

/// Takes one entry of the store into an outlook.
pub(crate) fn restore(outlook: &mut Outlook, store_key: &[u8], value: &[u8]) -> Result<(), String> {
    let Ok([letter, hash @ ..]) = <[u8; 9]>::try_from(store_key) else {
        return Err(format!("a key of {} bytes", store_key.len()));
    };
    let hash = u64::from_be_bytes(hash);
    let mut changes = Changes::default();
    match letter {
        GROUP => {
            let group = OutlookGroup::decode(value).map_err(|error| error.to_string())?;
            changes.groups.push(GroupChange {
                group: hash,
                site: group.site as u64,
                pages: u32::try_from(group.pages).unwrap_or(0),
                oldest_bin: group.first_day,
                first_bin: group.first_day,
                totals: group.totals.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
                per_day: group.per_day,
            });
        }
        CELL => {
            let OutlookCell { site, own_beta_days, plain_beta_days } =
                OutlookCell::decode(value).map_err(|error| error.to_string())?;
            let priors = CellPriors { own_beta_days, plain_beta_days };
            changes.cells.push(CellChange { cell: hash, site: site as u64, priors });
        }
        SITE => {
            let OutlookSite { lead } = OutlookSite::decode(value).map_err(|error| error.to_string())?;
            changes.sites.push(SiteChange { site: hash, lead });
        }
        _ => return Err(format!("a key that begins with {letter}")),
    }
    outlook.apply(&changes).map_err(|error| error.to_string())
}

/// The outlook as the store has it.
pub(crate) fn load(context: &Context<'_>) -> Result<Outlook, ProcessError> {
    let mut outlook = Outlook::default();
    let mut problem = None;
    context.scan(OUTLOOK, b"", &mut |store_key, value| match restore(&mut outlook, store_key, value) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            problem = Some(format!("the outlook in the state store: {error}"));
            ControlFlow::Break(())
        }
    })?;
    problem.map_or(Ok(outlook), |problem| Err(ProcessError::Damaged(problem)))
}

impl Scheduler {
    /// The estimator has learned about sweeps of a site.
    pub(crate) fn take_forecast(
        &mut self,
        forecast: SweepForecast,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let site = Place::of(forecast.site_key.as_str(), "", "/").site;
        let changes = Changes {
            groups: forecast
                .groups
                .into_iter()
                .map(|group| GroupChange {
                    group: group.group as u64,
                    site,
                    pages: u32::try_from(group.pages).unwrap_or(0),
                    oldest_bin: group.oldest_day,
                    first_bin: group.first_day,
                    totals: group.totals,
                    per_day: group.per_day,
                })
                .collect(),
            cells: forecast
                .cells
                .iter()
                .map(|cell| CellChange {
                    cell: cell.cell as u64,
                    site,
                    priors: CellPriors { own_beta_days: cell.own_beta_days, plain_beta_days: cell.plain_beta_days },
                })
                .collect(),
            sites: forecast.lead.map(|lead| SiteChange { site, lead }).into_iter().collect(),
        };
        // What cannot be is left out; what was there stays.
        let applied = self.outlook.apply(&changes);
        for group in &changes.groups {
            if let Some(known) = self.outlook.group(group.group) {
                let record = OutlookGroup {
                    site: known.site as i64,
                    pages: i64::from(known.pages),
                    first_day: known.hazard.first_bin(),
                    totals: known.hazard.totals().iter().flat_map(|total| total.to_le_bytes()).collect(),
                    per_day: known.hazard.per_day() as f32,
                };
                context.put(OUTLOOK, key(GROUP, group.group), record.encode());
            }
        }
        self.hear_of_cells(changes.cells.iter().map(|cell| cell.cell));
        for cell in &changes.cells {
            let CellPriors { own_beta_days, plain_beta_days } = self.outlook.priors(cell.cell);
            let record = OutlookCell { site: site as i64, own_beta_days, plain_beta_days };
            context.put(OUTLOOK, key(CELL, cell.cell), record.encode());
        }
        if forecast.lead.is_some() {
            let record = OutlookSite { lead: self.outlook.lead(site) as f32 };
            context.put(OUTLOOK, key(SITE, site), record.encode());
        }
        if let Err(error) = applied {
            tracing::warn!(site = %forecast.site_key, %error, "a forecast could not be taken in full");
        }
        Ok(())
    }
}

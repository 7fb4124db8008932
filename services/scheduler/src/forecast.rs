//! What the estimator foretells of sweeps: in memory for scoring, in the store for the next life.

use crate::Scheduler;
use crate::state::{OUTLOOK, OutlookCell, OutlookGroup, OutlookKey, OutlookRecord, OutlookSite};
use messages::SweepForecast;
use page::CanonicalUrl;
use stream::{Context, ProcessError};
use sweeps::{CellChange, CellPriors, Changes, GroupChange, Outlook, Place, SiteChange};

/// The place of a page on its site.
pub(crate) fn place_of(url: &CanonicalUrl) -> Place {
    Place::of(url.site_key().as_str(), url.host().as_str(), url.path())
}

/// Takes one entry of the table into an outlook.
pub(crate) fn restore(outlook: &mut Outlook, key: OutlookKey, record: OutlookRecord) -> Result<(), String> {
    let mut changes = Changes::default();
    match (key, record) {
        (OutlookKey::Group(hash), OutlookRecord::Group(group)) => changes.groups.push(GroupChange {
            group: hash,
            site: group.site as u64,
            pages: u32::try_from(group.pages).unwrap_or(0),
            oldest_bin: group.first_day,
            first_bin: group.first_day,
            totals: group.totals.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            per_day: group.per_day,
        }),
        (OutlookKey::Cell(hash), OutlookRecord::Cell(OutlookCell { site, own_beta_days, plain_beta_days })) => {
            let priors = CellPriors { own_beta_days, plain_beta_days };
            changes.cells.push(CellChange { cell: hash, site: site as u64, priors });
        }
        (OutlookKey::Site(hash), OutlookRecord::Site(OutlookSite { lead })) => {
            changes.sites.push(SiteChange { site: hash, lead });
        }
        (key, _) => return Err(format!("the record under {key:?} is another's")),
    }
    outlook.apply(&changes).map_err(|error| error.to_string())
}

/// The outlook as the table has it.
pub(crate) fn load(context: &Context<'_>) -> Result<Outlook, ProcessError> {
    let mut outlook = Outlook::default();
    context.scan(OUTLOOK, b"", &mut |key, record| {
        restore(&mut outlook, key, record).map_err(|error| ProcessError::Damaged(format!("the outlook: {error}")))
    })?;
    Ok(outlook)
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
                context.put(OUTLOOK, &OutlookKey::Group(group.group), &record.into());
            }
        }
        self.hear_of_cells(changes.cells.iter().map(|cell| cell.cell));
        for cell in &changes.cells {
            let CellPriors { own_beta_days, plain_beta_days } = self.outlook.priors(cell.cell);
            let record = OutlookCell { site: site as i64, own_beta_days, plain_beta_days };
            context.put(OUTLOOK, &OutlookKey::Cell(cell.cell), &record.into());
        }
        if forecast.lead.is_some() {
            let record = OutlookSite { lead: self.outlook.lead(site) as f32 };
            context.put(OUTLOOK, &OutlookKey::Site(site), &record.into());
        }
        if let Err(error) = applied {
            tracing::warn!(site = %forecast.site_key, %error, "a forecast could not be taken in full");
        }
        Ok(())
    }
}

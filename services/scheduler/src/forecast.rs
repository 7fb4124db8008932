//! What the estimator foretells of sweeps: in memory for scoring, in the store for the next life.

use crate::Scheduler;
use crate::state::{OUTLOOK, OutlookCell, OutlookGroup, OutlookKey, OutlookRecord, OutlookSite};
use messages::SweepForecast;
use page::CanonicalUrl;
use stream::{Context, ProcessError};
use sweeps::{CellChange, Changes, Outlook, Place, SiteState};

/// The place of a page on its site.
pub(crate) fn place_of(url: &CanonicalUrl) -> Place {
    Place::of(url.site_key().as_str(), url.host().as_str(), url.path())
}

/// Takes one entry of the table into an outlook.
pub(crate) fn restore(outlook: &mut Outlook, key: OutlookKey, record: OutlookRecord) -> Result<(), String> {
    let mut changes = Changes::default();
    match (key, record) {
        (OutlookKey::Group(hash), OutlookRecord::Group(OutlookGroup(group))) if group.group == hash => {
            changes.groups.push(group);
        }
        (OutlookKey::Cell(hash), OutlookRecord::Cell(OutlookCell(cell))) if cell.cell == hash => {
            changes.cells.push(cell);
        }
        (OutlookKey::Site(hash), OutlookRecord::Site(OutlookSite(site))) if site.site == hash => {
            changes.sites.push(site);
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
        let SweepForecast { groups, cells, lead, .. } = forecast;
        let sites = lead.map(|lead| SiteState { site, lead }).into_iter().collect();
        let changes = Changes { groups, cells, sites };
        // What cannot be is left out; what was there stays.
        let applied = self.outlook.apply(&changes);
        for group in &changes.groups {
            if let Some(known) = self.outlook.group_change(group.group) {
                context.put(OUTLOOK, &OutlookKey::Group(group.group), &OutlookGroup(known).into());
            }
        }
        self.hear_of_cells(changes.cells.iter().map(|cell| cell.cell));
        for cell in &changes.cells {
            let known = CellChange { priors: self.outlook.priors(cell.cell), ..*cell };
            context.put(OUTLOOK, &OutlookKey::Cell(cell.cell), &OutlookCell(known).into());
        }
        if lead.is_some() {
            let known = SiteState { site, lead: self.outlook.lead(site) as f32 };
            context.put(OUTLOOK, &OutlookKey::Site(site), &OutlookSite(known).into());
        }
        if let Err(error) = applied {
            tracing::warn!(site = %forecast.site_key, %error, "a forecast could not be taken in full");
        }
        Ok(())
    }
}

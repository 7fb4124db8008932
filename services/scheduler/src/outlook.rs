//! The table of the estimator's sweep forecasts.

use crate::state::{OUTLOOK, OutlookCell, OutlookGroup, OutlookKey, OutlookRecord, OutlookSite};
use frontier::Frontier;
use stream::{Context, ProcessError};
use sweeps::{Changes, OutlookPart};

/// Converts one entry of the table to a change of the outlook.
pub(crate) fn read(key: OutlookKey, record: OutlookRecord) -> Result<Changes, String> {
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
        (key, _) => return Err(format!("the record under {key:?} belongs to another key")),
    }
    Ok(changes)
}

/// Restores the frontier's outlook from the table.
pub(crate) fn load(frontier: &mut Frontier, context: &Context<'_>) -> Result<(), ProcessError> {
    context.scan(OUTLOOK, b"", &mut |key, record| {
        let restored = read(key, record).and_then(|changes| frontier.restore_outlook(&changes));
        restored.map_err(|error| ProcessError::Damaged(format!("the outlook: {error}")))
    })
}

/// Deletes what has no pages any more.
pub(crate) fn delete(gone: Vec<OutlookPart>, context: &mut Context<'_>) {
    for part in gone {
        let key = match part {
            OutlookPart::Group(hash) => OutlookKey::Group(hash),
            OutlookPart::Cell(hash) => OutlookKey::Cell(hash),
            OutlookPart::Site(hash) => OutlookKey::Site(hash),
        };
        context.delete(OUTLOOK, &key);
    }
}

pub(crate) fn write(changes: Changes, context: &mut Context<'_>) {
    for group in changes.groups {
        context.put(OUTLOOK, &OutlookKey::Group(group.group), &OutlookGroup(group).into());
    }
    for cell in changes.cells {
        context.put(OUTLOOK, &OutlookKey::Cell(cell.cell), &OutlookCell(cell).into());
    }
    for site in changes.sites {
        context.put(OUTLOOK, &OutlookKey::Site(site.site), &OutlookSite(site).into());
    }
}

//! Groups, cells and sites without pages leave nothing behind.

use change_rate::LookOutcome::{Changed, Unchanged};
use sweeps::rules::SETTLED_BINS;
use sweeps::{Outlook, OutlookPart, OwnEvidence, PagePlace, SweepModel};

fn place(site: u32, page: u32) -> PagePlace {
    PagePlace::of(
        &format!("s{site}.test"),
        &format!("h{}.s{site}.test", page % 3),
        &format!("/d{}/p{page}.html", page % 2),
    )
}

fn look(model: &mut SweepModel, place: &PagePlace, at_days: f64, changed: bool) {
    let outcome = if changed { Changed } else { Unchanged };
    model.look(place, &mut OwnEvidence::default(), at_days - 1.0, at_days, outcome);
}

/// Takes out a page, also from the outlook that follows the changes.
fn remove(model: &mut SweepModel, reported: &mut Outlook, place: &PagePlace) -> usize {
    let removed = model.remove(place);
    for part in &removed {
        reported.remove(part.hash(), place.site);
    }
    removed.len()
}

#[test]
fn a_model_whose_pages_have_all_gone_is_empty_and_its_numbers_serve_others() {
    let (mut model, mut reported) = (SweepModel::starting_at(0.0), Outlook::default());
    let mut most = 0;
    for site in 0..50 {
        let now = f64::from(site);
        model.advance(now, SETTLED_BINS);
        (0..20).for_each(|page| model.insert(&place(site, page)));
        (0..20).for_each(|page| look(&mut model, &place(site, page), now + 0.5, page % 3 == 0));
        reported.apply(&model.take_changes()).expect("sound");
        let groups = model.outlook().group_count();
        assert!(groups > 2, "{groups}");
        let numbers = (0..u32::MAX).take_while(|number| model.outlook().group_at(*number).is_some()).count();
        most = numbers.max(most);
        assert_eq!(most, groups, "site {site}: a row for each group, and no more");
        let removed: usize = (0..20).map(|page| remove(&mut model, &mut reported, &place(site, page))).sum();
        assert_eq!(removed, groups + 3, "its groups, two cells and the site");
        assert_eq!((model.outlook().len(), reported.len()), (0, 0));
        assert!(place(site, 0).groups.iter().all(|group| model.sizes().get(*group) == 0));
        assert!(model.take_changes().is_empty(), "there is nothing to say of what has gone");
    }
}

#[test]
fn what_still_has_pages_stays_as_it_was() {
    let mut model = SweepModel::starting_at(0.0);
    (0..20).for_each(|page| model.insert(&place(0, page)));
    (0..20).for_each(|page| look(&mut model, &place(0, page), 0.5, true));
    let (site, cell) = (place(0, 0).site, place(0, 0).cell);
    let before = (model.cell_state(cell), model.site_state(site));
    let gone: Vec<OutlookPart> = (1..20).step_by(2).flat_map(|page| model.remove(&place(0, page))).collect();
    let other = place(0, 1);
    assert!(gone.contains(&OutlookPart::Cell(other.cell)) && !gone.contains(&OutlookPart::Site(site)), "{gone:?}");
    assert_eq!((model.cell_state(cell), model.site_state(site)), before);
    assert!(model.group_state(site).is_some() && model.cell_state(other.cell).is_none());
    // It comes back as a cell of which nothing is known.
    model.insert(&other);
    assert_eq!(model.cell_state(other.cell).expect("known").plain.page_days, 0.0);
    assert!(model.cell_order(other.cell) > model.cell_order(cell));
}

#[test]
fn a_site_that_comes_back_is_asked_for_its_groups_again() {
    let mut outlook_of = SweepModel::starting_at(0.0);
    let mut revisions = Vec::new();
    for _ in 0..5 {
        (0..20).for_each(|page| outlook_of.insert(&place(0, page)));
        revisions.push(outlook_of.outlook().site_revision(place(0, 0).site));
        (0..20).for_each(|page| _ = outlook_of.remove(&place(0, page)));
        revisions.push(outlook_of.outlook().site_revision(place(0, 0).site));
    }
    assert!(revisions.is_sorted() && revisions.windows(2).all(|pair| pair[0] != pair[1]), "{revisions:?}");
}

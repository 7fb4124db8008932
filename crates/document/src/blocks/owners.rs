//! Decides whose a fact is: that of the page's main thing, that of another one, or of one among several equal ones.

use super::facts::Fact;
use super::same_page::PageAddresses;
use super::things::{Bond, FactSource, Thing, ThingKey, ThingKind, Things};
use crate::select::FactName;
use crate::stated::folded;

/// Whose a fact is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FactOwner {
    /// The page, or the thing that the page is about.
    #[default]
    Main,
    /// A thing beside it: one of a list, a related product, another kind of price.
    Another,
    /// One of several equal things, of which none is the main one.
    Unclear,
    /// A thing that the part of a watch rule names.
    Chosen,
}

/// The subject of a fact, as far as the page shows which of its things it is about itself.
struct Subject {
    fact: usize,
    /// The outermost thing that is sold, with all its variants; 0 for the page.
    thing: usize,
    source: FactSource,
    kind: ThingKind,
    /// The page names it as its main thing.
    is_declared: bool,
    /// Its address is that of the page.
    has_address: bool,
    /// It is in a list, or related to another thing.
    is_beside: bool,
}

/// The texts that name the page: its title and its first heading.
pub(super) struct PageNames<'p> {
    pub(super) texts: Vec<&'p str>,
    pub(super) addresses: PageAddresses<'p>,
}

/// Sets the owner of each fact.
pub(super) fn assign(facts: &mut [Fact], things: &Things, page: &PageNames<'_>) {
    for kind in FactName::ALL {
        let subjects: Vec<Subject> = (0..facts.len())
            .filter(|fact| kind.has_property(facts[*fact].property()))
            .map(|fact| subject(fact, facts[fact].thing, things, page))
            .collect();
        if subjects.iter().all(|subject| subject.thing == 0) {
            pass_over_other_amounts(facts);
            continue;
        }
        let chosen = choose(&subjects, things, page);
        for (subject, owner) in subjects.iter().zip(chosen) {
            facts[subject.fact].owner = owner;
        }
        pass_over_other_prices(facts, &subjects, things, page);
        pass_over_other_amounts(facts);
    }
}

/// Leaves amounts of `<meta>` that are not what the thing costs to another one: shipping, the price before a sale.
fn pass_over_other_amounts(facts: &mut [Fact]) {
    let of = |fact: &Fact| fact.name.rsplit(':').nth(1).unwrap_or_default().to_owned();
    let is_amount = |fact: &Fact| fact.thing == 0 && fact.property() == "amount";
    let has_sale = facts.iter().any(|fact| is_amount(fact) && of(fact) == "sale_price");
    for fact in facts.iter_mut().filter(|fact| is_amount(fact)) {
        let counts = match of(fact).as_str() {
            "sale_price" => true,
            "price" => !has_sale,
            _ => false,
        };
        fact.owner = if counts { FactOwner::Main } else { FactOwner::Another };
    }
}

fn subject(fact: usize, thing: usize, things: &Things, page: &PageNames<'_>) -> Subject {
    let mut subject = Subject {
        fact,
        thing: 0,
        source: things.get(thing).map_or(FactSource::Meta, |thing| thing.source),
        kind: ThingKind::Page,
        is_declared: false,
        has_address: false,
        is_beside: false,
    };
    for (at, thing) in things.around(thing) {
        subject.is_beside |= thing.kind == ThingKind::List || thing.is_in_frame;
        if thing.kind == ThingKind::Page {
            break;
        }
        if !subject.is_beside {
            let is_outer = matches!(subject.kind, ThingKind::Page | ThingKind::Offer | ThingKind::Untyped);
            if is_outer || thing.kind == ThingKind::Product {
                (subject.thing, subject.kind) = (at, thing.kind);
            }
            subject.has_address |= page.addresses.include(thing);
            subject.is_declared |= thing.bond == Bond::Main || is_declared(thing, page);
        }
        subject.is_beside |= thing.bond == Bond::Beside;
        if subject.thing == 0 {
            (subject.thing, subject.kind) = (at, thing.kind);
        }
    }
    subject
}

fn is_declared(thing: &Thing, page: &PageNames<'_>) -> bool {
    let address = thing.main_of.as_deref().map(|address| address.split('#').next().unwrap_or_default());
    address.is_some_and(|address| address.is_empty() || page.addresses.is_page(address))
}

/// The owner of each subject's fact.
fn choose(subjects: &[Subject], things: &Things, page: &PageNames<'_>) -> Vec<FactOwner> {
    let stages: [&dyn Fn(&Subject) -> bool; 5] = [
        &|subject| subject.is_declared,
        &|subject| subject.has_address,
        &|subject| !subject.is_beside && subject.kind == ThingKind::Product,
        &|subject| !subject.is_beside && subject.kind != ThingKind::Offer && subject.kind != ThingKind::Page,
        &|subject| !subject.is_beside && subject.kind != ThingKind::Page,
    ];
    let candidates = stages.iter().find_map(|is_candidate| {
        let list: Vec<&Subject> = subjects.iter().filter(|subject| is_candidate(subject)).collect();
        (!list.is_empty()).then_some(list)
    });
    let has_page = subjects.iter().any(|subject| subject.kind == ThingKind::Page && !subject.is_beside);
    let candidates = candidates.unwrap_or_else(|| only_beside(subjects, has_page, things));
    let main = if candidates.iter().all(|subject| subject.is_beside && !subject.has_address) {
        None
    } else {
        main_of(&candidates, things, page)
    };
    let owner = |subject: &Subject| {
        let is_page = subject.kind == ThingKind::Page && !subject.is_beside;
        let is_candidate = candidates.iter().any(|other| other.thing == subject.thing);
        let is_same = |main: usize| !subject.is_beside && is_same(main, subject.thing, things);
        match main {
            _ if is_page => FactOwner::Main,
            Some(main) if is_candidate && is_of_main(main, subject, &candidates, things) || is_same(main) => FactOwner::Main,
            None if is_candidate => FactOwner::Unclear,
            Some(_) | None => FactOwner::Another,
        }
    };
    subjects.iter().map(owner).collect()
}

/// The things of a page that has nothing but a list of them: all are equal. One alone is beside what the page is about.
fn only_beside<'s>(subjects: &'s [Subject], has_page: bool, things: &Things) -> Vec<&'s Subject> {
    let list = distinct(subjects.iter().map(|subject| subject.thing), things).unwrap_or_default();
    if has_page || list.len() < 2 { Vec::new() } else { subjects.iter().collect() }
}

/// The main thing among candidates: the only one of a form of data, or the only one that the page is named after.
fn main_of(candidates: &[&Subject], things: &Things, page: &PageNames<'_>) -> Option<usize> {
    let of = |source| distinct(candidates.iter().filter(|subject| subject.source == source).map(|one| one.thing), things);
    let sources = [FactSource::JsonLd, FactSource::Microdata, FactSource::Rdfa];
    if let Some(main) = sources.into_iter().find_map(|source| of(source).filter(|list| list.len() == 1)) {
        return main.first().copied();
    }
    let all = distinct(candidates.iter().map(|subject| subject.thing), things)?;
    let mut named = all.iter().filter(|thing| is_page_named_after(**thing, things, page));
    named.next().copied().filter(|_| named.next().is_none())
}

/// The candidates without repetitions. `None` if there are none.
fn distinct(candidates: impl Iterator<Item = usize>, things: &Things) -> Option<Vec<usize>> {
    let mut list: Vec<usize> = Vec::new();
    for candidate in candidates {
        if !list.iter().any(|known| is_same(*known, candidate, things)) {
            list.push(candidate);
        }
    }
    (!list.is_empty()).then_some(list)
}

/// Whether a candidate is the main thing, which another form of data may call otherwise: there it is the only one.
fn is_of_main(main: usize, subject: &Subject, candidates: &[&Subject], things: &Things) -> bool {
    let is_other_form = things.get(main).is_some_and(|thing| thing.source != subject.source);
    let of_form = candidates.iter().filter(|other| other.source == subject.source);
    let is_only = || distinct(of_form.map(|other| other.thing), things).is_some_and(|list| list.len() == 1);
    is_same(main, subject.thing, things) || (is_other_form && is_only())
}

/// Whether two things are one: by their numbers, or where one has none by their names.
fn is_same(one: usize, other: usize, things: &Things) -> bool {
    if one == other {
        return true;
    }
    let (Some(one), Some(other)) = (things.get(one), things.get(other)) else { return false };
    for key in [ThingKey::Sku, ThingKey::Id, ThingKey::Name] {
        let has = |thing: &Thing| thing.name(key).is_some();
        if has(one) && has(other) && (key != ThingKey::Id || one.source == other.source) {
            return one.names.iter().any(|(known, name)| *known == key && other.is_named(key, name));
        }
    }
    false
}

/// Whether the title or the first heading is the name of the thing, or begins with it.
fn is_page_named_after(thing: usize, things: &Things, page: &PageNames<'_>) -> bool {
    let Some(name) = things.get(thing).and_then(|thing| thing.name(ThingKey::Name)).map(folded) else { return false };
    let is_begun = |text: &&str| {
        let text = folded(text);
        let rest = text.strip_prefix(&name);
        !name.is_empty() && rest.is_some_and(|rest| rest.trim_start().chars().next().is_none_or(|sign| !sign.is_alphanumeric()))
    };
    page.texts.iter().any(is_begun)
}

/// Of the facts of the main thing, leaves those of other prices and of used goods to another one, and those of other
/// variants than the one that has the page's address.
fn pass_over_other_prices(facts: &mut [Fact], subjects: &[Subject], things: &Things, page: &PageNames<'_>) {
    let mains: Vec<usize> =
        subjects.iter().map(|subject| subject.fact).filter(|fact| facts[*fact].owner == FactOwner::Main).collect();
    let any = |is: &dyn Fn(&Thing) -> bool, fact: usize| things.around(facts[fact].thing).any(|(_, thing)| is(thing));
    let is_of_page = |fact: usize| any(&|thing| page.addresses.is_exactly(thing), fact);
    let with_price = |fact: usize| {
        let outer = things.around(facts[fact].thing).find(|(_, thing)| thing.bond == Bond::Detail).map(|(_, thing)| thing.outer);
        outer.is_some_and(|outer| mains.iter().any(|other| facts[*other].thing == outer))
    };
    let tests: [Box<dyn Fn(usize) -> bool + '_>; 4] = [
        Box::new(|fact| any(&|thing| thing.is_no_price, fact)),
        Box::new(|fact| with_price(fact)),
        Box::new(|fact| any(&|thing| thing.is_used, fact)),
        Box::new(|fact| things.get(facts[fact].thing).is_some() && facts[fact].thing > 0 && !is_of_page(fact)),
    ];
    let mut kept = mains.clone();
    for test in tests {
        let rest: Vec<usize> = kept.iter().copied().filter(|fact| !test(*fact)).collect();
        // Where all are of that sort, they are what the page has.
        if !rest.is_empty() && rest.iter().any(|fact| facts[*fact].thing > 0) {
            kept = rest;
        }
    }
    for fact in mains.into_iter().filter(|fact| !kept.contains(fact)) {
        facts[fact].owner = FactOwner::Another;
    }
}

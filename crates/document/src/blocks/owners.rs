//! Decides whose a fact is: that of the page's main thing, that of another one, or of one among several equal ones.

use crate::blocks::block::{Blocks, StatedValue};
use crate::blocks::fact_owner::FactOwner;
use crate::blocks::same_page::PageAddresses;
use crate::blocks::things::{Bond, FactSource, Thing, ThingKey, ThingKind, Things};
use crate::hash::text_hash;
use crate::select::FactName;
use crate::stated::folded;

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
    /// Its id is a part of the page.
    has_part: bool,
    /// It is in a list, or related to another thing.
    is_beside: bool,
}

impl Subject {
    /// Whether the page says it of itself.
    fn is_of_page(&self) -> bool {
        self.kind == ThingKind::Page && !self.is_beside
    }
}

/// The texts that name the page, in lower case, and its addresses.
struct PageNames<'p> {
    texts: Vec<String>,
    addresses: PageAddresses<'p>,
}

impl<'p> PageNames<'p> {
    fn of(blocks: &'p Blocks) -> Self {
        let title = blocks.stated.iter().find(|stated| stated.name == "title").map(|stated| stated.block);
        let heading = blocks.list.iter().position(|block| block.heading_rank == 1);
        let texts = title.into_iter().chain(heading).map(|block| folded(blocks.text(&blocks.list[block])));
        let [own, other] = &blocks.addresses;
        let declared = blocks.canonical.iter().chain(other).map(String::as_str).collect();
        Self { texts: texts.collect(), addresses: PageAddresses { own: own.as_deref(), declared } }
    }
}

/// The owner of each stated value of a page.
pub(super) fn of(blocks: &Blocks) -> Vec<FactOwner> {
    let (facts, things) = (&blocks.stated, &blocks.things);
    let mut owners = vec![FactOwner::Main; facts.len()];
    let page = PageNames::of(blocks);
    for kind in FactName::ALL {
        let of_kind = (0..facts.len()).filter(|fact| kind.has_property(facts[*fact].property()));
        let subjects: Vec<Subject> = of_kind.map(|fact| subject(fact, facts[fact].thing, things, &page)).collect();
        if subjects.iter().any(|subject| subject.thing > 0) {
            let chosen = choose(&subjects, things, &page);
            for (subject, owner) in subjects.iter().zip(chosen) {
                owners[subject.fact] = owner;
            }
            pass_over_other_prices((facts, &mut owners), &subjects, things, &page);
        }
    }
    pass_over_other_amounts(facts, &mut owners);
    owners
}

/// Leaves amounts of `<meta>` that are not what the thing costs to another one: shipping, the price before a sale.
fn pass_over_other_amounts(facts: &[StatedValue], owners: &mut [FactOwner]) {
    let of = |fact: &StatedValue| match fact.name.strip_suffix(":amount") {
        Some(name) if fact.thing == 0 => name.rsplit(':').next().map(str::to_owned),
        Some(_) | None => None,
    };
    let has_sale = facts.iter().any(|fact| of(fact).is_some_and(|name| name == "sale_price"));
    for (fact, owner) in facts.iter().zip(owners) {
        match of(fact).as_deref() {
            None | Some("sale_price") => {}
            Some("price") if !has_sale => {}
            Some(_) => *owner = FactOwner::Another,
        }
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
        has_part: false,
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
            subject.has_part |= page.addresses.include_part(thing);
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
    let groups = groups(subjects, things);
    let candidates = candidates(subjects, &groups);
    let only = SOURCES.map(|source| only_group(&candidates, &groups, |index| subjects[index].source == source));
    let is_listed = candidates.iter().all(|index| subjects[*index].is_beside && !subjects[*index].has_address);
    let main = if is_listed { None } else { main_group(&candidates, &groups, &only, subjects, things, page) };
    let owner = |index: usize| {
        let (subject, group) = (&subjects[index], groups[index]);
        let is_candidate = candidates.binary_search(&index).is_ok();
        // Another form of data may call the main thing otherwise: there it is the only one.
        let is_only = is_candidate && only.contains(&Some(group));
        match main {
            _ if subject.is_of_page() => FactOwner::Main,
            Some(main) if main == group && (is_candidate || !subject.is_beside) => FactOwner::Main,
            Some(main) if is_only && subjects[main].source != subject.source => FactOwner::Main,
            None if is_candidate => FactOwner::Unclear,
            Some(_) | None => FactOwner::Another,
        }
    };
    (0..subjects.len()).map(owner).collect()
}

/// The forms of data that are about things, the one that counts most first.
const SOURCES: [FactSource; 3] = [FactSource::JsonLd, FactSource::Microdata, FactSource::Rdfa];

/// For each subject, the index of the first one that is about the same thing.
fn groups(subjects: &[Subject], things: &Things) -> Vec<usize> {
    let mut known: Vec<(usize, Identity)> = Vec::new();
    let group = |(index, subject): (usize, &Subject)| {
        let own = Identity::of(subject.thing, things);
        let first = known.iter().find(|(_, other)| own.is_of(other)).map(|(first, _)| *first);
        first.unwrap_or_else(|| {
            known.push((index, own));
            index
        })
    };
    subjects.iter().enumerate().map(group).collect()
}

/// The names by which a thing is known, as hashes.
struct Identity {
    thing: usize,
    source: Option<FactSource>,
    /// Its numbers, its ids and its names.
    names: [Vec<u64>; 3],
}

impl Identity {
    fn of(thing: usize, things: &Things) -> Self {
        let found = things.get(thing).filter(|_| thing > 0);
        let names = [ThingKey::Sku, ThingKey::Id, ThingKey::Name].map(|key| {
            let names = found.iter().flat_map(|found| &found.names).filter(|(known, _)| *known == key);
            names.map(|(_, name)| text_hash(folded(name).as_bytes())).collect()
        });
        Self { thing, source: found.map(|found| found.source), names }
    }

    /// Whether two things are one: by their numbers, or where one has none by their ids or names. Ids are those of one form
    /// of data.
    fn is_of(&self, other: &Self) -> bool {
        let [sku, id, name] = [0, 1, 2].map(|key| {
            let (own, others) = (&self.names[key], &other.names[key]);
            let is_known = !own.is_empty() && !others.is_empty();
            is_known.then(|| own.iter().any(|name| others.contains(name)))
        });
        let id = id.filter(|_| self.source == other.source);
        self.thing == other.thing || sku.or(id).or(name).unwrap_or(false)
    }
}

/// The subjects that may be the main one: the first kind of them that there is.
fn candidates(subjects: &[Subject], groups: &[usize]) -> Vec<usize> {
    let stages: [fn(&Subject) -> bool; 5] = [
        |subject| subject.is_declared,
        |subject| subject.has_address,
        |subject| !subject.is_beside && subject.kind == ThingKind::Product,
        |subject| !subject.is_beside && !matches!(subject.kind, ThingKind::Offer | ThingKind::Page),
        |subject| !subject.is_beside && subject.kind != ThingKind::Page,
    ];
    let all = |is: &fn(&Subject) -> bool| (0..subjects.len()).filter(|index| is(&subjects[*index])).collect::<Vec<_>>();
    let found = stages.iter().map(all).find(|list| !list.is_empty());
    found.unwrap_or_else(|| {
        // A page that has nothing but a list of things: all are equal. One alone is beside what the page is about.
        let is_list = !subjects.iter().any(Subject::is_of_page) && groups.iter().any(|group| *group != groups[0]);
        if is_list { (0..subjects.len()).collect() } else { Vec::new() }
    })
}

/// The thing of candidates, if they are all about one.
fn only_group(candidates: &[usize], groups: &[usize], is_counted: impl Fn(usize) -> bool) -> Option<usize> {
    let mut counted = candidates.iter().filter(|index| is_counted(**index)).map(|index| groups[*index]);
    let first = counted.next()?;
    counted.all(|group| group == first).then_some(first)
}

/// The main thing among candidates: the only one of a form of data, or whose id is a part of the page, or that the page is
/// named after.
fn main_group(
    candidates: &[usize],
    groups: &[usize],
    only: &[Option<usize>],
    subjects: &[Subject],
    things: &Things,
    page: &PageNames<'_>,
) -> Option<usize> {
    if let Some(main) = only.iter().flatten().next() {
        return Some(*main);
    }
    let of_page: Vec<usize> = candidates.iter().copied().filter(|index| subjects[*index].has_part).collect();
    if let Some(main) = only_group(&of_page, groups, |_| true) {
        return Some(main);
    }
    let named = |index: usize| groups[index] == index && is_page_named_after(subjects[index].thing, things, page);
    let named: Vec<usize> = candidates.iter().map(|index| groups[*index]).filter(|group| named(*group)).collect();
    only_group(&named, groups, |_| true)
}

/// Whether the title or the first heading is the name of the thing, or begins with it.
fn is_page_named_after(thing: usize, things: &Things, page: &PageNames<'_>) -> bool {
    let Some(name) = things.get(thing).and_then(|thing| thing.name(ThingKey::Name)).map(folded) else { return false };
    let is_begun = |text: &String| {
        let rest = text.strip_prefix(&name);
        !name.is_empty()
            && rest.is_some_and(|rest| rest.trim_start().chars().next().is_none_or(|sign| !sign.is_alphanumeric()))
    };
    page.texts.iter().any(is_begun)
}

/// Leaves the main thing's facts of other prices and of used goods to another one, and those of other
/// variants than the one that has the page's address.
fn pass_over_other_prices(
    (facts, owners): (&[StatedValue], &mut [FactOwner]),
    subjects: &[Subject],
    things: &Things,
    page: &PageNames<'_>,
) {
    let mains: Vec<usize> =
        subjects.iter().map(|subject| subject.fact).filter(|fact| owners[*fact] == FactOwner::Main).collect();
    let any = |is: &dyn Fn(&Thing) -> bool, fact: usize| things.around(facts[fact].thing).any(|(_, thing)| is(thing));
    let is_of_page = |fact: usize| any(&|thing| page.addresses.is_exactly(thing), fact);
    let with_price = |fact: usize| {
        let outer = things
            .around(facts[fact].thing)
            .find(|(_, thing)| thing.bond == Bond::Detail)
            .map(|(_, thing)| thing.outer);
        outer.is_some_and(|outer| mains.iter().any(|other| facts[*other].thing == outer))
    };
    let tests: [Box<dyn Fn(usize) -> bool + '_>; 4] = [
        Box::new(|fact| any(&|thing| thing.is_no_price, fact)),
        Box::new(with_price),
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
        owners[fact] = FactOwner::Another;
    }
}

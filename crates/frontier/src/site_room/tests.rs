use super::*;
use page::Timestamp;
use revisit::columns::{LastLook, PageEntry, PageStatus};
use sweeps::PagePlace;

/// Pages by the numbers of their slots, and how often all of them were looked at.
struct Room {
    room: SiteRoom,
    columns: PageColumns,
    ids: Rows<PageId>,
}

impl Room {
    /// Sites, each with a number of pages. The first page is worth 1, the next 2, and so on.
    fn of(sites: &[(&str, usize)]) -> Self {
        let mut room = Self { room: SiteRoom::default(), columns: PageColumns::default(), ids: Rows::default() };
        for (site, pages) in sites {
            for number in 0..*pages {
                room.add(site, Some(1.0 + number as f32));
            }
        }
        room
    }

    fn add(&mut self, site: &str, at_stake: Option<f32>) -> Slot {
        let place = place(site);
        let entry = PageEntry {
            last_look: LastLook::Discovered(Timestamp::MIN),
            belief: Default::default(),
            weight: 1.0,
            host: 0,
            status: PageStatus::Ready,
        };
        let slot = self.columns.insert(&entry, &place);
        *self.ids.at(slot.index(), PageId([0; 16])) = PageId((self.columns.len() as u128).to_be_bytes());
        self.room.count(place.site);
        self.room.set(slot, place.site, at_stake.map(Worth::from_value));
        slot
    }

    fn next(&mut self, newcomer: Newcomer, max_pages: u64) -> Option<Slot> {
        let slot = self.room.next(newcomer, max_pages, &self.ids, &self.columns)?;
        let site = self.columns.place(slot).unwrap().site;
        self.room.leave(slot, site);
        Some(slot)
    }

    fn pages(&self, site: &str) -> u64 {
        self.room.pages_of(place(site).site)
    }
}

fn place(site: &str) -> PagePlace {
    PagePlace::of(site, site, "/")
}

fn of_site(site: &str) -> Newcomer {
    Newcomer::OfSite(place(site).site)
}

#[test]
fn for_seeds_the_poorest_page_of_the_largest_site_goes() {
    let mut room = Room::of(&[("a.test", 3), ("b.test", 6), ("c.test", 1)]);
    let gone: Vec<usize> = (0..5).map(|_| room.next(Newcomer::Seed, 10).unwrap().index()).collect();
    // Of sites with as many pages, either goes first.
    assert_eq!(gone[..3], [3, 4, 5]);
    assert_eq!((room.pages("a.test"), room.pages("b.test"), room.pages("c.test")), (2, 2, 1));
    assert!((0..5).all(|_| room.next(Newcomer::Seed, 10).is_some()));
    assert_eq!(room.next(Newcomer::Seed, 10), None, "none is left");
}

#[test]
fn a_smaller_site_gets_room_until_both_have_as_many_or_what_stays_is_reached() {
    let mut room = Room::of(&[("large.test", 9)]);
    let mut late = 0;
    while room.next(of_site("late.test"), 9).is_some() {
        room.add("late.test", Some(1.0));
        late += 1;
    }
    assert_eq!((late, room.pages("large.test")), (4, 5));
    assert_eq!(room.next(of_site("large.test"), 9), None);
    assert_eq!(Room::of(&[("large.test", 9)]).next(of_site("late.test"), 900), None, "a hundredth stays");
    assert!(Room::of(&[("large.test", 10)]).next(of_site("late.test"), 900).is_some());
}

/// The site of the queue may have given all that it has to give while another has become larger.
#[test]
fn another_site_gives_room_when_that_of_the_queue_no_longer_does() {
    let mut room = Room::of(&[("first.test", 40)]);
    (0..7).for_each(|_| assert!(room.next(Newcomer::Seed, 130).is_some()));
    assert_eq!((room.room.queue.len(), room.pages("first.test")), (1, 33));
    for _ in 0..50 {
        room.add("second.test", Some(0.5));
    }
    for _ in 0..33 {
        room.add("late.test", None);
    }
    let given = room.next(of_site("late.test"), 130).unwrap();
    assert!((40..90).contains(&given.index()), "{given:?}");
    assert_eq!((room.pages("first.test"), room.pages("second.test")), (33, 49));
    assert_eq!(room.next(of_site("second.test"), 130), None);
    assert!(room.next(of_site("late.test"), 130).is_some(), "the refusal left all as it was");
}

#[test]
fn a_page_that_leaves_is_chosen_once_and_one_that_has_become_richer_stays() {
    let mut room = Room::of(&[("a.test", 64)]);
    let first = room.next(Newcomer::Seed, 64).unwrap();
    // Its record is written once more before it is gone.
    room.room.set(first, place("a.test").site, Some(Worth::from_value(0.0)));
    let second = Slot::new(1);
    room.room.set(second, place("a.test").site, Some(Worth::from_value(99.0)));
    let next = room.next(Newcomer::Seed, 64).unwrap();
    assert_eq!((first.index(), next.index(), room.pages("a.test")), (0, 2, 62));
    room.room.remove(first, place("a.test").site);
    assert_eq!(room.pages("a.test"), 62);
}

#[test]
fn seeds_cost_few_passes_also_where_every_site_has_one_page() {
    let sites: Vec<String> = (0..3_200).map(|number| format!("s{number}.test")).collect();
    let mut room = Room::of(&sites.iter().map(|site| (site.as_str(), 1)).collect::<Vec<_>>());
    assert!(room.next(Newcomer::Seed, 3_200).is_some());
    assert_eq!(room.room.queue.len(), 99, "one pass has chosen a thirty-second of all");
    // What cannot be given is refused without a pass, and the queue stays.
    assert_eq!(room.next(of_site("late.test"), 3_200), None);
    assert_eq!(room.room.queue.len(), 99);
}

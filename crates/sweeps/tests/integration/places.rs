//! Where a page stands on its site, and which of its groups count.

use proptest::prelude::*;
use sweeps::{GroupKind, GroupSet, GroupSizes, PagePlace};

fn group(place: &PagePlace, kind: GroupKind) -> u64 {
    place.groups[kind as usize]
}

#[test]
fn groups_are_shared_by_what_they_name() {
    let add = PagePlace::of("git.test", "docs.git.test", "/book/en/git-add.html");
    let add_text = PagePlace::of("git.test", "docs.git.test", "/book/en/git-add.txt");
    let rm = PagePlace::of("git.test", "www.git.test", "/book/de/git-rm.html");
    let shared = |a: &PagePlace, b: &PagePlace| -> Vec<GroupKind> {
        GroupKind::ALL.into_iter().filter(|kind| group(a, *kind) == group(b, *kind)).collect()
    };
    use GroupKind::{Directory, FileName, FileType, Host, Site, Subdirectory};
    assert_eq!(shared(&add, &add_text), [Site, Host, Directory, Subdirectory, FileName]);
    assert_eq!(shared(&add, &rm), [Site, FileType]);
    assert_eq!(add.site, group(&rm, Site));
    // A cell is a site's directory and file type, whatever the host.
    assert_eq!(add.cell, rm.cell);
    assert_ne!(add.cell, add_text.cell);
}

#[test]
fn a_page_outside_any_directory_has_no_group_of_one() {
    let top = PagePlace::of("a.test", "a.test", "/index.html");
    let missing: Vec<GroupKind> = GroupKind::ALL.into_iter().filter(|kind| group(&top, *kind) == 0).collect();
    assert_eq!(missing, [GroupKind::Directory, GroupKind::Subdirectory, GroupKind::DirectoryFileType]);
    let nameless = PagePlace::of("a.test", "a.test", "//index.html");
    assert_eq!(nameless, top, "leading slashes do not make a directory");
    assert_ne!(PagePlace::of("a.test", "a.test", "/d/index.html").cell, top.cell);
}

#[test]
fn all_kinds_have_hashes_of_their_own() {
    let place = PagePlace::of("x", "x", "/x/x/x");
    let mut hashes: Vec<u64> = place.groups.into_iter().chain([place.cell]).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), GroupKind::ALL.len() + 1);
}

#[test]
fn small_groups_do_not_count_and_groups_of_one_size_count_once() {
    let page = |i: usize| PagePlace::of("a.test", "a.test", &format!("/d/e/page{i}.html"));
    let mut sizes = GroupSizes::default();
    let names = |sizes: &GroupSizes, place: &PagePlace| sizes.groups_of(place).as_slice().to_vec();
    for i in 0..7 {
        sizes.insert(&page(i));
    }
    // Three pages make a host.
    assert_eq!(names(&sizes, &page(0)), [group(&page(0), GroupKind::Host)]);
    sizes.insert(&page(7));
    assert_eq!(names(&sizes, &page(0)), [page(0).site]);
    let elsewhere = |i: usize| PagePlace::of("a.test", "b.a.test", &format!("/other{i}/page0.html"));
    (0..3).for_each(|i| sizes.insert(&elsewhere(i)));
    // The site has eleven, the host and all in it eight, the file name four.
    assert_eq!(sizes.get(page(0).site), 11);
    let expected = [page(0).site, group(&page(0), GroupKind::Host), group(&page(0), GroupKind::FileName)];
    assert_eq!(names(&sizes, &page(0)), expected);
    (0..3).for_each(|i| sizes.remove(&elsewhere(i)));
    assert_eq!(names(&sizes, &page(0)), [page(0).site]);
}

#[test]
fn sizes_take_little_room() {
    let mut sizes = GroupSizes::default();
    let pages = 200_000;
    for i in 0..pages {
        sizes.insert(&PagePlace::of("a.test", "a.test", &format!("/d{}/page{i}.html", i % 100)));
    }
    assert!(sizes.bytes() <= 20 * pages, "{} bytes a page", sizes.bytes() as f64 / pages as f64);
    assert_eq!(sizes.get(PagePlace::of("a.test", "a.test", "/d7/").groups[GroupKind::Directory as usize]), 2_000);
}

proptest! {
    #[test]
    fn sizes_are_those_of_a_plain_count(steps in prop::collection::vec((any::<bool>(), 0..40_u64), 0..600)) {
        let mut sizes = GroupSizes::default();
        let mut counts = std::collections::HashMap::<u64, u32>::new();
        // Hashes that land on neighbouring slots.
        let hash = |key: u64| key << 26 | 1;
        for (insert, key) in steps {
            let place = PagePlace { site: hash(key), cell: hash(200), groups: [hash(key), 0, 0, 0, 0, 0, hash(key / 2 + 100)] };
            for group in [place.groups[0], place.groups[6], place.cell] {
                let count = counts.entry(group).or_default();
                *count = if insert { *count + 1 } else { count.saturating_sub(1) };
            }
            if insert { sizes.insert(&place) } else { sizes.remove(&place) }
            for (group, count) in &counts {
                prop_assert_eq!(sizes.get(*group), *count);
            }
        }
    }

    #[test]
    fn chosen_groups_have_enough_pages_and_different_sizes(sizes in prop::collection::vec(0..20_u32, 7)) {
        let place = PagePlace { site: 1, cell: 1, groups: [1, 2, 3, 4, 5, 6, 7] };
        let set = GroupSet::of(&place, |group| sizes[group as usize - 1]);
        let chosen: Vec<u32> = set.as_slice().iter().map(|group| sizes[*group as usize - 1]).collect();
        for (i, size) in chosen.iter().enumerate() {
            prop_assert!(*size >= 3 && !chosen[..i].contains(size));
        }
        for (i, size) in sizes.iter().enumerate() {
            let least = if i == 1 || i == 6 { 3 } else { 8 };
            prop_assert!(*size < least || chosen.contains(size));
        }
    }
}

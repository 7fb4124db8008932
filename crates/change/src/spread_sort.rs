//! Sorts by evenly spread numbers, such as hashes, and by small numbers.

/// Bits per pass. Two passes sort by the highest 16 bits.
const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Fewer items than this are sorted by comparison.
const MIN_ITEMS: usize = 64;

/// Sorts stably by evenly spread numbers: a radix sort by their highest bits, then an insertion sort. Numbers that are
/// not evenly spread are sorted correctly too, only slower.
pub(crate) fn sorted_evenly_spread<T: Copy>(mut items: Vec<T>, number: impl Fn(&T) -> u64) -> Vec<T> {
    if items.len() < MIN_ITEMS {
        items.sort_by_key(number);
        return items;
    }
    let digit = |item: &T, shift: u32| (number(item) >> shift) as usize % DIGITS;
    let shifts = [u64::BITS - 2 * DIGIT_BITS, u64::BITS - DIGIT_BITS];
    let mut counts = [[0_usize; DIGITS]; 2];
    for item in &items {
        for (counts, shift) in counts.iter_mut().zip(shifts) {
            counts[digit(item, shift)] += 1;
        }
    }
    let mut others = items.clone();
    for (counts, shift) in counts.iter_mut().zip(shifts) {
        let mut next = 0;
        for count in counts.iter_mut() {
            // The start of each bucket becomes the place of its next item.
            next += std::mem::replace(count, next);
        }
        for item in &items {
            let place = &mut counts[digit(item, shift)];
            others[*place] = *item;
            *place += 1;
        }
        std::mem::swap(&mut items, &mut others);
    }
    sort_neighbours(&mut items, number);
    items
}

/// Merges two sorted lists. Equal numbers keep their order, the first list in front.
pub(crate) fn merged<T: Copy>(first: &[T], second: &[T], number: impl Fn(&T) -> u64) -> Vec<T> {
    let mut all = Vec::with_capacity(first.len() + second.len());
    let mut rest = first;
    for item in second {
        let is_behind = |other: &T| number(other) > number(item);
        let (before, after) = rest.split_at(rest.iter().position(is_behind).unwrap_or(rest.len()));
        all.extend_from_slice(before);
        all.push(*item);
        rest = after;
    }
    all.extend_from_slice(rest);
    all
}

/// Sorts stably by the number of a group. All numbers must be less than `groups`.
pub(crate) fn grouped<T: Copy>(items: Vec<T>, groups: usize, group: impl Fn(&T) -> usize) -> Vec<T> {
    let mut places = vec![0_u32; groups + 1];
    items.iter().for_each(|item| places[group(item) + 1] += 1);
    for group in 1..places.len() {
        places[group] += places[group - 1];
    }
    let mut sorted = items.clone();
    for item in items {
        let place = &mut places[group(&item)];
        sorted[*place as usize] = item;
        *place += 1;
    }
    sorted
}

/// Sorts a nearly sorted list. The standard library detects sorted runs, but not this.
fn sort_neighbours<T: Copy>(items: &mut [T], number: impl Fn(&T) -> u64) {
    let mut moves = 0;
    for end in 1..items.len() {
        let item = items[end];
        let mut place = end;
        while place > 0 && number(&items[place - 1]) > number(&item) {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
        moves += end - place;
        if moves > 8 * items.len() {
            return items.sort_by_key(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(numbers: &[u64]) -> Result<(), TestCaseError> {
        let items: Vec<(u64, usize)> = numbers.iter().copied().zip(0..).collect();
        let mut expected = items.clone();
        expected.sort();
        prop_assert_eq!(sorted_evenly_spread(items, |item| item.0), expected);
        Ok(())
    }

    proptest! {
        #[test]
        fn sorting_agrees_with_the_standard_library(numbers in proptest::collection::vec(any::<u64>(), 0..600)) {
            check(&numbers)?;
        }

        #[test]
        fn sorted_lists_are_merged(
            mut first in proptest::collection::vec(0_u64..50, 0..60),
            mut second in proptest::collection::vec(0_u64..50, 0..60),
        ) {
            first.sort_unstable();
            second.sort_unstable();
            let of = |numbers: &[u64], list: u8| numbers.iter().map(|number| (*number, list)).collect::<Vec<_>>();
            let (one, two) = (of(&first, 1), of(&second, 2));
            let mut expected = [one.clone(), two.clone()].concat();
            expected.sort();
            prop_assert_eq!(merged(&one, &two, |item| item.0), expected);
        }

        #[test]
        fn numbers_in_one_drawer_are_sorted_too_and_equal_ones_stay_in_order(
            numbers in proptest::collection::vec(0u64..1_000, 0..600)
        ) {
            check(&numbers)?;
        }
    }
}

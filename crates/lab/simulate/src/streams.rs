//! Random numbers that do not depend on the order of events: every number is a function of the run's seed, a page (or
//! host), a purpose, and its position in that stream.
//!
//! The generator is PCG XSL RR 128/64 (O'Neill, HMC-CS-2014-0905), with one stream per page and purpose, seeded by
//! splitmix64(run seed ^ splitmix64(page)) (F2 of the algorithm notes). It can jump to any position of its stream, so a
//! page needs only a count of the numbers drawn, and no generator of its own. Policies that look at different times
//! meet the same changes, and threads cannot disturb each other.

pub use chance::Draws;

use chance::splitmix64;
use rand_pcg::{Pcg64, rand_core::Rng};

/// The purposes of random numbers: each has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Times of changes.
    Changes = 0,
    /// Deviations of a look's findings from the truth.
    Signals = 1,
    Importance = 2,
    /// Random choices of a policy.
    Policy = 3,
    ChangeRate = 4,
    /// Times and factors of a page's changes of habit.
    Regimes = 5,
    /// Bulk changes of a host, and the change rate of its pages.
    Host = 6,
    /// Whether a page takes part in a bulk change.
    Bulks = 7,
    /// Statements of lists about their pages.
    Lists = 8,
}

/// One stream of random numbers. Uniform ones exclude both ends of 0..1.
#[derive(Clone, Debug)]
pub struct RandomStream(Pcg64);

impl RandomStream {
    /// The stream of a page (or host) for a purpose.
    pub fn new(run_seed: u64, subject: u64, purpose: Purpose) -> Self {
        let seed = splitmix64(run_seed ^ splitmix64(subject));
        Self(Pcg64::new(u128::from(seed) << 64 | u128::from(splitmix64(seed)), purpose as u128))
    }

    /// The same stream, advanced by this many numbers.
    #[must_use]
    pub fn skip(mut self, numbers: u64) -> Self {
        self.0.advance(u128::from(numbers));
        self
    }
}

impl Draws for RandomStream {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn uniform(&mut self) -> f64 {
        self.midpoint()
    }

    fn positive(&mut self) -> f64 {
        self.midpoint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_give_the_numbers_of_earlier_figures() {
        let mut stream = RandomStream::new(7, 12, Purpose::Signals);
        assert_eq!([stream.bits(), stream.bits()], [0x35c3_a220_c191_3470, 0xd56d_db13_4a6c_76e5]);
        stream = RandomStream::new(7, 12, Purpose::Signals).skip(2);
        assert_eq!(stream.bits(), 0xe217_9bcd_504e_ff66);
        let mut check = |expected: [f64; 2], draw: fn(&mut RandomStream) -> f64| {
            assert_eq!([draw(&mut stream), draw(&mut stream)], expected);
        };
        check([0.20642963610827808, 0.7624004246941136], Draws::uniform);
        check([1.4309252078920172, 0.19349499327933783], Draws::exponential);
        check([-0.3923026090580653, 0.7420418311677183], Draws::normal);
        check([17.85506323736124, 3.626120266866682], |stream| stream.pareto(1.5));
        assert_eq!([stream.gamma(0.4), stream.gamma(3.0)], [0.007273358704997573, 3.6427557489056177]);
    }
}

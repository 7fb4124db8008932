//! Random numbers that do not depend on the order of events: every number is a function of the run's seed, a page (or
//! host), a purpose, and its position in that stream.
//!
//! The generator is PCG XSL RR 128/64 (O'Neill, HMC-CS-2014-0905), with one stream per page and purpose, seeded by
//! splitmix64(run seed ^ splitmix64(page)) (F2 of the algorithm notes). It can jump to any position of its stream, so a
//! page needs only a count of the numbers drawn, and no generator of its own. Policies that look at different times
//! meet the same changes, and threads cannot disturb each other.

/// The purposes of random numbers: each has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Times of changes.
    Changes = 0,
    /// Deviations of what a look shows from the truth.
    Signals = 1,
    /// Importance of a page.
    Importance = 2,
    /// Random choices of a policy.
    Policy = 3,
    /// Change rate of a page.
    ChangeRate = 4,
    /// Times and factors of a page's changes of habit.
    Regimes = 5,
    /// Bulk changes of a host, and the change rate of its pages.
    Host = 6,
    /// Whether a page takes part in a bulk change.
    Bulks = 7,
    /// What lists say.
    Lists = 8,
}

/// Spreads the bits of a number over all 64 (Steele, Lea & Flood, OOPSLA 2014).
pub fn splitmix64(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// Multiplier, and factor of the increment, for 2^i steps at once.
const JUMPS: [(u128, u128); 64] = {
    let mut jumps = [(MULTIPLIER, 1); 64];
    let mut i = 1;
    while i < 64 {
        let (multiplier, factor) = jumps[i - 1];
        jumps[i] = (multiplier.wrapping_mul(multiplier), multiplier.wrapping_add(1).wrapping_mul(factor));
        i += 1;
    }
    jumps
};

/// One stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub struct RandomStream {
    state: u128,
    increment: u128,
}

impl RandomStream {
    /// The stream of a page (or host) for a purpose.
    pub fn new(run_seed: u64, subject: u64, purpose: Purpose) -> Self {
        let seed = splitmix64(run_seed ^ splitmix64(subject));
        Self::seeded(u128::from(seed) << 64 | u128::from(splitmix64(seed)), purpose as u128)
    }

    fn seeded(state: u128, stream: u128) -> Self {
        let increment = stream << 1 | 1;
        Self { state: state.wrapping_add(increment).wrapping_mul(MULTIPLIER).wrapping_add(increment), increment }
    }

    /// The same stream, advanced by this many numbers.
    #[must_use]
    pub fn skip(mut self, numbers: u64) -> Self {
        let mut rest = numbers;
        while rest != 0 {
            let (multiplier, factor) = JUMPS[rest.trailing_zeros() as usize];
            self.state = self.state.wrapping_mul(multiplier).wrapping_add(factor.wrapping_mul(self.increment));
            rest &= rest - 1;
        }
        self
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
        ((self.state >> 64) as u64 ^ self.state as u64).rotate_right((self.state >> 122) as u32)
    }

    /// Uniform in 0..1, both ends excluded.
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Normal with mean 0 and standard deviation 1 (Box & Muller 1958; the second value is not used).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Pareto: at least 1, beyond x with probability x^-shape.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        self.uniform().powf(-1.0 / shape)
    }

    /// Gamma with scale 1 (Marsaglia & Tsang, TOMS 2000; their boost for shapes below 1).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.uniform().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64;
    use rand_pcg::rand_core::Rng;

    #[test]
    fn the_stream_is_pcg_64() {
        let mut theirs = Pcg64::new(42 << 64 | 54, 3);
        let mut ours = RandomStream::seeded(42 << 64 | 54, 3);
        for _ in 0..100 {
            assert_eq!(ours.bits(), theirs.next_u64());
        }
    }

    #[test]
    fn splitmix_is_the_published_one() {
        // The first outputs for seed 1234567 in the reference implementation's list.
        assert_eq!(splitmix64(1_234_567), 6_457_827_717_110_365_317);
        assert_eq!(splitmix64(1_234_567u64.wrapping_add(0x9e37_79b9_7f4a_7c15)), 3_203_168_211_198_807_973);
    }

    #[test]
    fn skipping_is_drawing() {
        let mut drawn = RandomStream::new(7, 12, Purpose::Changes);
        for numbers in 0..300 {
            assert_eq!(RandomStream::new(7, 12, Purpose::Changes).skip(numbers).bits(), drawn.bits());
        }
    }

    #[test]
    fn draws_have_the_moments_they_claim() {
        let mut stream = RandomStream::new(1, 2, Purpose::Policy);
        let mut check = |name: &str, mean: f64, sd: f64, draw: fn(&mut RandomStream) -> f64| {
            let n = 100_000;
            let draws: Vec<f64> = (0..n).map(|_| draw(&mut stream)).collect();
            let average = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - average).powi(2)).sum::<f64>() / f64::from(n);
            assert!((average - mean).abs() < 4.0 * sd / f64::from(n).sqrt(), "{name}: mean {average}");
            assert!((variance.sqrt() / sd - 1.0).abs() < 0.05, "{name}: sd {}", variance.sqrt());
        };
        check("uniform", 0.5, (1.0f64 / 12.0).sqrt(), RandomStream::uniform);
        check("exponential", 1.0, 1.0, RandomStream::exponential);
        check("normal", 0.0, 1.0, RandomStream::normal);
        check("pareto", 1.25, (5.0f64 / 3.0 - 1.5625).sqrt(), |stream| stream.pareto(5.0));
        check("gamma", 0.4, 0.4f64.sqrt(), |stream| stream.gamma(0.4));
        check("gamma", 3.0, 3.0f64.sqrt(), |stream| stream.gamma(3.0));
    }
}

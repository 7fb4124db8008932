//! Distributions, from the bits of any generator.

use std::f64::consts::TAU;

/// Maps 64 random bits to 0..1, without 1.
pub const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Numbers drawn one after the other.
pub trait Draws {
    /// The next 64 bits.
    fn bits(&mut self) -> u64;

    /// Uniform in 0..1, without 1.
    fn uniform(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Uniform in 0..1, without 0, so that its logarithm is finite.
    fn positive(&mut self) -> f64 {
        1.0 - self.uniform()
    }

    /// Uniform in 0..1, both ends excluded.
    fn midpoint(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A whole number below `end`, by the upper 32 bits.
    fn below(&mut self, end: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(end)) >> 32) as u32
    }

    /// Exponential with mean 1.
    fn exponential(&mut self) -> f64 {
        -self.positive().ln()
    }

    /// Normal with mean 0 and standard deviation 1 (Box & Muller 1958; the second value is not used).
    fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Pareto: at least 1, beyond x with probability x^-shape.
    fn pareto(&mut self, shape: f64) -> f64 {
        self.positive().powf(-1.0 / shape)
    }

    /// Gamma with scale 1 (Marsaglia & Tsang, TOMS 2000; their boost for shapes below 1).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.positive().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.positive().ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// Poisson (Knuth, TAOCP 2, 3.4.1). Its time grows with the mean.
    fn poisson(&mut self, mean: f64) -> u32 {
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0);
        while product > limit {
            product *= self.uniform();
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lcg, SplitMix64, splitmix64, spread};

    fn two<G: Draws>(from: &mut G, draw: fn(&mut G) -> f64) -> [f64; 2] {
        [draw(from), draw(from)]
    }

    #[test]
    fn seeds_give_the_numbers_of_earlier_figures() {
        let mut splitmix = SplitMix64(7);
        assert_eq!(two(&mut splitmix, SplitMix64::uniform), [0.3898297483912715, 0.01678829452815611]);
        assert_eq!([0.5, 1.0, 3.0, 3.0, 10.0].map(|mean| splitmix.poisson(mean)), [1, 1, 2, 1, 15]);
        assert_eq!(two(&mut splitmix, SplitMix64::normal), [0.8340377850313236, 1.0185808739625644]);
        assert_eq!([1, 1000].map(|page| unit(splitmix64(spread(page)))), [0.43152799704850997, 0.17569250689332405]);
        splitmix = SplitMix64(splitmix64(7));
        let bits = [splitmix.bits(), splitmix.bits(), splitmix.bits(), splitmix.bits()];
        assert_eq!(bits[1..], [0xa653_05fd_338e_c8fe, 0x8ca3_cbb6_ca63_129b, 0x9aaf_21d8_296e_1e3d]);
        assert_eq!(two(&mut splitmix, SplitMix64::uniform), [0.34805850157913476, 0.18228523894280202]);
        assert_eq!(two(&mut splitmix, SplitMix64::exponential), [2.4731066592116124, 2.321525211866859]);
        assert_eq!(two(&mut splitmix, SplitMix64::normal), [1.1775261698455073, -2.0337671436443316]);

        let mut lcg = Lcg(5);
        let bits = [lcg.bits(), lcg.bits(), lcg.bits()];
        assert_eq!(bits, [0xcd9f_4061_7652_fd30, 0x23e6_e93b_8c88_d2bf, 0xd20c_8774_e92c_4de2]);
        assert_eq!(two(&mut lcg, Lcg::uniform), [0.30945213776009806, 0.4427355597890036]);
        assert_eq!(two(&mut lcg, Lcg::midpoint), [0.2591178806393883, 0.45323540443452087]);
        assert_eq!([10, 1000, u32::MAX].map(|end| lcg.below(end)), [9, 267, 884_289_647]);
        assert_eq!(two(&mut lcg, Lcg::normal), [0.131710236996015, 0.5337241067338464]);
        let between = |lcg: &mut Lcg| (-2.0 * lcg.midpoint().ln()).sqrt() * (TAU * lcg.midpoint()).cos();
        assert_eq!(two(&mut lcg, between), [1.0317529761329687, 2.241741401560791]);
        assert_eq!(two(&mut lcg, |lcg| lcg.pareto(1.5)), [1.2240339852574458, 1.3670697664290756]);
        assert_eq!(two(&mut lcg, Lcg::exponential), [0.9047529921139797, 2.3183341011520593]);
    }

    #[test]
    fn draws_have_the_moments_they_claim() {
        let mut stream = SplitMix64(1);
        let mut check = |name: &str, mean: f64, sd: f64, draw: fn(&mut SplitMix64) -> f64| {
            let n = 100_000;
            let draws: Vec<f64> = (0..n).map(|_| draw(&mut stream)).collect();
            let average = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - average).powi(2)).sum::<f64>() / f64::from(n);
            assert!((average - mean).abs() < 4.0 * sd / f64::from(n).sqrt(), "{name}: mean {average}");
            assert!((variance.sqrt() / sd - 1.0).abs() < 0.05, "{name}: sd {}", variance.sqrt());
        };
        check("uniform", 0.5, (1.0f64 / 12.0).sqrt(), SplitMix64::uniform);
        check("exponential", 1.0, 1.0, SplitMix64::exponential);
        check("normal", 0.0, 1.0, SplitMix64::normal);
        check("pareto", 1.25, (5.0f64 / 3.0 - 1.5625).sqrt(), |stream| stream.pareto(5.0));
        check("gamma", 0.4, 0.4f64.sqrt(), |stream| stream.gamma(0.4));
        check("gamma", 3.0, 3.0f64.sqrt(), |stream| stream.gamma(3.0));
        check("poisson", 3.0, 3.0f64.sqrt(), |stream| f64::from(stream.poisson(3.0)));
    }
}

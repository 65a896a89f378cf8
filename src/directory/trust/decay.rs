//! Halving with time, alike on every machine: additions and multiplications are exact to the bit where IEEE 754 holds,
//! and the powers of a platform's library are not.

use std::time::Duration;

/// 2^(-n/16).
const SIXTEENTHS: [f64; 16] = [
    1.0,
    0.957_603_280_698_573_7,
    0.917_004_043_204_671_2,
    0.878_126_080_186_649_7,
    0.840_896_415_253_714_5,
    0.805_245_165_974_627_1,
    0.771_105_412_703_970_4,
    0.738_413_072_969_749_7,
    std::f64::consts::FRAC_1_SQRT_2,
    0.677_127_773_468_446_3,
    0.648_419_777_325_504_8,
    0.620_928_906_036_742,
    0.594_603_557_501_360_5,
    0.569_394_317_378_345_8,
    0.545_253_866_332_628_8,
    0.522_136_891_213_706_9,
];

/// 1/n, from the last of Taylor's terms to the first. The next one is below 1e-17 here.
const INVERSE: [f64; 9] = [1.0 / 9.0, 1.0 / 8.0, 1.0 / 7.0, 1.0 / 6.0, 1.0 / 5.0, 1.0 / 4.0, 1.0 / 3.0, 1.0 / 2.0, 1.0];

/// 0.5^(age / half-life): 1 for no age, exactly a power of two for whole half-lives, and 0 in the end.
pub(super) fn remaining(age: Duration, half_life: Duration) -> f64 {
    if age.is_zero() {
        return 1.0;
    }
    half_to_the(age.as_secs_f64() / half_life.as_secs_f64())
}

/// Whole half-lives in an age.
pub(super) fn whole(age: Duration, half_life: Duration) -> u32 {
    let lives = age.as_nanos().checked_div(half_life.as_nanos()).unwrap_or(u128::MAX);
    u32::try_from(lives).unwrap_or(u32::MAX)
}

/// 0.5^x, of an x that is not negative.
fn half_to_the(x: f64) -> f64 {
    // Below the smallest normal number, and for no number at all.
    if x.is_nan() || x >= 1000.0 {
        return 0.0;
    }
    let whole = x.floor();
    let sixteenths = ((x - whole) * 16.0).floor();
    let rest = (x - whole) - sixteenths / 16.0;
    let y = -rest * std::f64::consts::LN_2;
    let fine = INVERSE.iter().fold(1.0, |sum, inverse| 1.0 + y * inverse * sum);
    let coarse = SIXTEENTHS.get(sixteenths as usize).copied().unwrap_or(0.5);
    let exponent = 1023_u64.saturating_sub(whole as u64);
    f64::from_bits(exponent << 52) * coarse * fine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_half_lives_are_exact() {
        let hour = Duration::from_secs(3600);
        for (hours, expected) in [(0, 1.0), (1, 0.5), (2, 0.25), (10, 1.0 / 1024.0)] {
            assert_eq!(remaining(hour * hours, hour), expected);
        }
        assert_eq!(remaining(Duration::MAX, Duration::from_nanos(1)), 0.0);
        assert_eq!(remaining(hour, Duration::ZERO), 0.0);
        assert_eq!(
            (whole(hour * 3 - Duration::from_nanos(1), hour), whole(Duration::MAX, Duration::from_nanos(1))),
            (2, u32::MAX)
        );
        assert_eq!(whole(hour, Duration::ZERO), u32::MAX);
    }

    #[test]
    fn between_them_it_is_what_a_library_says_to_the_last_digits() {
        let mut before = 1.0;
        for n in 1..200_000 {
            let x = f64::from(n) / 997.0;
            let value = half_to_the(x);
            assert!((value / (-x).exp2() - 1.0).abs() < 1e-14, "{x}: {value}");
            assert!(value < before, "{x}");
            before = value;
        }
        assert_eq!(half_to_the(f64::NAN), 0.0);
        assert_eq!(half_to_the(f64::INFINITY), 0.0);
    }

    #[test]
    fn the_bits_are_the_same_everywhere() {
        for (x, bits) in [
            (0.1, 0x3fed_db68_0117_ab13),
            (0.5, 0x3fe6_a09e_667f_3bcd),
            (1.9, 0x3fd1_25fb_ee25_0665),
            (5.3, 0x3f99_fdf8_bcce_533e),
            (997.7, 0x0193_b2c4_7bff_827a),
        ] {
            assert_eq!(half_to_the(x).to_bits(), bits, "{x}");
        }
    }
}

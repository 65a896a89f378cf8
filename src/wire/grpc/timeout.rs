//! `grpc-timeout` (gRPC over HTTP/2, "Requests"): at most eight digits and a unit.

use std::time::Duration;

/// The most that eight digits say.
const MAX: u128 = 99_999_999;

/// Reads a value; `None` if it is malformed.
#[must_use]
pub fn parse_timeout(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let amount = digits.iter().fold(0_u64, |amount, digit| amount * 10 + u64::from(digit - b'0'));
    Some(match unit {
        b'H' => Duration::from_secs(amount * 3600),
        b'M' => Duration::from_secs(amount * 60),
        b'S' => Duration::from_secs(amount),
        b'm' => Duration::from_millis(amount),
        b'u' => Duration::from_micros(amount),
        b'n' => Duration::from_nanos(amount),
        _ => return None,
    })
}

/// Writes a value, as finely as it fits and never longer than `timeout`. What is no time at all is a nanosecond.
#[must_use]
pub fn format_timeout(timeout: Duration) -> String {
    let nanos = timeout.as_nanos().max(1);
    let units = [('n', 1), ('u', 1_000), ('m', 1_000_000), ('S', 1_000_000_000), ('M', 60_000_000_000)];
    let fits = units.into_iter().find(|(_, size)| nanos / size <= MAX);
    let (unit, size) = fits.unwrap_or(('H', 3_600_000_000_000));
    format!("{}{unit}", (nanos / size).min(MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_a_unit() {
        let read = |text: &str| parse_timeout(text.as_bytes());
        assert_eq!(read("1H"), Some(Duration::from_secs(3600)));
        assert_eq!(read("2M"), Some(Duration::from_secs(120)));
        assert_eq!(read("99999999S"), Some(Duration::from_secs(99_999_999)));
        assert_eq!(read("250m"), Some(Duration::from_millis(250)));
        assert_eq!(read("7u"), Some(Duration::from_micros(7)));
        assert_eq!(read("00000000n"), Some(Duration::ZERO));
        for bad in ["", "S", "1", "1s", "123456789S", "-1S", "1.5S", " 1S", "1 S"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_written_is_no_longer_and_reads_back() {
        for nanos in [0, 1, 99_999_999, 100_000_000, 1_234_567_890, 600_000_000_000, u64::MAX] {
            let timeout = Duration::from_nanos(nanos);
            let written = format_timeout(timeout);
            let read = parse_timeout(written.as_bytes()).unwrap();
            assert!(read <= timeout.max(Duration::from_nanos(1)), "{written}");
            assert!(timeout.as_secs_f64() * 0.999 <= read.as_secs_f64(), "{written}");
        }
        // As finely as it fits.
        for (nanos, written) in [
            (0, "1n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (99_999_999_999, "99999999u"),
            (100_000_000_000, "100000m"),
            (99_999_999_999_999, "99999999m"),
            (100_000_000_000_000, "100000S"),
            (99_999_999_999_999_999, "99999999S"),
            (100_000_000_000_000_000, "1666666M"),
        ] {
            assert_eq!(format_timeout(Duration::from_nanos(nanos)), written);
        }
        assert_eq!(format_timeout(Duration::from_secs(600)), "600000m");
        assert_eq!(format_timeout(Duration::MAX), "99999999H");
    }
}

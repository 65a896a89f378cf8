//! The canonical codes of gRPC and their names (`google.rpc.Code`).

const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// `UNKNOWN`
pub(super) const UNKNOWN: u8 = 2;

/// The code with this name, `NOT_FOUND` for one.
#[must_use]
pub fn code_of_name(name: &str) -> Option<i32> {
    NAMES.iter().position(|known| *known == name).and_then(|code| i32::try_from(code).ok())
}

/// The name of a code; of one that there is not, `UNKNOWN`.
#[must_use]
pub fn name_of_code(code: u8) -> &'static str {
    NAMES.get(usize::from(code)).copied().unwrap_or("UNKNOWN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_codes() {
        assert_eq!(code_of_name("NOT_FOUND"), Some(5));
        assert_eq!(code_of_name("FAILED_PRECONDITION"), Some(9));
        assert_eq!(code_of_name("UNAUTHENTICATED"), Some(16));
        assert_eq!(code_of_name("NONE"), None);
        assert_eq!(
            (name_of_code(9), name_of_code(UNKNOWN), name_of_code(17)),
            ("FAILED_PRECONDITION", "UNKNOWN", "UNKNOWN")
        );
    }
}

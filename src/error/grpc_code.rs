//! The canonical codes of gRPC, by their names (`google.rpc.Code`).

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

/// The name of a code; that of UNKNOWN for a code that gRPC does not know.
pub(crate) fn name_of(code: u8) -> &'static str {
    NAMES.get(usize::from(code)).copied().unwrap_or("UNKNOWN")
}

pub(super) fn of_name(name: &str) -> Option<i32> {
    NAMES.iter().position(|known| *known == name).and_then(|code| i32::try_from(code).ok())
}

#[cfg(test)]
mod tests {
    use super::of_name;

    #[test]
    fn names_have_their_codes() {
        assert_eq!(of_name("NOT_FOUND"), Some(5));
        assert_eq!(of_name("FAILED_PRECONDITION"), Some(9));
        assert_eq!(of_name("UNAUTHENTICATED"), Some(16));
        assert_eq!(of_name("NONE"), None);
    }
}

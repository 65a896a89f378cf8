//! Reads what decides of an error without building a tree: of one that was cut or is too large.

use super::{ErrorForm, MESSAGE_MAX, PeerError, WORD_MAX, bounded, integer_of, is_json_rpc_code};
use crate::wire::json::{JsonKind, JsonScanner, JsonVisitor, Scope, Slot};

const BODY: Scope = Scope(1);
const ERROR: Scope = Scope(2);

const JSONRPC: Slot = Slot(1);
const ERROR_MEMBER: Slot = Slot(2);
const CODE: Slot = Slot(3);
const MESSAGE: Slot = Slot(4);
const STATUS: Slot = Slot(5);
const BARE_CODE: Slot = Slot(6);
const BARE_MESSAGE: Slot = Slot(7);

impl PeerError {
    /// Reads code, status and message of an error, as far as they stand in `bytes`; what comes behind them may be
    /// missing. `None` if there is no typed error.
    #[must_use]
    pub fn scan(bytes: &[u8]) -> Option<Self> {
        let mut scanner = JsonScanner::new();
        let mut seen = Seen::default();
        // Whatever is wrong behind what was read does not unsay it.
        let _ = scanner.feed(bytes, &mut seen);
        let (form, code, message) = if seen.has_error {
            let code = seen.code?;
            let json_rpc = seen.jsonrpc || is_json_rpc_code(code);
            (if json_rpc { ErrorForm::JsonRpc } else { ErrorForm::RpcStatus }, code, seen.message)
        } else {
            (ErrorForm::CodeMessage, seen.bare_code.filter(|code| is_json_rpc_code(*code))?, seen.bare_message)
        };
        let mut read = Self::new(form);
        read.code = (form != ErrorForm::RpcStatus).then_some(code);
        read.message = message;
        read.status = seen.status;
        Some(read)
    }
}

#[derive(Default)]
struct Seen {
    jsonrpc: bool,
    has_error: bool,
    code: Option<i64>,
    message: Option<String>,
    status: Option<String>,
    bare_code: Option<i64>,
    bare_message: Option<String>,
}

impl JsonVisitor for Seen {
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot {
        match (scope, key) {
            (BODY, b"jsonrpc") => JSONRPC,
            (BODY, b"error") => ERROR_MEMBER,
            (BODY, b"code") => BARE_CODE,
            (BODY, b"message") => BARE_MESSAGE,
            (ERROR, b"code") => CODE,
            (ERROR, b"message") => MESSAGE,
            (ERROR, b"status") => STATUS,
            _ => Slot::IGNORED,
        }
    }

    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope {
        match slot {
            Slot::ROOT => BODY,
            ERROR_MEMBER if kind == JsonKind::Object => {
                self.has_error = true;
                ERROR
            }
            _ => Scope::SKIPPED,
        }
    }

    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], _: bool) {
        let number = || integer_of(std::str::from_utf8(text).ok()?);
        let words = |max| (kind == JsonKind::String).then(|| bounded(whole_characters(text), max));
        match slot {
            JSONRPC => self.jsonrpc = true,
            CODE if kind == JsonKind::Number => self.code = number(),
            MESSAGE => self.message = words(MESSAGE_MAX),
            STATUS => self.status = words(WORD_MAX),
            BARE_CODE if kind == JsonKind::Number => self.bare_code = number(),
            BARE_MESSAGE => self.bare_message = words(MESSAGE_MAX),
            _ => {}
        }
    }
}

/// A text of which the end may be missing, without a character that the cut went through.
fn whole_characters(text: &[u8]) -> &str {
    let valid = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    text.get(..valid).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{A2aError, MediaType};

    #[test]
    fn what_serde_cannot_read_still_has_its_code() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for data in ["\"cut \\ud83d\"", "1e999", &deep] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32001,"message":"no","data":{data}}}}}"#);
            let error = PeerError::parse(body.as_bytes(), MediaType::Json).unwrap();
            assert_eq!(
                (error.form, error.code, error.message.as_deref()),
                (ErrorForm::JsonRpc, Some(-32001), Some("no"))
            );
            assert_eq!(error.kind(Some(404)), Some(A2aError::TaskNotFound));
        }
    }

    #[test]
    fn a_long_message_is_never_cut_within_a_character() {
        for before in 1019..1024 {
            let message = format!("{}😀 and so on", "x".repeat(before));
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32001,"message":"{message}"}}}}"#);
            let (scanned, parsed) =
                (PeerError::scan(body.as_bytes()), PeerError::parse(body.as_bytes(), MediaType::Json));
            assert_eq!(scanned.unwrap().message, parsed.unwrap().message, "{before}");
        }
    }

    #[test]
    fn what_was_cut_says_what_came() {
        let cut = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"no","data":["x"#;
        assert_eq!(PeerError::parse(cut, MediaType::Json).unwrap().code, Some(-32004));
        let status = br#"{"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[{"#;
        let error = PeerError::parse(status, MediaType::Json).unwrap();
        assert_eq!((error.form, error.code, error.status.as_deref()), (ErrorForm::RpcStatus, None, Some("NOT_FOUND")));
        let bare = br#"{"code":-32603,"message":"no","data":"#;
        let error = PeerError::parse(bare, MediaType::Json).unwrap();
        assert_eq!(
            (error.form, error.code, error.message.as_deref()),
            (ErrorForm::CodeMessage, Some(-32603), Some("no"))
        );
        // What is called an error is none, unless it is an object.
        let list = br#"{"code":-32603,"message":"no","error":[{"code":-32001,"message":"gone"#;
        assert_eq!(PeerError::scan(list).unwrap().code, Some(-32603));
        // A code in quotes is none, as where a tree is read.
        for code in [r#"{"error":{"code":"-32001","message":"no"#, r#"{"code":"-32603","message":"no"#] {
            assert_eq!(PeerError::scan(code.as_bytes()), None, "{code}");
        }
        for nothing in [&br#"{"jsonrpc":"2.0","err"#[..], br#"{"error":{"message":"no"#, b"<html>", b""] {
            assert_eq!(PeerError::parse(nothing, MediaType::Json), None);
        }
    }
}

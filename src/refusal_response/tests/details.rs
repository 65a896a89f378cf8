//! Reads the details of a gRPC error: a reader of its own, so that writer and reader cannot be wrong together.

use std::time::Duration;

use http::HeaderMap;

use super::Read;

/// `grpc-status`, and what stands in the details.
pub(super) fn read(trailers: &HeaderMap) -> (u8, Read) {
    let text = |name: &str| trailers[name].to_str().unwrap();
    let status = text("grpc-status").parse().unwrap();
    let message = percent_encoding::percent_decode_str(text("grpc-message")).decode_utf8().unwrap();
    let bytes = decode(text("grpc-status-details-bin"));
    let fields = fields(&bytes);
    assert_eq!(fields[0], (1, Value::Varint(u64::from(status))));
    assert_eq!(fields[1], (2, Value::Bytes(message.as_bytes())));
    let mut read = Read {
        code: None,
        domain: String::new(),
        reason: String::new(),
        message: message.into_owned(),
        metadata: Vec::new(),
        retry_after: None,
    };
    for (field, any) in &fields[2..] {
        assert_eq!(*field, 3);
        match &self::fields(any.bytes())[..] {
            [(1, name), (2, value)] => match name.text().strip_prefix("type.googleapis.com/google.rpc.") {
                Some("ErrorInfo") => read_info(value.bytes(), &mut read),
                Some("RetryInfo") => read.retry_after = Some(retry(value.bytes())),
                _ => panic!("{}", name.text()),
            },
            other => panic!("{other:?}"),
        }
    }
    (status, read)
}

fn read_info(bytes: &[u8], read: &mut Read) {
    for (field, value) in fields(bytes) {
        match field {
            1 => read.reason = value.text().to_owned(),
            2 => read.domain = value.text().to_owned(),
            3 => match &fields(value.bytes())[..] {
                [(1, key), (2, value)] => read.metadata.push((key.text().to_owned(), value.text().to_owned())),
                other => panic!("{other:?}"),
            },
            _ => panic!("field {field}"),
        }
    }
}

fn retry(bytes: &[u8]) -> Duration {
    let delay = fields(bytes);
    let (mut seconds, mut nanos) = (0, 0);
    for (field, value) in fields(delay[0].1.bytes()) {
        match (field, value) {
            (1, Value::Varint(value)) => seconds = value,
            (2, Value::Varint(value)) => nanos = u32::try_from(value).unwrap(),
            other => panic!("{other:?}"),
        }
    }
    Duration::new(seconds, nanos)
}

#[derive(Debug, PartialEq)]
enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Varint(number) => panic!("{number} where bytes are due"),
        }
    }

    fn text(&self) -> &'a str {
        std::str::from_utf8(self.bytes()).unwrap()
    }
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Varint(varint(&mut bytes)),
            2 => {
                let len = usize::try_from(varint(&mut bytes)).unwrap();
                let (value, rest) = bytes.split_at(len);
                bytes = rest;
                Value::Bytes(value)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

fn decode(text: &str) -> Vec<u8> {
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("{byte} is no base64"),
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

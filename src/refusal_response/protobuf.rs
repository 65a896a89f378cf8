//! Writes protocol buffers: as much of them as an error needs.

/// A message, field by field, in the order of writing.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u8 = 0;
const LENGTH: u8 = 2;

impl Message {
    /// An integer that is not negative; proto3 leaves zero out. `field` is below 16, so that its tag is one byte.
    pub(super) fn integer(mut self, field: u8, value: u64) -> Self {
        if value != 0 {
            self.0.push(field << 3 | VARINT);
            self.varint(value);
        }
        self
    }

    /// A string; proto3 leaves an empty one out.
    pub(super) fn text(self, field: u8, text: &str) -> Self {
        if text.is_empty() { self } else { self.bytes(field, text.as_bytes()) }
    }

    /// A message in a field.
    pub(super) fn message(self, field: u8, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// An entry of a map from strings to strings.
    pub(super) fn entry(self, field: u8, key: &str, value: &str) -> Self {
        self.message(field, &Self::default().text(1, key).text(2, value))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes(mut self, field: u8, bytes: &[u8]) -> Self {
        self.0.push(field << 3 | LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_tag_and_value() {
        let inner = Message::default().integer(1, 300).integer(2, 0);
        assert_eq!(inner.as_bytes(), [0x08, 0xac, 0x02]);
        let outer = Message::default().text(1, "").text(2, "ab").message(3, &inner).entry(4, "k", "v");
        let expected =
            [&[0x12, 2, b'a', b'b'][..], &[0x1a, 3, 0x08, 0xac, 0x02], &[0x22, 6, 0x0a, 1, b'k', 0x12, 1, b'v']];
        assert_eq!(outer.as_bytes(), expected.concat());
    }
}

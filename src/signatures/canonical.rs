//! Scalars in canonical form (RFC 8785 §3.2.2).

/// What a form is written to: no longer than it may be.
#[derive(Debug)]
pub(super) struct Output {
    bytes: Vec<u8>,
    max: usize,
}

impl Output {
    pub(super) fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max }
    }

    /// What was written, unless it was too much.
    pub(super) fn finish(self) -> Option<Vec<u8>> {
        (!self.is_full()).then_some(self.bytes)
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() > self.max
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn since(&self, from: usize) -> &[u8] {
        self.bytes.get(from..).unwrap_or_default()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// As ECMAScript writes it. `number` is finite.
    pub(super) fn number(&mut self, number: f64) {
        self.raw(ryu_js::Buffer::new().format_finite(number));
    }

    /// Quotation mark, reverse solidus and control characters are escaped, and nothing else is. Unicode stays as it is:
    /// it is not normalised.
    pub(super) fn text(&mut self, text: &str) {
        const HEX: [u8; 16] = *b"0123456789abcdef";
        self.bytes.push(b'"');
        for byte in text.bytes() {
            let short = match byte {
                b'"' | b'\\' => byte,
                0x08 => b'b',
                b'\t' => b't',
                b'\n' => b'n',
                0x0c => b'f',
                b'\r' => b'r',
                0x00..=0x1f => {
                    let low = HEX.get(usize::from(byte & 0xf)).copied().unwrap_or_default();
                    self.bytes.extend_from_slice(&[b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), low]);
                    continue;
                }
                _ => {
                    self.bytes.push(byte);
                    continue;
                }
            };
            self.bytes.extend_from_slice(&[b'\\', short]);
        }
        self.bytes.push(b'"');
    }
}

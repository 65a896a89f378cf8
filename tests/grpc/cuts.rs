//! However a body is cut, the outcome and the bytes that pass are the same.

use bytes::Bytes;

use crate::{
    dialect::{AUTH_REQUIRED, COMPLETED, SUBMITTED, WORKING, answer, artifact, ended, send, stream, task, update},
    mock::{MockBody, call},
    plain,
};

fn pieces(bytes: &[u8], len: usize) -> MockBody {
    MockBody::of(bytes.chunks(len).map(Bytes::copy_from_slice))
}

#[tokio::test(start_paused = true)]
async fn streams() {
    let good = [task(SUBMITTED), update(WORKING), artifact("one"), update(AUTH_REQUIRED), update(COMPLETED)].concat();
    let flawed = [&task(SUBMITTED)[..], &artifact("one"), b"<html>"].concat();
    let cut = [&task(SUBMITTED)[..], &artifact("one").slice(..9)].concat();
    for (bytes, word, passed) in [
        (&good, "success/success", good.len()),
        (&flawed, "broken/malformed", flawed.len() - 6),
        (&cut, "broken/truncated", task(SUBMITTED).len()),
    ] {
        for len in 1..bytes.len() {
            let body = ended(pieces(bytes, len), &[("grpc-status", "0")]);
            let ended = call(plain(), stream(), answer(body)).await;
            assert_eq!(ended.word(), word, "{len}");
            assert_eq!(ended.bytes(), bytes[..passed], "{len}");
        }
    }
}

/// Every prefix of a good stream, without trailers.
#[tokio::test(start_paused = true)]
async fn prefixes_of_a_stream() {
    let all = [task(SUBMITTED), artifact("one"), update(COMPLETED)];
    let bytes = all.concat();
    for len in 0..=bytes.len() {
        let ended = call(plain(), stream(), answer(pieces(&bytes[..len], 50))).await;
        let whole = if len == bytes.len() { "success/success" } else { "broken/truncated" };
        assert_eq!(ended.word(), whole, "{len}");
        let mut passed = 0;
        for message in &all {
            passed += if passed + message.len() <= len { message.len() } else { break };
        }
        assert_eq!(ended.bytes(), bytes[..passed], "{len}");
    }
}

#[tokio::test(start_paused = true)]
async fn unary_answers() {
    let good = task(COMPLETED);
    let twice = [&good[..], &good].concat();
    for (bytes, word) in
        [(&good[..], "success/success"), (&twice[..], "broken/protocol_violation"), (&good[..20], "broken/truncated")]
    {
        for len in 1..=bytes.len() {
            let body = ended(pieces(bytes, len), &[("grpc-status", "0")]);
            let ended = call(plain(), send(), answer(body)).await;
            assert_eq!(ended.word(), word, "{len}");
            if word == "success/success" {
                assert_eq!(ended.bytes(), bytes);
            }
        }
    }
}

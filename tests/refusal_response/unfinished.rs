//! A stream that fails in the middle of an event, with nothing below that would have held that event back.

use a2a_guard::{
    RefusalResponseLayer,
    wire::sse::{Frame, Framing},
};
use bytes::Bytes;
use tower::Layer;

use crate::{
    Got, infallible,
    mock::{Answer, Dialect, MockBody, Peer, Step},
};

use Dialect::{Rest, V1};

/// The layer alone above a client.
async fn alone(dialect: Dialect, body: MockBody) -> Got {
    let stack = a2a_guard::CallLayer::new().layer(RefusalResponseLayer::new().layer(Peer::new([Answer::sse(body)])));
    infallible(stack, dialect.stream()).await
}

/// The data of each event that a reader by the letter of the standard dispatches.
fn events(stream: &[u8]) -> Vec<String> {
    let (mut framing, mut at, mut data, mut events) = (Framing::new(), 0, Vec::new(), Vec::new());
    loop {
        let (used, frame) = framing.next(&stream[at..]);
        at += used;
        match frame {
            Frame::Data(piece) => data.extend_from_slice(piece),
            Frame::End => {
                let data = std::mem::take(&mut data);
                if framing.has_data() {
                    events.push(String::from_utf8(data).unwrap());
                }
            }
            Frame::Between => {}
            Frame::More => return events,
        }
    }
}

fn assert_error(event: &str) {
    let json: serde_json::Value = serde_json::from_str(event).unwrap();
    assert_eq!((&json["id"], &json["error"]["code"]), (&1.into(), &(-32006).into()));
    assert_eq!(json["error"]["data"][0]["metadata"]["class"], "truncated");
}

/// Whatever was cut off, the good events and the error arrive, and nothing between them.
#[tokio::test(start_paused = true)]
async fn the_error_can_be_read_wherever_the_stream_broke_off() {
    for end in ["\n", "\r\n", "\r"] {
        let first = V1.result(&V1.task("WORKING"));
        let event = format!("id: 1{end}data: {first}{end}{end}");
        let second = format!(": hm{end}event: x{end}data: {{\"a\":1,{end}data: \"b\":2}}{end}{end}");
        for cut in 0..second.len() {
            for size in [1, 7, usize::MAX] {
                let whole = format!("{event}{}", &second[..cut]);
                let body = whole.as_bytes().chunks(size.min(whole.len())).map(Bytes::copy_from_slice);
                let got = alone(V1, MockBody::of(body).reset()).await;
                let mut events = events(&got.bytes());
                assert_error(&events.pop().unwrap());
                // A carriage return ends the event, whatever would have followed.
                let complete = end == "\r\n" && cut == second.len() - 1;
                let expected =
                    if complete { vec![first.clone(), "{\"a\":1,\n\"b\":2}".into()] } else { vec![first.clone()] };
                assert_eq!(events, expected, "{end:?} {cut} {size}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_held_back_arrives_when_the_stream_goes_on() {
    let stream = format!(
        "{}: comment\n{}data: {}\r\n\r\n:end",
        std::str::from_utf8(&V1.task_event("WORKING")).unwrap(),
        std::str::from_utf8(&V1.update_event("WORKING")).unwrap(),
        V1.result(&V1.update("COMPLETED")),
    );
    for size in 1..=stream.len() {
        let pieces: Vec<_> = stream.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
        let got = alone(V1, MockBody::of(pieces.clone()).trailers("x-check", "sum")).await;
        assert_eq!(got.text(), stream, "{size}");
        assert_eq!(got.trailers.unwrap()["x-check"], "sum");
        // None of it was copied.
        let ranges: Vec<_> = pieces.iter().map(|piece| piece.as_ptr_range()).collect();
        assert!(got.frames.iter().all(|frame| ranges.iter().any(|range| range.contains(&frame.as_ptr()))));
    }
}

/// Half an event is nothing anyone waits for; a comment is.
#[tokio::test(start_paused = true)]
async fn comments_and_whole_events_do_not_wait_for_what_follows() {
    use http_body_util::BodyExt;
    use tower::{Service, ServiceExt};
    let body = MockBody::new().data(": ping\n").data("data: 1\n\ndata: 2").hang();
    let mut service = RefusalResponseLayer::new().layer(Peer::new([Answer::sse(body)]));
    let Ok(ready) = service.ready().await;
    let Ok(response) = ready.call(Rest.stream()).await;
    let mut body = response.into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), ": ping\n");
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "data: 1\n\n");
    let mut more = std::pin::pin!(body.frame());
    assert!(std::future::poll_fn(|cx| std::task::Poll::Ready(more.as_mut().poll(cx).is_pending())).await);
}

/// An event that is too long to be held back passes in pieces; where it breaks off, it is ended.
#[tokio::test(start_paused = true)]
async fn a_long_event_is_ended_before_the_error() {
    for (end, missing) in [("\n", "\n\n"), ("\r\n", "\r\n\r\n")] {
        let start = format!("id: 1{end}data: {}", "x".repeat(300 << 10));
        let body = MockBody::new().data(start.clone()).data("yy").reset();
        let got = alone(V1, body).await;
        assert_eq!(got.frames.len(), 4);
        assert_eq!((&got.frames[0], &got.frames[1]), (&Bytes::from(start), &Bytes::from("yy")));
        assert_eq!(got.frames[2], missing);
        assert_error(&events(&got.bytes()).pop().unwrap());
    }
}

/// After it, events are held back again.
#[tokio::test(start_paused = true)]
async fn a_long_event_that_ends_is_forgotten() {
    let long = format!("data: {}", "x".repeat(300 << 10));
    // Its end comes with what follows it, or alone.
    for rest in [&["\n\nda"][..], &["\n\n", "da"], &["\n\n", "data: {\"a\":", "1"]] {
        let body = rest.iter().fold(MockBody::new().data(long.clone()), |body, frame| body.data(*frame));
        let got = alone(V1, body.reset()).await;
        let events = events(&got.bytes());
        assert_eq!(events.len(), 2, "{rest:?}");
        assert_eq!(events[0].len(), 300 << 10);
        assert_error(&events[1]);
    }
    // What ended well has nothing added to it.
    let (middle, end) = ("y".repeat(10), "z\n\n");
    let got = alone(V1, MockBody::new().data(long.clone()).data(middle.clone()).data(end).reset()).await;
    let bytes = got.bytes();
    let rest = bytes.strip_prefix(format!("{long}{middle}{end}").as_bytes()).unwrap();
    assert!(rest.starts_with(b"event: error"), "{:?}", String::from_utf8_lossy(rest));
}

#[tokio::test(start_paused = true)]
async fn many_small_pieces_do_not_keep_the_thread() {
    let pieces = (0..5_000).map(|_| Bytes::from_static(b"x"));
    let body = MockBody::of(pieces).then(Step::Reset);
    let got = alone(V1, body).await;
    assert_eq!(got.frames.len(), 1);
    assert_error(&events(&got.bytes())[0]);
}

//! What goes wrong with statuses: those of HTTP, and `grpc-status` with what belongs to it.

use a2a_guard::Retry;

use super::{FIRST_EVENT, Fault, IDLE};
use crate::{
    calling::Ask,
    h2_peer::{End, Script},
    messages::{COMPLETED, bare_task, task},
};

pub(super) fn faults() -> Vec<Fault> {
    [http(), grpc(), details()].into_iter().flatten().collect()
}

fn page(status: u16) -> Script {
    Script::new(status).header("content-type", "text/html").chunk("<html>Bad Gateway")
}

fn http() -> Vec<Fault> {
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    let bare = |status| Script::new(status).header("content-type", "application/grpc");
    vec![
        send("502 with a page", page(502), "broken/http_status"),
        Fault::new("502 with a page, for a stream", Ask::Stream, page(502), "broken/http_status"),
        send("502 with a page that goes on", page(502).end(End::Hang), "timeout/idle").due(IDLE),
        send("500 with nothing", bare(500), "broken/http_status"),
        send("503 with a page", page(503), "refused/unavailable"),
        send("503 with a time", page(503).header("retry-after", "7"), "refused/unavailable").retry(Retry::After),
        send("429", page(429), "refused/rate_limited").retry(Retry::After),
        send("401", page(401), "refused/auth").retry(Retry::AfterCredentials),
        send("403", page(403), "refused/auth"),
        send("404", page(404), "refused/endpoint_not_found"),
        send("302", page(302).header("location", "https://login.example.com/"), "refused/redirected"),
        send("413", page(413), "refused/too_large"),
        send("415 without a grpc-status", bare(415), "refused/unsupported_media"),
        send("200 with a page", page(200), "broken/wrong_media_type"),
        Fault::new("200 with a page, for a stream", Ask::Stream, page(200), "broken/wrong_media_type"),
        send(
            "200 with JSON",
            Script::new(200).header("content-type", "application/json").chunk("{\"task\":{}}"),
            "broken/wrong_media_type",
        ),
        Fault::new(
            "200 with events",
            Ask::Stream,
            Script::new(200).header("content-type", "text/event-stream").chunk("data: {}\n\n"),
            "broken/wrong_media_type",
        ),
        send(
            "gRPC-Web",
            Script::new(200).header("content-type", "application/grpc-web").message(task(COMPLETED)),
            "broken/wrong_media_type",
        ),
    ]
}

fn grpc() -> Vec<Fault> {
    let send = |name, script, expected| Fault::new(name, Ask::Send, script, expected);
    let refused = "refused/peer_error";
    let answer = || Script::grpc().message(task(COMPLETED));
    vec![
        send("trailers-only", Script::trailers_only(9, "no"), refused),
        Fault::new("trailers-only, for a stream", Ask::Stream, Script::trailers_only(9, "no"), refused).events(0),
        send("trailers", Script::grpc().status(9, "no"), refused),
        Fault::new("trailers, for a stream", Ask::Stream, Script::grpc().status(9, "no"), refused).events(0),
        send("a message, then a refusal", answer().status(13, "no"), refused),
        send("unauthenticated", Script::trailers_only(16, ""), "refused/auth").retry(Retry::AfterCredentials),
        send("permission denied", Script::trailers_only(7, ""), "refused/auth"),
        send("unavailable", Script::trailers_only(14, ""), "refused/unavailable"),
        send("a code that there is not", Script::trailers_only(99, "no"), refused),
        send("trailers-only, but it hangs", Script::trailers_only(9, "no").end(End::Hang), refused),
        send("ok, and nothing else", Script::trailers_only(0, ""), "broken/empty"),
        send("ok behind nothing", Script::grpc().status(0, ""), "broken/empty"),
        Fault::new("ok behind nothing, for a stream", Ask::Stream, Script::grpc().status(0, ""), "broken/empty")
            .events(0),
        send("a head, and nothing else", Script::grpc(), "broken/truncated"),
        send("a message, no trailers", answer(), "broken/truncated"),
        send("trailers without a status", answer().trailer("x-cost", "3"), "broken/truncated"),
        // gRPC reads them as UNKNOWN.
        send("a status that is no number", answer().trailer("grpc-status", "fine"), refused),
        send("a status of minus one", answer().trailer("grpc-status", "-1"), refused),
        send("a message that is cut in its escapes", Script::trailers_only(9, "no%2"), refused),
        send("a message that escapes no UTF-8", Script::trailers_only(9, "%ff%fe"), refused),
        send("a message of line ends", Script::trailers_only(9, "no%0d%0ax: y%1b[2J"), refused),
        send("a long message", Script::trailers_only(9, &"no ".repeat(3_000)), refused),
        Fault::new("nothing behind a head", Ask::Send, Script::grpc().end(End::Hang), "timeout/idle").due(IDLE),
        Fault::new("nothing behind a stream's head", Ask::Stream, Script::grpc().end(End::Hang), "timeout/first_event")
            .due(FIRST_EVENT)
            .events(0),
        Fault::new("no task", Ask::Get, Script::trailers_only(5, "no"), refused),
        Fault::new("a task", Ask::Get, Script::grpc().message(bare_task(COMPLETED)).status(0, ""), "success/success"),
    ]
}

fn details() -> Vec<Fault> {
    let refused = "refused/peer_error";
    let details = |name, details: &str| {
        Fault::new(name, Ask::Send, Script::trailers_only(9, "no").header("grpc-status-details-bin", details), refused)
    };
    let many = Script::grpc().message(task(COMPLETED)).status(0, "");
    let many = (0..2_000).fold(many, |script, n| script.trailer(&format!("x-{n}"), "padding padding padding"));
    let big = (0..2_000).fold(Script::grpc(), |script, n| script.header(&format!("x-{n}"), "padding padding padding"));
    vec![
        details("details that are no base64", "!!!"),
        details("details that are cut", "CAkSB25vIHB1c2gaX"),
        details("details that are no protobuf", "/////w=="),
        details("details that are empty", ""),
        // Field 3 in field 3, and so on: 3,000 levels in name, none in fact.
        details("details that nest", &"Gn8a".repeat(3_000)),
        details("details that are long", &"AAAA".repeat(3_500)),
        // hyper takes heads of 16 KiB. Without optimisation h2 copies its table of 7.5 KiB for each character that it
        // decodes: how long that takes depends on where the binary has the table.
        Fault::new(
            "a head of 80 KiB",
            Ask::Send,
            big.message(task(COMPLETED)).status(0, ""),
            "transport/connection_lost",
        )
        .busy(),
        Fault::new("trailers of 80 KiB", Ask::Send, many, "broken/truncated").busy(),
    ]
}

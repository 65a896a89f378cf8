//! Heads: those that are also the end, and those that are no gRPC.

use a2a_guard::{CallError, Limits, Retry, wire::A2aError};

use crate::{
    dialect::{
        COMPLETED, answer, error_info, fields, get, ok, retry_info, send, stream, subscribe, task, trailers_only,
    },
    fate,
    mock::{Answer, MockBody, call, s},
    plain, with,
};

#[tokio::test(start_paused = true)]
async fn a_coding_that_is_none_changes_nothing() {
    for request in [send(), stream()] {
        let good = answer(ok(&[task(COMPLETED)]));
        assert_eq!(call(plain(), request, good.header("content-encoding", "identity")).await.word(), "success/success");
    }
    for request in [send(), stream()] {
        let coded = answer(ok(&[task(COMPLETED)])).header("content-encoding", "gzip");
        assert_eq!(call(plain(), request, coded).await.word(), "broken/content_encoding");
    }
}

/// It is known from its first bytes, or from the head.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_the_end_of_an_answer_that_is_too_large() {
    let whole = task(COMPLETED);
    for spare in [0, 1] {
        let max = whole.len() - 6 + spare;
        let ended = call(
            with(Limits::default().max_unary_body(max)),
            send(),
            answer(MockBody::new().data(whole.clone()).hang()),
        )
        .await;
        let word = if spare == 0 { ("broken/too_large", s(0)) } else { ("timeout/idle", s(120)) };
        assert_eq!(ended.fate(), fate(word.0, word.1));
        // More than one, of a length that the head tells.
        let two = MockBody::of([whole.clone(), whole.slice(..spare)]);
        let ended = call(with(Limits::default().max_unary_body(whole.len() - 5)), send(), answer(two)).await;
        assert_eq!(ended.word(), if spare == 0 { "broken/truncated" } else { "broken/too_large" });
    }
}

/// Code and reason, unary and streaming: what a caller is told.
#[tokio::test(start_paused = true)]
async fn a_refusal_in_the_head_is_one_for_both_kinds_of_calls() {
    let info = error_info(9, "PUSH_NOTIFICATION_NOT_SUPPORTED");
    for request in [send(), stream(), get(), subscribe()] {
        let head =
            trailers_only(&[("grpc-status", "9"), ("grpc-message", "no%20push"), ("grpc-status-details-bin", &info)]);
        let ended = call(plain(), request, head).await;
        assert_eq!(ended.word(), "refused/peer_error");
        let error = ended.error();
        assert_eq!((error.grpc_code(), error.reason()), (Some(9), Some("PUSH_NOTIFICATION_NOT_SUPPORTED")));
        assert_eq!(error.a2a_error(), Some(A2aError::PushNotificationNotSupported));
        assert_eq!(error.peer_message(), Some("no push"));
        let line = error.to_string();
        let cause = "refused/peer_error: PushNotificationNotSupportedError gRPC FAILED_PRECONDITION \"no push\"; ";
        assert!(line.starts_with(cause), "{line}");
        let kept = error.response().unwrap();
        assert_eq!((kept.status.as_u16(), kept.headers["grpc-status"].as_bytes()), (200, &b"9"[..]));
        assert_eq!((kept.body.len(), kept.trailers.is_none(), kept.truncated), (0, true, false));
        assert_eq!(ended.notes.one().word(), "refused/peer_error");
    }
}

#[tokio::test(start_paused = true)]
async fn codes_have_their_classes() {
    let retry = retry_info(8, 3);
    for (code, details, word, way, after) in [
        ("7", None, "refused/auth", Retry::AfterCredentials, None),
        ("16", None, "refused/auth", Retry::AfterCredentials, None),
        ("14", None, "refused/unavailable", Retry::Unsafe, None),
        ("14", Some(&retry), "refused/unavailable", Retry::After, Some(s(3))),
        ("8", None, "refused/peer_error", Retry::Unsafe, None),
        ("8", Some(&retry), "refused/rate_limited", Retry::After, Some(s(3))),
        ("1", None, "refused/peer_error", Retry::Unsafe, None),
        ("4", None, "refused/peer_error", Retry::Unsafe, None),
        ("9", None, "refused/peer_error", Retry::Unsafe, None),
        ("12", None, "refused/peer_error", Retry::Safe, None),
        ("13", None, "refused/peer_error", Retry::Unsafe, None),
        ("5", None, "refused/peer_error", Retry::Safe, None),
    ] {
        let mut pairs = vec![("grpc-status", code)];
        pairs.extend(details.map(|details| ("grpc-status-details-bin", details.as_str())));
        for request in [send(), stream()] {
            let ended = call(plain(), request, trailers_only(&pairs)).await;
            let error = ended.error();
            assert_eq!((ended.word().as_str(), error.retry(), error.retry_after()), (word, way, after), "{code}");
            assert_eq!(error.grpc_code(), code.parse().ok());
        }
    }
}

/// Six errors share code 9, and in 0.3 four share 12.
#[tokio::test(start_paused = true)]
async fn shared_codes_are_not_guessed_at() {
    for (code, error) in [("9", None), ("12", None), ("3", None), ("5", Some(A2aError::TaskNotFound))] {
        let ended = call(plain(), get(), trailers_only(&[("grpc-status", code)])).await;
        assert_eq!(ended.error().a2a_error(), error, "{code}");
    }
    // The reason has the first word, whatever the code.
    let info = error_info(12, "UNSUPPORTED_OPERATION");
    let ended =
        call(plain(), subscribe(), trailers_only(&[("grpc-status", "12"), ("grpc-status-details-bin", &info)])).await;
    assert_eq!(ended.error().a2a_error(), Some(A2aError::UnsupportedOperation));
}

#[tokio::test(start_paused = true)]
async fn a_code_that_there_is_not_is_unknown() {
    for code in ["", "17", "abc", "-1", "00"] {
        let ended = call(plain(), send(), trailers_only(&[("grpc-status", code)])).await;
        assert_eq!((ended.word().as_str(), ended.error().grpc_code()), ("refused/peer_error", Some(2)), "{code}");
    }
}

/// A head that says no has said it, whatever hangs behind.
#[tokio::test(start_paused = true)]
async fn the_body_behind_a_refusal_is_not_waited_for() {
    let head = answer(MockBody::new().hang()).header("grpc-status", "5");
    let ended = call(plain(), send(), head).await;
    assert_eq!(ended.fate(), fate("refused/peer_error", s(0)));
    assert!(ended.error().response().unwrap().truncated);
}

#[tokio::test(start_paused = true)]
async fn http_statuses_decide_where_grpc_says_nothing() {
    for (status, media, word) in [
        (401, "text/html", "refused/auth"),
        (403, "application/grpc", "refused/auth"),
        (404, "text/html", "refused/endpoint_not_found"),
        (413, "text/plain", "refused/too_large"),
        (415, "text/plain", "refused/unsupported_media"),
        (429, "text/plain", "refused/rate_limited"),
        (503, "text/html", "refused/unavailable"),
        (307, "text/html", "refused/redirected"),
        (400, "text/plain", "broken/http_status"),
        (500, "application/grpc", "broken/http_status"),
        (502, "text/html", "broken/http_status"),
        (524, "text/html", "broken/http_status"),
        (204, "application/grpc", "broken/http_status"),
        (206, "application/grpc", "broken/http_status"),
    ] {
        for request in [send(), stream()] {
            let ended = call(plain(), request, Answer::new(status, media, MockBody::new().data("<html>"))).await;
            assert_eq!(ended.word(), word, "{status} {media}");
            assert_eq!(ended.error().http_status().unwrap().as_u16(), status);
            // Whoever reads the line is told, though 204 may be a success elsewhere.
            assert!(ended.error().to_string().contains(&format!("HTTP {status}")), "{}", ended.error());
            assert_eq!(ended.error().grpc_code(), None);
        }
    }
}

/// A status of gRPC's own is the peer's word under any HTTP status that does not decide alone.
#[tokio::test(start_paused = true)]
async fn grpc_status_counts_under_other_http_statuses() {
    let of = |status, code: &'static str| {
        Answer::new(status, "application/grpc", MockBody::new()).header("grpc-status", code)
    };
    for (status, code, word) in [
        (500, "13", "refused/peer_error"),
        (404, "12", "refused/peer_error"),
        (500, "16", "refused/auth"),
        (503, "13", "refused/unavailable"),
        (401, "2", "refused/auth"),
        // Success is said by both or by none.
        (500, "0", "broken/http_status"),
    ] {
        let ended = call(plain(), send(), of(status, code)).await;
        assert_eq!(ended.word(), word, "{status} {code}");
    }
    let body = MockBody::new().trailers("grpc-status", "13");
    let ended = call(plain(), send(), Answer::new(500, "application/grpc", body)).await;
    assert_eq!((ended.word().as_str(), ended.error().grpc_code()), ("refused/peer_error", Some(13)));
    let kept = ended.error().response().unwrap();
    assert_eq!(kept.trailers, Some(fields(&[("grpc-status", "13")])));
}

/// As a transcoding gateway writes it.
#[tokio::test(start_paused = true)]
async fn a_typed_json_error_is_one_here_too() {
    let body = r#"{"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[]}}"#;
    let ended = call(plain(), send(), Answer::new(404, "application/json", MockBody::new().data(body))).await;
    assert_eq!((ended.word().as_str(), ended.error().grpc_code()), ("refused/peer_error", Some(5)));
}

#[tokio::test(start_paused = true)]
async fn a_success_is_of_grpcs_media_type_or_of_none() {
    for media in ["text/html", "application/json", "application/grpc-web+proto", "application/grpc+json", "text/plain"]
    {
        for request in [send(), stream()] {
            let ended = call(plain(), request, Answer::new(200, media, MockBody::new().data("<html>"))).await;
            assert_eq!(ended.word(), "broken/wrong_media_type", "{media}");
            assert!(ended.error().to_string().contains(media));
        }
    }
    for media in ["application/grpc", "application/grpc+proto", "Application/GRPC;x=y", ""] {
        let body = crate::dialect::ok(&[task(3)]);
        let ended = call(plain(), send(), Answer::new(200, media, body)).await;
        assert_eq!(ended.word(), "success/success", "{media}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_content_coding_is_nobodys() {
    let head = answer(crate::dialect::ok(&[task(3)])).header("content-encoding", "gzip");
    assert_eq!(call(plain(), send(), head).await.word(), "broken/content_encoding");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_lost_before_the_head_is_no_answer() {
    let ended = call(plain(), send(), Answer::lost(std::io::ErrorKind::ConnectionReset)).await;
    assert_eq!(ended.word(), "transport/connection_lost");
    assert!(matches!(ended.error(), CallError::Transport(_)));
}

//! A test is made for all who want it, whoever stops waiting, and what it began is ended.

use super::*;

fn valuable() -> Request<Full<Bytes>> {
    let mut request = request(SEND);
    request.extensions_mut().insert(Need::skill("x").high_value());
    request
}

/// A peer that takes so long over a test, and no time over work.
async fn slow(test: Duration) -> Mesh {
    let mesh = mesh(&["a"], |builder| builder.permission(PermissionRules::new().test_high_value())).await;
    mesh.set("a", Does::Work(Duration::ZERO));
    mesh.agents.set_probed("a.example", Does::Work(test));
    mesh
}

fn came(mesh: &Mesh) -> Vec<(String, bool)> {
    mesh.agents.got().iter().map(|got| (got.method().to_owned(), got.is_probe())).collect()
}

fn rows(rows: &[(&str, bool)]) -> Vec<(String, bool)> {
    rows.iter().map(|(method, is_probe)| ((*method).to_owned(), *is_probe)).collect()
}

#[tokio::test(start_paused = true)]
async fn it_outlives_the_caller_that_wanted_it_first() {
    let mesh = slow(3 * SECOND).await;
    assert!(tokio::time::timeout(SECOND, mesh.call(valuable())).await.is_err(), "it is let go of");
    tokio::time::sleep(3 * SECOND).await;
    assert_eq!(came(&mesh), rows(&[("SendMessage", true), ("CancelTask", false)]));
    // It went well, and is not made again.
    good(mesh.call(valuable()).await);
    assert_eq!(came(&mesh), rows(&[("SendMessage", false)]));
}

#[tokio::test(start_paused = true)]
async fn who_comes_while_it_is_under_way_waits_for_it() {
    let mesh = slow(3 * SECOND).await;
    let began = Instant::now();
    let (first, second) = tokio::join!(tokio::time::timeout(SECOND, mesh.call(valuable())), async {
        tokio::time::sleep(SECOND / 2).await;
        mesh.call(valuable()).await
    });
    assert!(first.is_err());
    good(second);
    assert_eq!(began.elapsed(), 3 * SECOND);
    tokio::time::sleep(SECOND).await;
    let came = came(&mesh);
    assert_eq!(came.iter().filter(|(_, is_probe)| *is_probe).count(), 1, "{came:?}");
    assert_eq!(came.iter().filter(|(method, _)| method == "CancelTask").count(), 1, "{came:?}");
}

/// Its answer comes after nobody waits for it any longer.
#[tokio::test(start_paused = true)]
async fn what_a_late_answer_tells_of_is_cancelled() {
    let mesh = slow(3 * SECOND).await;
    let layer = DelegateLayer::new(mesh.directory.clone()).test_timeout(2 * SECOND);
    let began = Instant::now();
    let error = mesh.call_with(layer, valuable()).await.unwrap_err();
    assert!(error.to_string().contains("test_failed: no answer in time"), "{error}");
    assert_eq!(began.elapsed(), 2 * SECOND);
    assert_eq!(came(&mesh), rows(&[("SendMessage", true)]));
    tokio::time::sleep(SECOND + SECOND / 2).await;
    assert_eq!(came(&mesh), rows(&[("CancelTask", false)]));
    let evidence = mesh.directory.evidence().standing(&peer("https://a.example"), true);
    assert_eq!(evidence.calls, 1, "it failed once");
}

/// A caller with less time than a test may take says nothing of the peer.
#[tokio::test(start_paused = true)]
async fn a_callers_own_haste_is_not_held_against_the_peer() {
    let mesh = slow(3 * SECOND).await;
    let mut request = valuable();
    request.extensions_mut().insert(LimitOverrides::default().total(SECOND));
    mesh.call(request).await.unwrap_err();
    assert_eq!(mesh.directory.evidence().standing(&peer("https://a.example"), true).calls, 0);
    tokio::time::sleep(3 * SECOND).await;
    came(&mesh);
    good(mesh.call(valuable()).await);
    assert_eq!(came(&mesh), rows(&[("SendMessage", false)]), "it went well in the end");
}

//! However a peer writes what it does, a rule of the caller's that forbids it is not got around.

use a2a_guard::directory::{Exclusion, Need, PermissionRules};

use crate::host::{Host, plain_card, uri};

const A: &str = "https://a.example";

#[tokio::test(start_paused = true)]
async fn what_looks_like_a_sensitive_skill_is_one() {
    for id in [
        "pay",
        "PAY",
        "Ｐａｙ",
        "páy",
        "p\u{ad}ay",
        "pa\u{200b}y",
        "\u{feff}pay",
        "p\u{2060}a\u{200d}y",
        "pay\u{fe0f}",
        "\u{202e}pay\u{202c}",
        "pay\u{e0041}",
        "p\u{115f}ay",
    ] {
        let host = Host::default();
        let rules = PermissionRules::new().sensitive(["pay"]);
        let (directory, _) = host.directory(|builder| builder.permission(rules));
        host.serve(A, plain_card(A, &[&format!("{id}: Settles invoices"), "chat"]));
        let peer = directory.publish(&uri(A), "o").await.unwrap();
        directory.vouch(&peer, "ops", true);
        let decision = directory.find(&Need::task("settles invoices"));
        let excluded = decision.candidates.first().and_then(|candidate| candidate.excluded.clone());
        assert!(matches!(excluded, Some(Exclusion::Denied(_))), "{id:?}: {decision}");
        assert!(directory.find(&Need::skill("chat")).best().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn and_so_is_what_its_own_card_marks_as_one() {
    for tag in ["sensitive", "Sensitive", "sen\u{200b}sitive", "sensitive\u{2060}"] {
        let host = Host::default();
        let (directory, _) = host.directory(|builder| builder);
        host.serve(A, plain_card(A, &[&format!("gossip: x #{tag}")]));
        let peer = directory.publish(&uri(A), "o").await.unwrap();
        directory.vouch(&peer, "ops", true);
        assert!(directory.find(&Need::skill("gossip")).best().is_none(), "{tag:?}");
    }
}

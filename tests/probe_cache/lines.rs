//! One line that an operator can act on.

use crate::{
    mock::Dialect,
    support::{Agent, call, html, no_task, not_here, rpc_error, translate, usual},
};

async fn line(agent: Agent) -> String {
    let (mut service, _layer) = usual(&agent);
    call(&mut service, translate()).await.error().to_string()
}

#[tokio::test(start_paused = true)]
async fn of_skills_and_of_endpoints() {
    assert_eq!(
        line(Agent::called(|_| not_here())).await,
        r#"stale/skill_unavailable: UnsupportedOperationError -32004 "no", about skill translate in region eu, which has summarize, translate-2; SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; retry safe"#
    );
    assert_eq!(
        line(Agent::probed(|| html(200))).await,
        "stale/endpoint_not_conforming: a probe of the endpoint got no answer that A2A knows (HTTP 200 text/html; charset=utf-8): \
         broken/wrong_media_type: the answer is of a media type that no success has (text/html; charset=utf-8); GetTask over JSON…; \
         SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; retry safe"
    );
}

/// Texts of a peer's are bounded and escaped.
#[tokio::test(start_paused = true)]
async fn of_hostile_peers() {
    let skills: Vec<_> = (0..100).map(|n| format!(r#""s{n}\u001b[31m\n{}""#, "x".repeat(300))).collect();
    let data =
        format!(r#","data":{{"region":"e\u202e\r\n{}","availableSkills":[{}]}}"#, "u".repeat(5000), skills.join(","));
    let agent =
        Agent::new(move |asked| if asked.is_probe() { no_task(asked) } else { rpc_error(&1.into(), -32004, &data) });
    let line = line(agent).await;
    assert!(line.len() < 1500, "{}", line.len());
    assert!(line.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{line:?}");
    assert!(line.contains("and 56 more"), "{line}");
    let hidden =
        Agent::probed(|| crate::mock::Answer::new(200, "text/html; x=\"a\\\"\tb\"", crate::mock::MockBody::new()));
    let (mut service, _layer) = usual(&hidden);
    let line = call(&mut service, Dialect::V1.send()).await.error().to_string();
    assert!(line.chars().all(|c| !c.is_control()), "{line:?}");
}

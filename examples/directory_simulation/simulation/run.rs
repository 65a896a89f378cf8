//! One run: the peers register, and the calls are made one after the other.

use std::{fmt, time::Duration};

use a2a_guard::{
    Call, CallLayer, Guard, Limits,
    card_consistency::CardStore,
    directory::{DelegateLayer, Directory, Need},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tokio::time::{Instant, sleep};
use tower::{Service, ServiceBuilder, ServiceExt};

use super::{
    Plan,
    table::Row,
    world::{World, base, skill},
};

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routing {
    Directory,
    /// The first that registered for the skill.
    FirstRegistered,
    /// Anyone who has the skill.
    Random,
}

impl fmt::Display for Routing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "directory",
            Self::FirstRegistered => "first registered",
            Self::Random => "random",
        })
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Steele, Lea and Flood's SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % most as u64) as usize
    }
}

pub(crate) async fn run(plan: Plan, routing: Routing) -> Result<Row, Failure> {
    let world = World::new(plan);
    let cards = CardStore::builder::<_, Full<Bytes>, _>(world.clone()).capacity(2 * plan.peers).build()?;
    let limits = Limits::default().head(Duration::from_secs(2)).blocking_head(Duration::from_secs(2));
    let guard = Guard::builder().limits(limits.clone()).card_store(cards.clone()).build()?;
    let mut row =
        Row { routing, calls: plan.calls, succeeded: 0, sent: 0, sent_to_failing: 0, took: Duration::ZERO, course: 0 };
    match routing {
        Routing::Directory => {
            // Nobody vouches for anybody here, and cards do not change.
            let directory =
                Directory::builder(cards).low_risk(|_, _| true).min_freshness(Duration::from_secs(86_400)).build();
            for peer in 0..plan.peers {
                // Some are down just now, and come when they are not.
                while let Err(error) = directory.publish(&base(peer).parse()?, "simulation").await {
                    drop(error);
                    sleep(plan.window / 4).await;
                }
            }
            let delegate = DelegateLayer::new(directory).limits(limits);
            let service =
                ServiceBuilder::new().layer(CallLayer::new()).layer(delegate).layer(guard).service(world.clone());
            calls(plan, service, &mut row, |skill, _| ("/".to_owned(), Some(Need::skill(skill)))).await;
        }
        Routing::FirstRegistered | Routing::Random => {
            let service = ServiceBuilder::new().layer(guard).service(world.clone());
            let choose = |skill_number: usize, random: &mut Random| match routing {
                Routing::Random => skill_number + random.below(plan.peers / plan.skills) * plan.skills,
                _ => skill_number,
            };
            let mut random = Random(plan.seed + 1);
            calls(plan, service, &mut row, |_, number| (base(choose(number, &mut random)), None)).await;
        }
    }
    (row.sent, row.sent_to_failing, row.course) = world.sent();
    Ok(row)
}

/// Makes the calls: which skill each is for is the same in each run.
async fn calls<S, P>(
    plan: Plan,
    mut service: S,
    row: &mut Row,
    mut to: impl FnMut(&str, usize) -> (String, Option<Need>),
) where
    S: Service<Request<Full<Bytes>>, Response = Response<P>>,
    P: Body,
{
    let mut random = Random(plan.seed);
    for _ in 0..plan.calls {
        let number = random.below(plan.skills);
        let skill = skill(number, &plan);
        let (uri, need) = to(&skill, number);
        let message = r#"{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"do it"}]}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{message}}}}}"#);
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = uri.parse().unwrap_or_default();
        request.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        match need {
            Some(need) => drop(request.extensions_mut().insert(need)),
            None => drop(request.extensions_mut().insert(Call::new().with_skill(skill))),
        }
        let begun = Instant::now();
        let answer = match service.ready().await {
            Ok(ready) => ready.call(request).await,
            Err(error) => Err(error),
        };
        if let Ok(response) = answer
            && response.into_body().collect().await.is_ok()
        {
            row.succeeded += 1;
        }
        row.took += begun.elapsed();
        sleep(plan.pause).await;
    }
}

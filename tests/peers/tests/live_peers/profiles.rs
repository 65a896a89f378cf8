//! What calls come to that the card does not cover, or the agent's guard does not let in.

use a2a_guard::card_consistency::CardStore;
use futures::future::join_all;

use crate::ask::Ask;
use crate::call::{Patience, well_known};
use crate::cell::{Caller, Cell};
use crate::client::http;
use crate::expect::{State, broken, card, refused, refused_as, rests, success};
use crate::line::Line::{self, Js1, Js03, Lf, Py1, Py03};
use crate::rule::{ANY, BOTH, GRPC, HTTP, REST, Rule, STREAM, UNARY, but, by_protocol};
use crate::sdk::Server;
use crate::table::Section;
use crate::verbs::{BARE_STATUS, NO_REASON};

const UNDECLARED: &str = "the card does not declare it (§3.3.4): nothing is sent";

static RULES: &[Rule] = &[
    // Profile `bare`: no capability at all.
    by_protocol("bare: task", UNARY, rests(State::Completed), "what needs no capability is sent"),
    by_protocol("bare: task", STREAM, card("capability_missing"), UNDECLARED),
    by_protocol("bare: subscribe", STREAM, card("capability_missing"), UNDECLARED),
    by_protocol("bare: push create", UNARY, card("capability_missing"), UNDECLARED),
    by_protocol("bare: extended card", UNARY, card("capability_missing"), UNDECLARED),
    // Profile `ext-missing`: an extended card is declared, and there is none.
    by_protocol("ext-missing: extended card", UNARY, refused("ExtendedAgentCardNotConfiguredError"), "§3.1.11"),
    by_protocol("ext-missing: message", UNARY, rests(State::Completed), "the refusal was about the card alone"),
    // Profile `auth`. The card is public, and where the protocol puts it (§8.2).
    by_protocol("auth: good credentials", BOTH, rests(State::Completed), "who is known gets in"),
    by_protocol("auth: none", BOTH, refused_as("auth"), "§7.4: 401, or 403"),
    by_protocol("auth: wrong", BOTH, refused_as("auth"), "§7.4: 401, or 403"),
    // No SDK's own hook for authentication answers so.
    but("auth: none", BOTH, &[Lf], ANY, refused("InvalidRequestError"), AUTHORIZER),
    but("auth: wrong", BOTH, &[Lf], ANY, refused("InvalidRequestError"), AUTHORIZER),
    but("auth: none", BOTH, &[Py1, Py03], HTTP, broken("http_status"), STARLETTE),
    but("auth: wrong", BOTH, &[Py1, Py03], HTTP, broken("http_status"), STARLETTE),
    but("auth: none", BOTH, &[Py1, Py03], GRPC, rests(State::Completed), UNGUARDED),
    but("auth: wrong", BOTH, &[Py1, Py03], GRPC, rests(State::Completed), UNGUARDED),
    but("auth: none", BOTH, &[Js1, Js03], HTTP, refused("InternalError"), USER_BUILDER),
    but("auth: wrong", BOTH, &[Js1, Js03], HTTP, refused("InternalError"), USER_BUILDER),
    but("auth: none", BOTH, &[Js1, Js03], GRPC, refused_as("peer_error"), "a user builder that throws: UNKNOWN"),
    but("auth: wrong", BOTH, &[Js1, Js03], GRPC, refused_as("peer_error"), "a user builder that throws: UNKNOWN"),
    but("auth: none", BOTH, &[Js1], REST, refused_as("peer_error"), NO_REASON),
    but("auth: wrong", BOTH, &[Js1], REST, refused_as("peer_error"), NO_REASON),
    but("ext-missing: extended card", UNARY, &[Js03], GRPC, refused_as("peer_error"), BARE_STATUS),
    but(
        "ext-missing: extended card",
        UNARY,
        &[Py03],
        ANY,
        success(),
        "the SDK answers with the public card where there is no other",
    ),
];

const AUTHORIZER: &str = "the SDK's authorizer has no error for those whom it does not know, and picks this one";
const STARLETTE: &str = "the framework's default for a failed authentication: 400, text/plain";
const UNGUARDED: &str = "the middleware that knows its callers is one of HTTP's, and gRPC is beside it";
const USER_BUILDER: &str = "a user builder that throws is an internal error: 500 with -32603";

/// The profiles in which less is there than in `full`.
pub(crate) async fn section(line: Line, server: &Server) -> Section {
    let cells = futures::join!(bare(line, server), missing(line, server), auth(line, server));
    let title = format!("{}: other profiles", line.title());
    Section { title, cells: [cells.0, cells.1, cells.2].concat(), ..Section::default() }
}

fn caller(line: Line, server: &Server, profile: &str) -> Caller {
    Caller::new(line, line.endpoint(server.ports(profile)), RULES)
}

async fn bare(line: Line, server: &Server) -> Vec<Cell> {
    let caller = &caller(line, server, "bare");
    let task = || "task-1".to_owned();
    let asks = [
        ("bare: task", Ask::send("task")),
        ("bare: task", Ask::stream("task")),
        ("bare: subscribe", Ask::Subscribe { task: task() }),
        ("bare: push create", Ask::CreatePush { task: task() }),
        ("bare: extended card", Ask::ExtendedCard),
    ];
    let wanted = asks.iter().flat_map(|(row, ask)| caller.at.bindings().iter().map(move |binding| (row, ask, binding)));
    join_all(wanted.map(|(row, ask, binding)| caller.cell(row, ask, *binding, Patience::Long))).await
}

async fn missing(line: Line, server: &Server) -> Vec<Cell> {
    let caller = &caller(line, server, "ext-missing");
    let mut cells = Vec::new();
    for &binding in caller.at.bindings() {
        cells.push(caller.cell("ext-missing: extended card", &Ask::ExtendedCard, binding, Patience::Long).await);
        cells.push(caller.cell("ext-missing: message", &Ask::send("task"), binding, Patience::Long).await);
    }
    cells
}

async fn auth(line: Line, server: &Server) -> Vec<Cell> {
    let mut caller = caller(line, server, "auth");
    if matches!(line, Py1 | Py03) {
        // Named, so that it is asked for there first: the framework below these agents answers 400 to those whom it
        // does not know, wherever else they look for a card, and a search ends at that.
        let card = well_known(&caller.at);
        caller.stack.cards = CardStore::builder(http()).location_fn(move |_| Some(card.clone())).build().unwrap();
    }
    let caller = &caller;
    let asks = [Ask::send("task"), Ask::stream("task")];
    let mut cells = Vec::new();
    for (row, credentials) in
        [("auth: good credentials", Some("Bearer good")), ("auth: none", None), ("auth: wrong", Some("Bearer wrong"))]
    {
        for &binding in caller.at.bindings() {
            for ask in &asks {
                cells.push(caller.cell_with(row, ask, binding, Patience::Long, credentials).await);
            }
        }
    }
    cells
}

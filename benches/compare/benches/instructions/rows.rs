//! What is counted: the hot paths of each layer, of stacks, and of the core.

use a2a_guard::Binding;

use crate::{flat, hits, kit::Kit, row::Row, scanner, streams, unary};

/// All rows.
pub(crate) fn all() -> Vec<Row> {
    let kit = Kit::new();
    let mut rows = Vec::new();
    for binding in [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc] {
        rows.extend(unary::rows(&kit, binding));
    }
    rows.extend(unary::others(&kit));
    rows.extend(unary::large(&kit));
    rows.extend(streams::rows(&kit));
    rows.extend(streams::grpc(&kit));
    rows.extend(hits::rows());
    rows.extend(scanner::rows());
    rows.extend(flat::rows(&kit));
    rows
}

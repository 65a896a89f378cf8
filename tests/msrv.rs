//! No dependency of the library asks for a newer Rust than the library itself says it needs.

use std::{
    collections::{HashMap, HashSet},
    process::Command,
};

use serde_json::Value;

#[test]
fn no_dependency_needs_a_newer_rust() {
    let metadata = metadata();
    let packages: HashMap<_, _> = list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let nodes: HashMap<_, _> = list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let root = packages.values().find(|p| p["name"] == env!("CARGO_PKG_NAME"));
    let root = root.expect("the package itself");
    let ours = version(text(&root["rust_version"]));

    let mut seen = HashSet::new();
    let mut newer = Vec::new();
    let mut queue = vec![text(&root["id"])];
    while let Some(id) = queue.pop() {
        if !seen.insert(id) {
            continue;
        }
        let package = packages[id];
        if let Some(theirs) = package["rust_version"].as_str()
            && version(theirs) > ours
        {
            newer.push(format!("{} {} needs {theirs}", package["name"], package["version"]));
        }
        // Whoever builds the library builds these too; dev-dependencies are ours alone.
        for dependency in list(&nodes[id]["deps"]) {
            if list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev") {
                queue.push(text(&dependency["pkg"]));
            }
        }
    }
    assert!(seen.len() > 10, "the graph was not walked: {seen:?}");
    assert!(newer.is_empty(), "{newer:#?}");
}

fn metadata() -> Value {
    // Only what is built here has been downloaded for sure, hence the platform.
    let versions = run(Command::new("rustc").arg("-vV"));
    let versions = String::from_utf8(versions).expect("text");
    let host = versions.lines().find_map(|line| line.strip_prefix("host: "));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let json = run(Command::new(cargo)
        .args(["metadata", "--format-version=1", "--all-features", "--offline"])
        .args(["--filter-platform", host.expect("rustc names its host")])
        .current_dir(env!("CARGO_MANIFEST_DIR")));
    serde_json::from_slice(&json).expect("cargo prints JSON")
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    output.stdout
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// `1.85` and `1.85.0` are the same.
fn version(text: &str) -> [u32; 3] {
    let mut version = [0; 3];
    for (part, text) in version.iter_mut().zip(text.split('.')) {
        *part = text.parse().expect("a number");
    }
    version
}

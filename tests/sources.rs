//! Every source file is part of a crate: tests in a file that no module names are never run, and nothing says so.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The files with Rust in them, in a folder and below it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect()
}

/// Does the file say `mod name;`?
fn declares(file: &Path, name: &str) -> bool {
    let is_it = |line: &str| {
        let words = line.trim().strip_suffix(';').unwrap_or_default();
        words.rsplit_once(' ').is_some_and(|(before, last)| last == name && before.ends_with("mod"))
    };
    fs::read_to_string(file).is_ok_and(|text| text.lines().any(is_it))
}

#[test]
fn every_file_is_a_module_of_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = fs::read_dir(root.join("tests")).unwrap().map(|entry| entry.unwrap().path());
    // Each of these folders has a root of its own.
    let tests = tests.filter(|path| path.is_dir() && !path.ends_with("peers"));
    let folders = ["src", "fuzz/src", "tests/peers/src"].map(|folder| root.join(folder)).into_iter().chain(tests);
    let mut seen = 0;
    let mut orphans = Vec::new();
    for file in folders.flat_map(|folder| sources(&folder)) {
        let (stem, folder) = (file.file_stem().unwrap().to_str().unwrap(), file.parent().unwrap());
        // `a/b.rs`, and `a/b/mod.rs`, are named in `a.rs`, or in the root or `mod.rs` of `a`.
        let (name, folder) = match stem {
            "lib" | "main" => continue,
            // Shared by tests, which name it by its path.
            "mod" if folder.parent().is_some_and(|above| above.ends_with("tests")) => continue,
            "mod" => (folder.file_name().unwrap().to_str().unwrap(), folder.parent().unwrap()),
            _ => (stem, folder),
        };
        seen += 1;
        let above = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name));
        if !above.iter().chain([&folder.with_extension("rs")]).any(|above| declares(above, name)) {
            orphans.push(file);
        }
    }
    assert!(seen > 300, "{seen} files");
    assert!(orphans.is_empty(), "no module names {orphans:#?}");
}

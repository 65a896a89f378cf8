//! What nothing else says of the sources: tests in a file that no module names, or in an example, are never run; a
//! module's page lacks an example; what a feature adds does not say so; a link of the front page leads nowhere.

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

#[test]
fn every_test_in_an_example_is_run_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests: String = sources(&root.join("tests")).iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let has_tests = |file: &PathBuf| fs::read_to_string(file).unwrap().contains("#[cfg(test)]");
    let examples: Vec<_> = sources(&root.join("examples")).into_iter().filter(has_tests).collect();
    assert!(examples.len() >= 5, "{examples:#?}");
    for file in examples {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        assert!(tests.contains(&format!("/{path}\"]")), "{path} has tests, and no test names it");
    }
}

/// The public modules that `lib.rs` names, each with the attributes above it.
fn public_modules() -> Vec<(String, String)> {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let mut attributes = String::new();
    let mut found = Vec::new();
    for line in lib.lines() {
        if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) {
            found.push((name.to_owned(), std::mem::take(&mut attributes)));
        } else if line.starts_with("#[") {
            attributes.push_str(line);
        } else {
            attributes.clear();
        }
    }
    found
}

#[test]
fn every_public_module_begins_with_an_example_that_runs() {
    let modules = public_modules();
    assert!(modules.len() >= 15, "{modules:?}");
    for (name, _) in modules {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = [src.join(&name).join("mod.rs"), src.join(format!("{name}.rs"))];
        let text = files.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap();
        let page = text.lines().take_while(|line| !line.starts_with("mod "));
        let fences = page.map(|line| line.trim_start_matches("//!").trim()).filter(|line| line.starts_with("```"));
        // Each second one is an end.
        let mut begun = fences.step_by(2);
        assert!(begun.any(|fence| ["```", "```no_run"].contains(&fence)), "{name}");
    }
}

#[test]
fn what_a_feature_adds_says_so() {
    for (name, attributes) in public_modules() {
        let feature = attributes.split("#[cfg(").nth(1).and_then(|rest| rest.split(")]").next());
        let Some(feature) = feature else { continue };
        assert!(attributes.contains(&format!("#[cfg_attr(docsrs, doc(cfg({feature})))]")), "{name}: {attributes}");
    }
}

/// The README is the front page of the documentation too, where no other file of the repository is.
#[test]
fn the_front_page_links_to_itself_and_to_the_web() {
    let readme = include_str!("../README.md");
    let mut anchors: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in readme.lines() {
        is_code ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) {
            let words = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
            anchors.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    let links: Vec<_> =
        readme.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link).collect();
    assert!(links.len() > 20, "{links:?}");
    for link in links {
        let leads = match link.strip_prefix('#') {
            Some(anchor) => anchors.iter().any(|known| known == anchor),
            None => link.starts_with("https://"),
        };
        assert!(leads, "{link}");
    }
}

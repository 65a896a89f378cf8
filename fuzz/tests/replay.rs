//! The committed corpora, and the cases, through every target: what was found once is not found again.

use std::{
    any::Any,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use a2a_guard_fuzz::{Target, seeds, targets};

fn run(target: Target, what: &str, input: &[u8]) -> Option<String> {
    let words = |panic: Box<dyn Any + Send>| {
        panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
    };
    let panic = catch_unwind(AssertUnwindSafe(|| target(input))).err()?;
    Some(format!("{what}: {}", words(panic).unwrap_or_default()))
}

#[test]
fn every_input_of_the_corpora_passes() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut failed = Vec::new();
    for (name, target) in targets::ALL {
        let corpus = corpora.join(name);
        let files = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
        let mut count = 0;
        for file in files {
            let path = file.unwrap().path();
            failed.extend(run(*target, &path.display().to_string(), &fs::read(&path).unwrap()));
            count += 1;
        }
        assert!(count >= 10, "{name}: a corpus of {count} inputs");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_case_passes() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let seeds = seeds::of_cases(&cases).unwrap();
    assert!(seeds.len() > 500, "{} seeds", seeds.len());
    let mut failed = Vec::new();
    for (name, seed) in seeds {
        let (_, target) = targets::ALL.iter().find(|(target, _)| *target == name).expect("a target of that name");
        failed.extend(run(*target, &format!("{name} {}", seed.escape_ascii()), &seed));
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

//! Writes the seeds of `tests/cases` into folders for `cargo fuzz run`: `cargo run -p a2a-guard-fuzz --example seeds --
//! FOLDER`.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use a2a_guard_fuzz::seeds;

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("usage: seeds FOLDER"));
    };
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    for (target, seed) in seeds::of_cases(&cases)? {
        let folder = folder.join(target);
        fs::create_dir_all(&folder)?;
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        fs::write(folder.join(format!("case-{:016x}", hasher.finish())), seed)?;
    }
    Ok(())
}

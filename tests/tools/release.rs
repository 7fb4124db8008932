//! The files of a release, and where they are installed.

use crate::package::{self, run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::programs;

const PROGRAMS: [&str; 2] = ["recrawl", "recrawl-lab"];

/// The files below a directory, as paths from there.
fn files(directory: &Path) -> BTreeSet<String> {
    let found = run("find", &[".", "-type", "f", "-printf", "%P\\n"], &[], directory);
    found.lines().map(str::to_owned).collect()
}

/// The programs without their symbols: compressing those of a test's build takes a minute.
fn stripped(directory: &Path) -> PathBuf {
    let built = directory.join("built");
    std::fs::create_dir(&built).unwrap();
    for program in PROGRAMS {
        let to = built.join(program);
        let path = programs().command(program).get_program().to_owned();
        run("strip", &["-o", to.to_str().unwrap(), path.to_str().unwrap()], &[], directory);
    }
    built
}

#[test]
fn a_release_has_all_programs_and_is_installed_where_a_package_wants_it() {
    let repository = tests::workspace();
    let directory = tempfile::tempdir().unwrap();
    let built = stripped(directory.path());
    let (dist, root) = (directory.path().join("dist"), directory.path().join("root"));
    // Packing well takes a minute.
    let level = ("DPKG_DEB_COMPRESSOR_LEVEL", Path::new("0"));
    let release: [(&str, &Path); 3] = [("PROGRAMS", &built), ("DIST", &dist), level];
    let reported = run("make", &["-s", "release"], &release, repository);
    let made: Vec<PathBuf> = reported.lines().map(PathBuf::from).collect();
    let [tarball, package] = made.as_slice() else { panic!("a tarball and a package: {reported}") };
    assert_eq!(run("sha256sum", &["-c", "SHA256SUMS"], &[], &dist).matches(": OK").count(), 2);
    package::is_whole(package, directory.path());

    let unpacked = directory.path().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    run("tar", &["-xzf", tarball.to_str().unwrap(), "--strip-components", "1"], &[], &unpacked);
    let (pages, packed): (BTreeSet<_>, BTreeSet<_>) =
        files(&unpacked).into_iter().partition(|name| name.starts_with("man/"));
    for page in ["man/recrawl.1", "man/recrawl-run.1", "man/recrawl-focus-learn.1", "man/recrawl-lab-simweb.1"] {
        assert!(pages.contains(page), "{page} is not in {pages:?}");
    }
    assert!(!pages.iter().any(|page| page.contains("help")), "{pages:?}");
    let schemas = files(&repository.join("schemas")).into_iter().map(|name| format!("schemas/{name}"));
    let others =
        ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY", "systemd/recrawl.service"];
    let others = others.map(str::to_owned);
    let completions = PROGRAMS.map(|name| [format!("{name}.bash"), format!("_{name}"), format!("{name}.fish")]);
    let completions = completions.into_iter().flatten().map(|name| format!("completions/{name}"));
    let bin = PROGRAMS.map(|name| format!("bin/{name}"));
    let wheel = concat!("python/recrawl_client-", env!("CARGO_PKG_VERSION"), "-py3-none-any.whl").to_owned();
    assert_eq!(packed, bin.into_iter().chain(others).chain([wheel]).chain(completions).chain(schemas).collect());
    let before = [std::fs::read(tarball).unwrap(), std::fs::read(package).unwrap()];
    run("bash", &["-c", "umask 077 && make -s release"], &release, repository);
    assert!(std::fs::read(tarball).unwrap() == before[0], "a tarball of the same programs differs");
    assert!(std::fs::read(package).unwrap() == before[1], "a package of the same programs differs");

    let to: [(&str, &Path); 3] = [("DIST", &dist), ("DESTDIR", &root), ("PREFIX", Path::new("/usr"))];
    run("make", &["-s", "install"], &to, repository);
    let usr = root.join("usr");
    for program in PROGRAMS {
        let path = usr.join("bin").join(program);
        let version = run(path.to_str().unwrap(), &["--version"], &[], directory.path());
        assert!(version.contains(env!("CARGO_PKG_VERSION")), "{program}: {version}");
    }
    let installed = files(&usr);
    for file in [
        "share/bash-completion/completions/recrawl",
        "share/zsh/site-functions/_recrawl",
        "share/fish/vendor_completions.d/recrawl.fish",
        "share/man/man1/recrawl-run.1",
        "share/recrawl/schemas/PageChange.avsc",
        concat!("share/recrawl/python/recrawl_client-", env!("CARGO_PKG_VERSION"), "-py3-none-any.whl"),
        "share/doc/recrawl/README.md",
        "share/doc/recrawl/LICENSE-MIT",
    ] {
        assert!(installed.contains(file), "{file} is not in {installed:?}");
    }
    assert!(
        std::fs::read_to_string(usr.join("share/bash-completion/completions/recrawl")).unwrap().contains("complete ")
    );
}

#[test]
fn without_a_release_nothing_is_installed_and_the_next_step_is_reported() {
    let repository = tests::workspace();
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new("make")
        .args(["-s", "install"])
        .envs([("DIST", directory.path().join("none")), ("DESTDIR", directory.path().join("root"))])
        .current_dir(repository)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("run make release first"), "{said}");
    assert!(!directory.path().join("root").exists());
}

#[test]
fn the_bill_of_materials_names_the_libraries_of_the_system_with_their_versions() {
    let program = programs().command("recrawl").get_program().to_owned();
    let arguments = ["system-libraries", program.to_str().unwrap()];
    let entries = run(".tools/release", &arguments, &[], tests::workspace());
    let named: BTreeSet<String> = entries
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line.trim().trim_end_matches(',')).unwrap())
        .inspect(|entry| assert!(entry["purl"].as_str().unwrap().contains('@'), "{entry}"))
        .map(|entry| entry["name"].as_str().unwrap().to_owned())
        .collect();
    for package in ["libc6", "libcurl4", "libssl3", "libstdc++6"] {
        assert!(named.contains(package), "{package} is not in {named:?}");
    }
}

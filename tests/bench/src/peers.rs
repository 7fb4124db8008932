//! Programs that the workspace does not build: its own examples, and the peers in `tests/bench-peers`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from(env!("CARGO"))));
    command.current_dir(corpora::workspace());
    command
}

/// Where this build goes: `<target>/<profile>/bench` is this program.
fn target() -> (PathBuf, String) {
    let program = std::env::current_exe().expect("a running program has a path");
    let directory = program.parent().expect("a program lies in a directory");
    let profile = match directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(other) => other,
    };
    (directory.parent().expect("a profile's directory lies in the target directory").to_owned(), profile.to_owned())
}

/// An example of a crate of the workspace, built like this program.
pub(crate) fn example(package: &str, name: &str) -> Command {
    let (target, profile) = target();
    let directory = if profile == "dev" { "debug" } else { &profile };
    Command::new(build_example(package, name, &profile, &target, directory))
}

/// The same as its users have it, without assertions: for what is measured beside others' releases.
pub(crate) fn released_example(package: &str, name: &str) -> PathBuf {
    let target = target().0;
    if !target.join("release/examples").join(name).exists() {
        eprintln!("building {name} for release: some minutes the first time");
    }
    build_example(package, name, "release", &target, "release")
}

fn build_example(package: &str, name: &str, profile: &str, target: &Path, directory: &str) -> PathBuf {
    let status = cargo()
        .args(["build", "--quiet", "--package", package, "--example", name, "--profile", profile, "--target-dir"])
        .arg(target)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "the example {name} of {package} does not build");
    target.join(directory).join("examples").join(name)
}

/// A file of `tests/bench-peers`.
pub(crate) fn own(path: &str) -> PathBuf {
    corpora::workspace().join("tests/bench-peers").join(path)
}

/// The program with the peers, or why there is none.
pub(crate) fn peers() -> Result<PathBuf, String> {
    let manifest = own("Cargo.toml");
    let target = target().0.join("bench-peers");
    if !target.exists() {
        eprintln!("building the peers: some minutes the first time");
    }
    let built = cargo()
        .args(["build", "--quiet", "--release", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        .status();
    match built {
        Ok(status) if status.success() => Ok(target.join("release/bench-peers")),
        _ => Err("the peers in tests/bench-peers do not build (see above)".to_owned()),
    }
}

/// How to start a peer.
pub(crate) struct Program(Vec<OsString>);

impl Program {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]);
        command
    }
}

/// The peer written in Go, or why there is none.
pub(crate) fn colly() -> Result<Program, String> {
    let program = target().0.join("bench-peers-colly");
    step(Command::new("go").current_dir(own("colly")).arg("build").arg("-o").arg(&program).arg("."))?;
    Ok(Program(vec![program.into()]))
}

/// A class of `bench-peers/<name>`, compiled with the jars that the `pom.xml` there lists, or why there is none.
pub(crate) fn java(name: &str, class: &str) -> Result<Program, String> {
    let (sources, built) = (own(name), built(name)?);
    let listed = built.join("class-path");
    step(
        Command::new("mvn")
            .args(["-q", "-B", "-Dstyle.color=never", "dependency:build-classpath", "-f"])
            .args([sources.join("pom.xml").as_os_str(), format!("-Dmdep.outputFile={}", listed.display()).as_ref()]),
    )?;
    let jars = std::fs::read_to_string(&listed).map_err(|error| format!("Maven listed no jars: {error}"))?;
    let class_path = format!("{}:{}", built.display(), jars.trim());
    let source = sources.join(class).with_extension("java");
    step(Command::new("javac").args(["-cp", &class_path, "-d"]).arg(&built).arg(source))?;
    Ok(Program(["java", "-cp", &class_path, class].map(OsString::from).into()))
}

/// The peer written in JavaScript, or why there is none.
pub(crate) fn crawlee() -> Result<Program, String> {
    let (sources, built) = (own("crawlee"), built("crawlee")?);
    for file in ["package.json", "package-lock.json", "crawl.mjs"] {
        std::fs::copy(sources.join(file), built.join(file)).map_err(|error| format!("{file}: {error}"))?;
    }
    // Packages may ask for a later Node than there is, and must not bring programs to run here.
    step(Command::new("npm").current_dir(&built).args([
        "install",
        "--ignore-scripts",
        "--engine-strict",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]))?;
    Ok(Program(vec!["node".into(), built.join("crawl.mjs").into()]))
}

/// Where a peer is built that is not one file.
fn built(name: &str) -> Result<PathBuf, String> {
    let directory = target().0.join(format!("bench-peers-{name}"));
    if !directory.exists() {
        eprintln!("fetching and building {name}");
    }
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(directory)
}

/// A step of a build, which leaves stdout to the table.
fn step(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.stdout(std::io::stderr()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{program} could not get or build it (see above)")),
        Err(_) => Err(format!("no {program}")),
    }
}

/// Python with the packages of `bench-peers/requirements.txt`, or why there is none.
pub(crate) fn python() -> Result<PathBuf, String> {
    let python = std::env::var_os("RECRAWL_BENCH_PYTHON").map(PathBuf::from);
    python
        .filter(|python| python.exists())
        .ok_or_else(|| "its Python package is not here (make bench installs it)".to_owned())
}

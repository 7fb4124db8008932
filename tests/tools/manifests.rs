//! Manifests, alerts and dashboards, checked by a program in Go, beside the other tests, which wait more than they compute.

use std::process::Command;

#[test]
fn kubernetes_manifests_alerts_and_dashboards_pass_their_check() {
    if Command::new("go").arg("version").output().is_err() {
        let required = std::env::var("RECRAWL_GO_REQUIRED").is_ok_and(|value| value == "1");
        assert!(!required, "RECRAWL_GO_REQUIRED is 1 and there is no Go");
        println!("LEFT OUT: the check of the manifests, because there is no Go (`make setup` installs it)");
        return;
    }
    let output = Command::new("make").args(["-s", "k8s-check"]).current_dir(tests::workspace()).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    println!("{said}");
    assert!(output.status.success(), "make k8s-check failed, see above");
}

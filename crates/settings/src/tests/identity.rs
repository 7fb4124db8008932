//! The section `[identity]`.

use super::{faults_of, layered};
use crate::Signing;

#[test]
fn without_a_key_nothing_is_signed_and_with_one_its_address_must_be_known() {
    assert_eq!(layered("", &[], &[]).unwrap().identity.sign, Signing::Asked);
    let check = |file: &str, expected: &str| assert!(faults_of(file).contains(expected), "{}", faults_of(file));
    check("[identity]\nsign = \"always\"\n", "identity.sign = \"always\" needs a key");
    check("[identity]\nkey_file = \"k.pem\"\n", "identity.directory is not set");
    let published_only = "[identity]\nkey_file = \"k.pem\"\nsign = \"never\"\n";
    assert_eq!(layered(published_only, &[], &[]).unwrap().identity.sign, Signing::Never);
}

#[test]
fn the_address_of_the_keys_has_https_and_fits_into_a_header() {
    let with = |directory: &str| layered("", &[], &[("identity.directory", directory)]).is_ok();
    assert!(with("https://bot.example/.well-known/http-message-signatures-directory"));
    for wrong in ["http://bot.example/", "bot.example", "https://", "https://bot.example/a b", "https://bot.example/\\"]
    {
        assert!(!with(wrong), "{wrong}");
    }
    assert!(!with(&format!("https://bot.example/{}", "a".repeat(500))));
}

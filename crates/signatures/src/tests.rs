//! The published vectors: RFC 9421, RFC 8037, and those of Web Bot Auth.

use crate::*;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use proptest::prelude::*;

/// Private half of `test-key-ed25519` (RFC 9421 appendix B.1.4).
const TEST_SEED: &str = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU";
/// Its public half, and its thumbprint as the draft has it.
const TEST_X: &str = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";
const TEST_ID: &str = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";
/// The key of RFC 9421 appendix B.1.4 as it stands there.
const TEST_PEM: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
";

fn test_key() -> SigningKey {
    SigningKey::from_seed(&BASE64_URL_SAFE_NO_PAD.decode(TEST_SEED).unwrap().try_into().unwrap())
}

fn encoded_signature(base: &str) -> String {
    BASE64_STANDARD.encode(test_key().sign(base.as_bytes()))
}

#[test]
fn a_key_has_the_thumbprint_of_the_draft() {
    let key = test_key();
    assert_eq!((key.public().x().as_str(), key.id().as_str()), (TEST_X, TEST_ID));
    assert_eq!(PublicKey::from_x(TEST_X), Some(key.public()));
    assert_eq!(PublicKey::from_x("AAAA"), None);
    // RFC 8037 appendix A.3.
    let key = PublicKey::from_x("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
    assert_eq!(key.id().as_str(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn a_key_is_written_as_the_rfc_has_it_and_read_again() {
    assert_eq!(test_key().to_pem(), TEST_PEM);
    let two = format!("# the new one\n{}{TEST_PEM}", SigningKey::from_seed(&[7; 32]).to_pem());
    let keys = keys_of_pem(&two).unwrap();
    let expected = [SigningKey::from_seed(&[7; 32]).public(), test_key().public()];
    assert_eq!(keys.iter().map(SigningKey::public).collect::<Vec<_>>(), expected);
    assert_eq!(keys_of_pem("").unwrap_err(), KeyError::NoKey);
    assert!(matches!(keys_of_pem("-----BEGIN PRIVATE KEY-----\nMC4C\n").unwrap_err(), KeyError::NotPem(_)));
    let damaged = TEST_PEM.replace("AwBQYDK2Vw", "AwBQYDK2Vx");
    assert_eq!(keys_of_pem(&damaged).unwrap_err(), KeyError::NotEd25519 { place: 1 });
    assert!(!format!("{:?}", keys[0]).contains(&keys[0].to_pem()[30..60]), "a private key is not printed");
}

#[test]
fn the_example_of_the_rfc_is_signed_alike() {
    // RFC 9421 appendix B.2.6.
    let parameters = "(\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\")\
                      ;created=1618884473;keyid=\"test-key-ed25519\"";
    let components = [
        ("\"date\"", "Tue, 20 Apr 2021 02:07:55 GMT"),
        ("\"@method\"", "POST"),
        ("\"@path\"", "/foo"),
        ("\"@authority\"", "example.com"),
        ("\"content-type\"", "application/json"),
        ("\"content-length\"", "18"),
    ];
    let base = signature_base(&components, parameters);
    let expected = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==";
    assert_eq!(encoded_signature(&base), expected);
}

/// A vector of Web Bot Auth: `signature-agent`, the components and parameters, and the signature.
type Vector = (Option<&'static str>, &'static str, &'static str);

const VECTORS: [Vector; 3] = [
    (
        None,
        r#"sig1=("@authority");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="zIW8+cdmA3vdYagbxojpONwa/l0EKJ/O3/wD486VvsQjO/RxPaSt6ZxvQaMcQzNnqKN/mQ6hpGiFro2L2qkz5A==";tag="web-bot-auth""#,
        "sig1=:QKN4fTdIYfh82fvoZCQiQA1weuozfCS/Led2zTMbewMMqH8PI2Wsy/5c4ao6B6D09nraNQdBNOADg8aM1MqfCg==:",
    ),
    (
        Some(r#"agent2="https://signature-agent.test""#),
        r#"sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth""#,
        "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:",
    ),
    // The legacy form, a string.
    (
        Some(r#""https://signature-agent.test""#),
        r#"sig2=("@authority" "signature-agent");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=1735693200;nonce="e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==";tag="web-bot-auth""#,
        "sig2=:jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:",
    ),
];
/// A time at which all vectors hold.
const THEN: i64 = 1_735_690_000;

fn received<'a>(agent: Option<&'a str>, input: &'a str, signature: &'a str) -> SignedRequest<'a> {
    SignedRequest { authority: "example.com", method: "GET", path: "/path/to/resource", agent, input, signature }
}

#[test]
fn the_vectors_of_web_bot_auth_verify_and_nothing_near_them() {
    let keys = [SigningKey::from_seed(&[7; 32]).public(), test_key().public()];
    for (agent, input, signature) in VECTORS {
        let request = received(agent, input, signature);
        assert_eq!(verify_request(&request, &keys, THEN), Ok(keys[1].id()), "{input}");
        let elsewhere = SignedRequest { authority: "example.org", ..request };
        assert_eq!(verify_request(&elsewhere, &keys, THEN), Err(Refusal::Signature));
        let other_agent = agent.map(|agent| agent.replace(".test", ".tests"));
        let changed = SignedRequest { agent: other_agent.as_deref(), ..request };
        assert_eq!(verify_request(&changed, &keys, THEN).is_err(), agent.is_some());
        assert_eq!(verify_request(&request, &keys, 1_735_689_599), Err(Refusal::Time), "it is of the future");
        assert_eq!(verify_request(&request, &keys, 4_889_289_600), Err(Refusal::Time), "it has expired");
        assert_eq!(verify_request(&request, &keys[..1], THEN), Err(Refusal::Key(TEST_ID.to_owned())));
        let later = input.replace("expires=", "expires=1");
        assert_eq!(verify_request(&received(agent, &later, signature), &keys, THEN), Err(Refusal::Signature));
        let untagged = input.replace("web-bot-auth", "other");
        assert_eq!(verify_request(&received(agent, &untagged, signature), &keys, THEN), Err(Refusal::NoSignature));
        let unsigned = input.replace("@authority", "@query");
        assert_eq!(verify_request(&received(agent, &unsigned, signature), &keys, THEN), Err(Refusal::Authority));
    }
}

#[test]
fn the_signed_directory_of_the_draft_is_written_and_signed_alike() {
    let directory = directory::written(&[test_key().public()]);
    let expected =
        format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{TEST_ID}","x":"{TEST_X}","use":"sig"}}]}}"#);
    assert_eq!(directory, expected);
    assert_eq!(content_digest(directory.as_bytes()), "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:");
    // The draft's vector has no `alg`.
    let digest = content_digest(directory.as_bytes());
    let parameters = format!(
        "(\"@authority\";req \"content-digest\");created=1735689600;expires=4889289600;keyid=\"{TEST_ID}\";tag=\"{DIRECTORY_TAG}\""
    );
    let components = [("\"@authority\";req", "signature-agent.test"), ("\"content-digest\"", digest.as_str())];
    let signature = encoded_signature(&signature_base(&components, &parameters));
    assert_eq!(signature, "l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==");
}

#[test]
fn a_directory_is_signed_by_each_of_its_keys() {
    let keys = [test_key(), SigningKey::from_seed(&[7; 32])];
    let public = keys.iter().map(SigningKey::public).collect::<Vec<_>>();
    let written = directory::written(&public);
    assert_eq!(directory::read(&written), Some(public));
    assert_eq!(directory::read(r#"{"keys":[{"kty":"RSA","n":"x"}]}"#), Some(Vec::new()));
    assert_eq!(directory::read("[]"), None);
    let life = SignatureLife { created: 100, expires: 200 };
    let [digest, input, signature] = directory::response_headers(&keys, "bot.example", &written, life);
    assert_eq!(digest, ("content-digest", content_digest(written.as_bytes())));
    for (place, key) in keys.iter().enumerate() {
        let of_key = |field: &str| {
            let label = format!("binding{place}=");
            let from = field.find(&label).unwrap() + label.len();
            let end = field[from..].find(", binding").map_or(field.len(), |end| from + end);
            field[from..end].to_owned()
        };
        let components = [("\"@authority\";req", "bot.example"), ("\"content-digest\"", digest.1.as_str())];
        let base = signature_base(&components, &of_key(&input.1));
        let signature = BASE64_STANDARD.decode(of_key(&signature.1).trim_matches(':')).unwrap();
        assert!(key.public().verifies(base.as_bytes(), &signature));
    }
}

proptest! {
    #[test]
    fn what_is_signed_verifies_for_its_authority_and_its_time_alone(
        seed in any::<[u8; 32]>(),
        host in "[a-z]{1,9}\\.example(:[1-9][0-9]{0,3})?",
        created in 0i64..4_000_000_000,
        holds in 1i64..86_400,
        nonce in proptest::option::of("[ -~]{1,40}"),
    ) {
        let key = SigningKey::from_seed(&seed);
        let life = SignatureLife { created, expires: created + holds };
        let signed = sign_request(&key, &host, "https://bot.example/keys", life, nonce.as_deref());
        let request = SignedRequest {
            authority: &host,
            method: "GET",
            path: "/",
            agent: Some(&signed.agent),
            input: &signed.input,
            signature: &signed.signature,
        };
        let keys = [key.public()];
        prop_assert_eq!(verify_request(&request, &keys, created), Ok(key.id().clone()));
        prop_assert_eq!(verify_request(&request, &keys, created + holds - 1), Ok(key.id().clone()));
        prop_assert_eq!(verify_request(&request, &keys, created + holds), Err(Refusal::Time));
        let other = SignedRequest { authority: "other.test", ..request };
        prop_assert_eq!(verify_request(&other, &keys, created), Err(Refusal::Signature));
    }
}

//! The query of a request for a screen, and the fields of a form.

use crate::CommandFailure;
use crate::one_fetch::parsed;
use daemon::http::FORM_TOKEN;
use page::CanonicalUrl;
use settings::Settings;
use std::collections::BTreeMap;

/// The parameter that asks for the values of a screen instead of the screen, and its value.
const FORMAT: &str = "format";
const JSON: &str = "json";

/// Whether a query asks for the values of a screen.
pub(super) fn wants_json(query: &str) -> bool {
    form_urlencoded::parse(query.as_bytes()).any(|(name, value)| (&*name, &*value) == (FORMAT, JSON))
}

/// The parameters of a request, each given once. Empty ones are absent, as fields of a form that were left empty.
pub(super) struct Query(BTreeMap<String, String>);

impl Query {
    /// Reads a query with some of these parameters and no others.
    ///
    /// # Errors
    /// Says which parameter is unknown or there twice.
    pub(super) fn read(query: &str, known: &[&str]) -> Result<Self, CommandFailure> {
        let mut found = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let wrong = |problem: String| CommandFailure::Input(problem);
            if (&*name, &*value) == (FORMAT, JSON) {
                continue;
            }
            if !known.contains(&&*name) {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(wrong(format!("unknown parameter {name}; there are: {known}")));
            }
            if found.insert(name.to_string(), value.to_string()).is_some() {
                return Err(wrong(format!("{name} is there twice")));
            }
        }
        found.retain(|_, value| !value.trim().is_empty());
        Ok(Self(found))
    }

    /// Reads a form with some of these fields and no others, beside its token. `names` and `shown` may be there several times, and
    /// have lines.
    ///
    /// # Errors
    /// Says which field is unknown or there twice.
    pub(super) fn of_form(body: &[u8], known: &[&str]) -> Result<Self, CommandFailure> {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(body).filter(|(name, _)| name != FORM_TOKEN) {
            let is_list = matches!(&*name, "names" | "shown");
            match found.get_mut(&*name) {
                _ if !known.contains(&&*name) => {
                    return Err(CommandFailure::Input(format!(
                        "unknown field {name} of the form; load its screen again"
                    )));
                }
                Some(lines) if is_list => {
                    lines.push('\n');
                    lines.push_str(&value);
                }
                Some(_) => return Err(CommandFailure::Input(format!("{name} is there twice"))),
                None => _ = found.insert(name.into_owned(), value.into_owned()),
            }
        }
        found.retain(|_, value| !value.trim().is_empty());
        Ok(Self(found))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The page that `url` names.
    ///
    /// # Errors
    /// When it is absent or no address.
    pub(super) fn url(&self, settings: &Settings) -> Result<CanonicalUrl, CommandFailure> {
        let url = self.get("url").ok_or_else(|| CommandFailure::Input("url is missing: the page's address".into()))?;
        Ok(settings.urls.rules().apply(parsed(url)?))
    }

    /// The number of a version.
    ///
    /// # Errors
    /// When it is absent or no number from 1 on.
    pub(super) fn version(&self, name: &str) -> Result<u32, CommandFailure> {
        let number = self.get(name).and_then(|number| number.parse().ok());
        let is_number = |number: &u32| (1..=i32::MAX as u32).contains(number);
        number
            .filter(is_number)
            .ok_or_else(|| CommandFailure::Input(format!("{name}: the number of a version is needed")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_known_and_given_once_and_an_empty_field_is_none() {
        let query = Query::read("host=a.test&contains=+&by=name", &["host", "contains", "by"]).unwrap();
        assert_eq!((query.get("host"), query.get("contains"), query.get("by")), (Some("a.test"), None, Some("name")));
        for wrong in ["hots=a.test", "host=a&host=b", "=x"] {
            assert!(Query::read(wrong, &["host"]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_form_has_lines_of_names_and_its_token_is_none_of_its_fields() {
        let known = ["names", "back"];
        let form = Query::of_form(b"names=a.test&form_token=12&names=b.test%0D%0Ac.test&back=", &known).unwrap();
        let names: Vec<_> = form.get("names").unwrap().lines().collect();
        assert_eq!((names, form.get("back"), form.get("form_token")), (vec!["a.test", "b.test", "c.test"], None, None));
        for wrong in ["back=/&back=/x", "nams=a"] {
            assert!(Query::of_form(wrong.as_bytes(), &known).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_version_is_a_number_from_one_on_and_a_page_an_address() {
        let of = |query: &str| Query::read(query, &["from", "url"]).unwrap();
        assert_eq!(of("from=3").version("from").ok(), Some(3));
        for wrong in ["from=0", "from=-1", "from=x", "from=2147483648", "url=x"] {
            assert!(of(wrong).version("from").is_err(), "{wrong}");
        }
        let settings = Settings::default();
        assert_eq!(of("url=http://A.test/x%3Fy=1").url(&settings).unwrap().as_str(), "http://a.test/x?y=1");
        assert!(of("url=javascript:alert(1)").url(&settings).is_err() && of("").url(&settings).is_err());
    }
}

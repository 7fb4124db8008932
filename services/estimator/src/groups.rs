//! The groups a page belongs to, and what they have shown. They are few, so all of a partition are held in memory.

use crate::state::{GROUPS, GroupBelief};
use change_rate::{GammaPrior, GammaState, GroupSums};
use messages::Message;
use page::CanonicalUrl;
use std::collections::HashMap;
use std::ops::ControlFlow;
use stream::{Context, ProcessError};

/// The groups of this partition, by store key.
#[derive(Default)]
pub(crate) struct Groups(HashMap<Vec<u8>, GroupSums>);

impl Groups {
    pub(crate) fn load(context: &Context<'_>) -> Result<Self, ProcessError> {
        let mut groups = HashMap::new();
        let mut problem = None;
        context.scan(GROUPS, b"", &mut |key, value| match GroupBelief::decode(value) {
            Ok(GroupBelief { changes, page_days }) => {
                groups.insert(key.to_vec(), GroupSums { changes, page_days });
                ControlFlow::Continue(())
            }
            Err(error) => {
                problem = Some(format!("group {} in the state store: {error}", String::from_utf8_lossy(key)));
                ControlFlow::Break(())
            }
        })?;
        problem.map_or(Ok(Self(groups)), |problem| Err(ProcessError::Stop(problem)))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The prior of a page in these groups, outermost first.
    pub(crate) fn prior(&self, operators: GammaPrior, keys: &[Vec<u8>; 2]) -> GammaPrior {
        operators.within(&keys.each_ref().map(|key| self.0.get(key).copied().unwrap_or_default()))
    }

    /// Puts what a page has taught in the place of what it had taught before.
    pub(crate) fn learn(
        &mut self,
        keys: &[Vec<u8>; 2],
        before: &GammaState,
        after: &GammaState,
        context: &mut Context<'_>,
    ) {
        for key in keys {
            let sums = self.0.entry(key.clone()).or_default();
            sums.replace(before, after);
            let belief = GroupBelief { changes: sums.changes, page_days: sums.page_days };
            context.put(GROUPS, key.clone(), belief.encode());
        }
    }
}

/// Store keys of a page's site, and of its cell within the site: first directory and file type.
pub(crate) fn keys_of(url: &CanonicalUrl) -> [Vec<u8>; 2] {
    let site = url.site_key();
    let path = url.path();
    let mut parts = path.trim_start_matches('/').split('/');
    let first = parts.next().unwrap_or_default();
    let (directory, file) = match parts.next_back() {
        Some(last) => (first, last),
        None => ("", first),
    };
    let file_type = file.rsplit_once('.').map_or("", |(_, file_type)| file_type);
    let key = |cell: &str| [site.as_str().as_bytes(), b"\0", cell.as_bytes()].concat();
    [key(""), key(&format!("{}/{directory}/{file_type}", url.host()))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_host_a_first_directory_and_a_file_type() {
        let check = |url: &str, cell: &str| {
            let keys = keys_of(&CanonicalUrl::parse(url).unwrap());
            assert_eq!(keys[1], [b"b.test\0", cell.as_bytes()].concat(), "{url}");
            assert_eq!(keys[0], b"b.test\0");
        };
        check("http://a.b.test/", "a.b.test//");
        check("http://a.b.test/x.html", "a.b.test//html");
        check("http://a.b.test/docs/2024/x.html?y=1.z", "a.b.test/docs/html");
        check("http://a.b.test/docs/", "a.b.test/docs/");
    }
}

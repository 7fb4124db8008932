//! The place of a page on its site: the groups of pages it may change together with.

/// A page's site, its cell (the pages it shares a prior with), and the groups it may be swept with, as hashes. All are
/// derived from the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PagePlace {
    /// Hash of the registrable domain.
    pub site: u64,
    /// Hash of site, first directory and file type.
    pub cell: u64,
    /// By [`GroupKind`]; 0 where the page has no such group.
    pub groups: [u64; GroupKind::ALL.len()],
}

/// The feature that the pages of a group share, widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupKind {
    /// The registrable domain.
    Site,
    /// The host.
    Host,
    /// Host and first directory.
    Directory,
    /// Host and first two directories.
    Subdirectory,
    /// Site and file type.
    FileType,
    /// Host, first directory and file type.
    DirectoryFileType,
    /// Site and file name without its type: the same page in other languages, versions or formats.
    FileName,
}

impl GroupKind {
    /// All kinds, in the order in which they are considered.
    pub const ALL: [GroupKind; 7] = [
        GroupKind::Site,
        GroupKind::Host,
        GroupKind::Directory,
        GroupKind::Subdirectory,
        GroupKind::FileType,
        GroupKind::DirectoryFileType,
        GroupKind::FileName,
    ];
}

impl PagePlace {
    /// The place of `path` (with its leading slash, without a query) on `host`, of the registrable domain `site`.
    pub fn of(site: &str, host: &str, path: &str) -> PagePlace {
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (directories, file) = parts.split_at(parts.len() - 1);
        let (stem, file_type) = file[0].rsplit_once('.').unwrap_or((file[0], ""));
        let directory = directories.first().copied();
        let subdirectory = directories.get(1).copied();
        let hash = |kind: GroupKind, parts: &[&str]| hash_of(kind as u64 + 1, parts);
        let site_hash = hash(GroupKind::Site, &[site]);
        let groups = [
            site_hash,
            hash(GroupKind::Host, &[host]),
            directory.map_or(0, |directory| hash(GroupKind::Directory, &[host, directory])),
            directory
                .zip(subdirectory)
                .map_or(0, |(first, second)| hash(GroupKind::Subdirectory, &[host, first, second])),
            hash(GroupKind::FileType, &[site, file_type]),
            directory.map_or(0, |directory| hash(GroupKind::DirectoryFileType, &[host, directory, file_type])),
            hash(GroupKind::FileName, &[site, stem]),
        ];
        // Distinguishes pages outside any directory from those in a directory with an empty name.
        let cell = match directory {
            Some(directory) => hash_of(0, &[site, directory, file_type]),
            None => hash_of(0, &[site, file_type]),
        };
        PagePlace { site: site_hash, cell, groups }
    }

    /// The hashes under which its page is counted: of its groups, and of its cell.
    pub fn counted(&self) -> impl Iterator<Item = u64> + use<> {
        self.groups.into_iter().filter(|group| *group != 0).chain([self.cell])
    }
}

/// A hash of the parts, each ended by a byte that no address contains; never 0.
fn hash_of(kind: u64, parts: &[&str]) -> u64 {
    chance::salted_hash(kind, parts.iter().flat_map(|part| part.bytes().chain([0xff]))).max(1)
}

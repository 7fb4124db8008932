//! The files of a crawl are for its user alone: they hold copies of pages, some of which were fetched with a login.

use rustix::fs::Mode;
use rustix::process::umask;

/// Makes all files that this process creates from now on private: directories 0700, files 0600. RocksDB takes no mode, so
/// the umask is the only way. Programs that are started later inherit it.
pub fn keep_files_private() {
    umask(Mode::RWXG | Mode::RWXO);
}

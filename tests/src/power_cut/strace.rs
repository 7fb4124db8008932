//! Lines of strace, as calls in the order in which they ended.

use std::collections::HashMap;

/// The system calls that change files, or that say something to others.
pub(super) const CALLS: &str = "open,openat,creat,close,dup,dup2,dup3,fcntl,lseek,write,pwrite64,writev,pwritev,pwritev2,\
                                ftruncate,truncate,fallocate,copy_file_range,sendfile,fsync,fdatasync,sync,syncfs,\
                                sync_file_range,msync,mmap,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,\
                                unlinkat,rmdir,mkdir,mkdirat,chdir,sendto,sendmsg";

/// A call that succeeded.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) result: i64,
    /// Number of calls that had ended when it began.
    pub(super) began: usize,
}

/// The calls of a record that succeeded, in the order in which they ended.
pub(super) fn calls(record: &str) -> Vec<Call> {
    let (mut calls, mut begun) = (Vec::new(), HashMap::new());
    for line in record.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(process, (start.to_owned(), calls.len()));
        } else if rest.starts_with("<... ") {
            let end = rest.split_once("resumed>").map_or("", |(_, end)| end);
            let Some((start, began)) = begun.remove(process) else { continue };
            calls.extend(call(&(start + end), began));
        } else {
            calls.extend(call(rest, calls.len()));
        }
    }
    calls
}

/// `name(arguments) = result`; `None` for signals, exits and failures.
fn call(line: &str, began: usize) -> Option<Call> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result = result.split(' ').next()?;
    let result = match result.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok()?,
        None => result.parse().ok()?,
    };
    let arguments = split(arguments.trim_end().strip_suffix(')')?);
    (result >= 0 && !name.contains(' ')).then(|| Call { name: name.to_owned(), arguments, result, began })
}

/// Arguments, which commas outside of brackets separate. Texts are written in hexadecimal, so they have no commas.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for sign in text.chars() {
        match sign {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is one").push(sign);
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// The bytes of all texts in an argument, one after the other.
pub(super) fn bytes(argument: &str) -> Vec<u8> {
    let texts = argument.split('"').skip(1).step_by(2);
    let byte = |code: &str| u8::from_str_radix(code, 16).expect("strace writes bytes in hexadecimal");
    texts.flat_map(|text| text.split("\\x").skip(1).map(byte).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_several_threads_end_in_the_order_of_their_last_lines() {
        let record = "7 fsync(3 <unfinished ...>\n\
                      8 write(4, \"\\x61\\x62\", 2) = 2\n\
                      7 <... fsync resumed>) = 0\n\
                      8 writev(5, [{iov_base=\"\\x63\", iov_len=1}, {iov_base=\"\\x64\\x65\", iov_len=2}], 2) = 3\n\
                      8 openat(AT_FDCWD, \"\\x2f\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
                      8 --- SIGCHLD {si_signo=SIGCHLD} ---\n\
                      8 +++ exited with 0 +++\n";
        let calls = calls(record);
        let seen: Vec<_> = calls.iter().map(|call| (call.name.as_str(), call.result, call.began)).collect();
        assert_eq!(seen, [("write", 2, 0), ("fsync", 0, 0), ("writev", 3, 2)]);
        assert_eq!((bytes(&calls[0].arguments[1]), bytes(&calls[2].arguments[1])), (b"ab".to_vec(), b"cde".to_vec()));
        assert_eq!(calls[1].arguments, ["3"]);
    }
}

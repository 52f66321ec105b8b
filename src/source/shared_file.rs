//! A reader of a file that can be cloned, so that several threads read one open file.
//!
//! Never maps the file and never holds it whole: a wheel may be large while a report needs a few of its files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// Archive directories are read a few bytes at a time.
const BUFFER: usize = 16 << 10;

/// A position in an open file. Each clone has its own.
#[derive(Debug)]
pub(super) struct SharedFile {
    file: Arc<File>,
    length: u64,
    position: u64,
    buffer: Vec<u8>,
    buffer_start: u64,
    /// How many bytes may still be read, if that is bounded.
    allowance: Option<u64>,
}

impl SharedFile {
    pub(super) fn new(file: File) -> io::Result<SharedFile> {
        let length = file.metadata()?.len();
        Ok(SharedFile {
            file: Arc::new(file),
            length,
            position: 0,
            buffer: Vec::new(),
            buffer_start: 0,
            allowance: None,
        })
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// The same file, from which at most `bytes` can be read. Clones are not bounded.
    pub(super) fn bounded(mut self, bytes: u64) -> SharedFile {
        self.allowance = Some(bytes);
        self
    }

    fn buffered(&self) -> &[u8] {
        self.position
            .checked_sub(self.buffer_start)
            .and_then(|skip| self.buffer.get(usize::try_from(skip).ok()?..))
            .unwrap_or(&[])
    }

    fn fill(&mut self) -> io::Result<()> {
        let left = self.length.saturating_sub(self.position);
        let size = left.min(BUFFER as u64);
        if let Some(allowance) = &mut self.allowance {
            *allowance = allowance.checked_sub(size).ok_or_else(|| io::Error::other("its directory is too large"))?;
        }
        self.buffer.resize(size as usize, 0);
        self.buffer_start = self.position;
        let read = read_at(&self.file, &mut self.buffer, self.position);
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        read.map(drop)
    }
}

impl Clone for SharedFile {
    fn clone(&self) -> Self {
        SharedFile {
            file: Arc::clone(&self.file),
            length: self.length,
            position: self.position,
            buffer: Vec::new(),
            buffer_start: 0,
            allowance: None,
        }
    }
}

impl Read for SharedFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.buffered().is_empty() {
            self.fill()?;
        }
        let ready = self.buffered();
        let size = ready.len().min(out.len());
        out[..size].copy_from_slice(&ready[..size]);
        self.position += size as u64;
        Ok(size)
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, position)
}

//! Says where argtrace keeps what it fetched and computed.
//!
//! Never creates the folder: that is for who writes to it.

use std::env;
use std::path::PathBuf;

use etcetera::BaseStrategy;

use super::{Options, SourceError};

/// The cache folder: that of `options`, else `ARGTRACE_CACHE_DIR`, else `argtrace` in the platform's cache folder.
///
/// # Errors
/// If none is set and the platform names none, for want of a home folder.
pub fn cache_folder(options: &Options) -> Result<PathBuf, SourceError> {
    if let Some(folder) = &options.cache_dir {
        return Ok(folder.clone());
    }
    usual_folder()
}

/// `ARGTRACE_CACHE_DIR`, else `argtrace` in the platform's cache folder.
///
/// # Errors
/// If the first is not set and the platform names none, for want of a home folder.
pub fn usual_folder() -> Result<PathBuf, SourceError> {
    if let Some(folder) = env::var_os("ARGTRACE_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        return Ok(folder.into());
    }
    match etcetera::choose_base_strategy() {
        Ok(base) => Ok(base.cache_dir().join("argtrace")),
        Err(_) => Err(SourceError::NoCacheFolder),
    }
}

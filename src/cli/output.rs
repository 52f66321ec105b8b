//! Where a command's document goes, and in which formats.
//!
//! `--format F` says the format of stdout; with `-o` the document goes to files instead, each whole or not at all.
//! It never renders anything itself.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::console::Console;
use super::exit::UsageError;

#[derive(Args, Clone, Debug, Default)]
pub struct OutputOptions {
    /// The format of the output
    #[arg(long, global = true, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Write to FILE instead of stdout, in the format FMT if it is written FMT=FILE; may be repeated, `-` is stdout
    #[arg(short, long = "output", global = true, value_name = "FILE", action = clap::ArgAction::Append)]
    pub outputs: Vec<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Markdown,
    Html,
    Csv,
    Svg,
    Dot,
    Mermaid,
    Github,
    Sarif,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Markdown => "markdown",
            Format::Html => "html",
            Format::Csv => "csv",
            Format::Svg => "svg",
            Format::Dot => "dot",
            Format::Mermaid => "mermaid",
            Format::Github => "github",
            Format::Sarif => "sarif",
        })
    }
}

/// `FILE` or `FMT=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub format: Option<Format>,
    pub file: PathBuf,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((format, file)) = text.split_once('=').filter(|(format, _)| is_word(format)) else {
            return Ok(Self { format: None, file: text.into() });
        };
        if file.is_empty() {
            return Err(format!("no file is named after `{format}=`"));
        }
        let format = Format::from_str(format, false).map_err(|_| {
            format!(
                "`{format}` is no format (formats: {}); for a file of that name write ./{text}",
                listed(Format::value_variants())
            )
        })?;
        Ok(Self { format: Some(format), file: file.into() })
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic())
}

fn listed(formats: &[Format]) -> String {
    formats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl OutputOptions {
    /// Is every output asked for in this format?
    pub fn writes_only(&self, format: Format) -> bool {
        let of = |output: &Output| output.format.or(self.format) == Some(format);
        if self.outputs.is_empty() { self.format == Some(format) } else { self.outputs.iter().all(of) }
    }

    /// Writes the document wherever it was asked for, each time by the writer of the format; the usual one comes first.
    ///
    /// # Errors
    /// If the command does not know a format (before anything is written), or a place cannot be written.
    pub fn deliver(&self, console: &mut Console<'_>, writers: &[Writer<'_>]) -> anyhow::Result<()> {
        let usual = self.format.or_else(|| writers.first().map(|(format, _)| *format)).unwrap_or(Format::Json);
        let stdout = [Output { format: None, file: "-".into() }];
        let outputs = if self.outputs.is_empty() { &stdout[..] } else { &self.outputs };
        let mut asked = Vec::new();
        for output in outputs {
            let format = output.format.unwrap_or(usual);
            match writers.iter().find(|(known, _)| *known == format) {
                Some((_, write)) => asked.push((output, write)),
                None => {
                    let known: Vec<Format> = writers.iter().map(|(format, _)| *format).collect();
                    let hint = format!("its formats are: {}", listed(&known));
                    return Err(UsageError::new(format!("this command writes no {format}"), hint).into());
                }
            }
        }
        for (output, write) in asked {
            if output.file.as_os_str() == "-" {
                let text = write(console.width)?;
                console.data(&text).context("writing to stdout")?;
            } else {
                let plain = anstream::adapter::strip_str(&write(None)?).to_string();
                write_whole(&output.file, &plain)?;
            }
        }
        Ok(())
    }
}

/// A format and what writes it, given the columns of the terminal where there is one.
pub type Writer<'a> = (Format, &'a dyn Fn(Option<usize>) -> anyhow::Result<String>);

/// Replaces the file in one step, so that no reader ever sees half of it.
pub fn write_whole(file: &Path, text: &str) -> anyhow::Result<()> {
    let doing = || format!("writing {}", file.display());
    // A link is followed, not replaced; a device or a pipe can only be written to.
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file() && !existing.is_dir()) {
        return fs::write(&target, text).with_context(doing);
    }
    if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(UsageError::new(format!("{}: it is a folder", doing()), "name a file in it").into());
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".argtrace-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(folder).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            let hint = format!("create the folder {} first", folder.display());
            anyhow::Error::new(UsageError::new(format!("{}: there is no such folder", doing()), hint))
        } else {
            anyhow::Error::new(error).context(doing())
        }
    })?;
    temporary.write_all(text.as_bytes()).with_context(doing)?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions()).with_context(doing)?;
    }
    temporary.persist(&target).map_err(|error| error.error).with_context(doing)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_may_stand_before_the_file() {
        let output = |format, file: &str| Ok(Output { format, file: file.into() });
        assert_eq!("json=a=b".parse::<Output>(), output(Some(Format::Json), "a=b"));
        assert_eq!("a.txt".parse::<Output>(), output(None, "a.txt"));
        assert_eq!("./json=a".parse::<Output>(), output(None, "./json=a"));
        assert!("yaml=a".parse::<Output>().is_err_and(|error| error.contains("./yaml=a")));
        assert!("json=".parse::<Output>().is_err());
    }

    #[test]
    fn a_file_is_replaced_and_keeps_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.txt");
        write_whole(&file, "first, and longer").unwrap();
        write_whole(&file, "second").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_whole(&folder.path().join("none/report.txt"), "x").is_err());
        assert!(write_whole(folder.path(), "x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_a_device_are_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, "through").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "through");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        write_whole(Path::new("/dev/null"), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

//! The codes of an audit's findings: what each means, in one table.
//!
//! `explain` prints it, and findings take their level from it unless a rule says otherwise.

use crate::launch::document::Level;

/// A kind of finding, or of drift in a table of arguments.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub code: &'static str,
    /// The usual level.
    pub level: Level,
    pub title: &'static str,
    pub explanation: &'static str,
    /// A command, or a row of a table, that has it.
    pub example: &'static str,
}

macro_rules! codes {
    ($($name:ident $code:literal $level:ident $title:literal $explanation:literal $example:literal)*) => {
        $(pub const $name: Code = Code {
            code: $code, level: $crate::launch::document::Level::$level, title: $title, explanation: $explanation,
            example: $example,
        };)*
        /// In the order in which they are explained.
        pub const CODES: &[Code] = &[$($name),*];
    };
}
pub(crate) use codes;

codes! {
    UNKNOWN_FLAG "unknown-flag" Error
        "The parser of this release has no such flag"
        "argparse refuses it and the launch ends. A flag of another release, or a misspelt one: dashes and underscores are \
         told apart."
        "--tensor_parallel_size 8"
    AMBIGUOUS_FLAG "ambiguous-flag" Error
        "The flag is short for several"
        "argparse takes a unique prefix for a flag. With another flag of the same start the prefix is refused; a full \
         spelling never is."
        "--pp 2"
    MISSING_VALUE "missing-value" Error
        "A flag that takes a value has none"
        "A token that is shaped like a flag is never taken for a value."
        "--port --host 0.0.0.0"
    INVALID_VALUE "invalid-value" Error
        "The value is not of the flag's type"
        "The function that the source registers for the flag refuses it."
        "--context-length 32k"
    INVALID_CHOICE "invalid-choice" Error
        "The value is none of the flag's choices"
        "Choices that a plugin would add are not known here."
        "--hicache-storage-backend nvme"
    REQUIRED_MISSING "required-missing" Error
        "A required flag is absent"
        "argparse refuses a command without it."
        "--tp-size 2"
    STRAY_POSITIONAL "stray-positional" Error
        "A word belongs to no flag"
        "Often the value of a switch, which takes none."
        "--enable-metrics true"
    CONFIG_KEY_UNKNOWN "config-key-unknown" Error
        "A key of the configuration file is no flag"
        "The file's keys become flags as the source's merger makes them, and the parser has none of this name."
        "tensor_parallel_size: 8"
    CONFIG_ACTION_UNSUPPORTED "config-action-unsupported" Error
        "A key of the configuration file is a flag that files cannot set"
        "The source's merger refuses flags whose action it does not know how to write out."
        "lora-paths: [a, b]"
    CONFIG_UNREADABLE "config-unreadable" Error
        "The configuration file cannot be read"
        "It is missing, is no YAML, holds more than one document or no mapping, or the source's merger refuses its name."
        "--config settings.json"
    REPEATED_FLAG "repeated-flag" Warning
        "A flag is given more than once"
        "The last one counts, also where the spellings differ."
        "--tp 4 --tp-size 8"
    CONFIG_IGNORED "config-ignored" Warning
        "The configuration file is not read"
        "The source looks for the flag as a token of its own; joined to its value by `=` it is parsed and has no effect."
        "--config=settings.yaml"
    ABBREVIATED_FLAG "abbreviated-flag" Note
        "A flag is shortened"
        "It works as long as no other flag begins so."
        "--mem-frac 0.9"
    UNRESOLVED_VALUE "unresolved-value" Note
        "A part of the command is only known when it runs"
        "A variable that nothing sets, the output of a command, or what a branch of a script decides."
        "--tp $(nproc)"
    DEPRECATED_FLAG "deprecated-flag" Warning
        "The flag is deprecated"
        "An error if it ends the launch, a warning if it no longer does anything, a note if it still works."
        "--enable-dp-attention"
    REWRITTEN "rewritten" Warning
        "The given value is replaced"
        "The record's own resolution, or a worker, writes another value. A note if that hangs on something unknown."
        "--attention-backend flashmla --page-size 32"
    OVERRIDDEN "overridden" Warning
        "Another given argument wins"
        "The value is not used, because the other is given too."
        "--hicache-ratio 3 --hicache-size 40"
    DIVIDED "divided" Warning
        "The given value is divided among ranks"
        "Each process works with its share, rounded as the code does it."
        "--dp-size 8 --enable-dp-attention --chunked-prefill-size 32768"
    INACTIVE "inactive" Warning
        "The argument has no effect with this command"
        "All code that uses it runs only under a condition that the command does not meet."
        "--hicache-size 100"
    DEAD_FIELD "dead-field" Warning
        "Nothing reads the argument"
        "It is parsed and stored, and no code of this release looks at it."
        "--num-continuous-decode-steps 4"
    ENV_UNREAD "env-unread" Warning
        "Nothing reads an environment variable"
        "Its name begins like the project's own, and no code of this release mentions it."
        "SGLANG_NO_SUCH_SWITCH=1"
    PER_RANK_TOTAL "per-rank-total" Note
        "Every rank takes the whole amount"
        "Separate processes each hold it, so that one machine needs the sum."
        "--tp 8 --enable-hierarchical-cache --hicache-size 100"
    CONSTRAINT_VIOLATED "constraint-violated" Error
        "A check of the source refuses the values"
        "An assertion or an error that the launcher or a worker raises with exactly these values. A note if it cannot be \
         decided, shown with -v."
        "--base-gpu-id -1"
    EXCEEDS_HOST_MEMORY "exceeds-host-memory" Error
        "The processes on one machine together take more memory than it has"
        "The host's memory comes from --fact host_memory=...; decimal and binary units are told apart."
        "--tp 8 --enable-hierarchical-cache --hicache-size 300"
}

pub fn code(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|c| c.code == name)
}

/// The usual level of a code.
pub fn level(name: &str) -> Level {
    code(name).map_or(Level::Note, |c| c.level)
}

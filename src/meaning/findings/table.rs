//! The codes of findings: what each means, in one table.
//!
//! `explain` prints it and the claims take their level from it; nothing here looks at a tree.

/// A kind of finding.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub code: &'static str,
    /// `warning` or `note`.
    pub level: &'static str,
    pub title: &'static str,
    pub explanation: &'static str,
    /// Python that has it.
    pub example: &'static str,
}

pub const DEAD_FIELD: Code = Code {
    code: "dead-field",
    level: "warning",
    title: "Nothing reads the field",
    explanation: "The flag is parsed and stored, and no code of the server looks at the value under any spelling: as an \
        attribute of the record, by name through getattr, or as a key of a published dictionary. Giving it changes \
        nothing. A field that is only written, or whose flag is only deprecated, is dead as well. Dumps of the whole \
        record (logs, server information) are not reads.",
    example: "parser.add_argument(\"--storage-path\")  # and no code mentions storage_path again",
};

pub const UNIT_CONTRADICTS_HELP: Code = Code {
    code: "unit-contradicts-help",
    level: "warning",
    title: "The code computes in another unit than the help says",
    explanation: "The help text names one unit and the arithmetic between the field and what it sizes proves another, \
        for example GB (1e9 bytes) in the help and a factor of 1024 ** 3 (GiB) in the code.",
    example: "help=\"… in GB\"  # int(record.offload * 1024**3)",
};

pub const DEFAULT_CONTRADICTS_FLAG: Code = Code {
    code: "default-contradicts-flag",
    level: "warning",
    title: "The command line has another default than the class",
    explanation: "What argparse stores where the flag is absent differs from the default of the field in the class, so a \
        server that is started from Python behaves differently from one that is started from a shell.",
    example: "size: int = 4096  # add_argument(\"--size\", default=8192)",
};

pub const REWRITTEN_SILENTLY: Code = Code {
    code: "rewritten-silently",
    level: "note",
    title: "A given value is replaced without a word",
    explanation: "Code writes another value to the field though the operator may have given one, and nothing in that \
        block logs it. Writes that fill an unset field, that only normalise the value, or that confirm what a switch \
        says are not meant.",
    example: "if self.backend == \"direct\": self.layout = \"page_first\"",
};

pub const PER_RANK_UNDOCUMENTED: Code = Code {
    code: "per-rank-undocumented",
    level: "warning",
    title: "Every rank takes the whole amount, and the help does not say so",
    explanation: "Separate processes each hold the whole value, so the machine needs a multiple of what was given. The \
        help text names no rank, process or device.",
    example: "help=\"The size of the host pool\"  # each scheduler process allocates it",
};

pub const SENTINEL: Code = Code {
    code: "sentinel",
    level: "note",
    title: "A special value switches behaviour",
    explanation: "The code treats 0, a negative number or None differently in kind, not in degree: another arm runs, or \
        none does.",
    example: "if record.size > 0: … else: …  # 0 means: by ratio",
};

pub const DEPRECATED: Code = Code {
    code: "deprecated",
    level: "note",
    title: "The flag is deprecated",
    explanation: "The source says that the flag is to be replaced or will go away.",
    example: "help=\"[Deprecated] use --other\"",
};

/// In the order in which a report lists them.
pub const CODES: [Code; 7] = [
    DEAD_FIELD,
    UNIT_CONTRADICTS_HELP,
    DEFAULT_CONTRADICTS_FLAG,
    REWRITTEN_SILENTLY,
    PER_RANK_UNDOCUMENTED,
    SENTINEL,
    DEPRECATED,
];

pub fn code(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|c| c.code == name)
}

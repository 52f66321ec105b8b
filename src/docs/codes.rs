//! The codes of drift between a hand-kept table and the source: what each means, in one table.

pub use crate::launch::findings::table::Code;
use crate::launch::findings::table::codes;

codes! {
    UNKNOWN "docs-flag-unknown" Error
        "The table documents a flag that the source does not have"
        "Whoever copies it from the page gets `unrecognized arguments`. The flag was removed, renamed or misspelt."
        "| `--cache-sise` |  where the source has --cache-size"
    MISSING "docs-flag-missing" Warning
        "The source has an argument that no table documents"
        "None of its spellings is in the first column of any table. Deprecated arguments need no row."
        "--cache-policy was added, and the page has no row for it"
    ALIAS "docs-alias-missing" Note
        "The row leaves out a spelling of the flag"
        "The source takes another flag for the same argument, which readers meet in other people's commands."
        "| `--tp-size` |  where --tensor-parallel-size is taken too"
    DEFAULT "docs-default" Warning
        "The documented default is not the source's"
        "The cell holds a value, and an argument that is left out begins as another one. Prose in the cell is not judged, nor \
         is a default that the source computes."
        "| `--cache-ratio` | … | `2.0` |  where the source has 1.5"
    CHOICES "docs-choices" Warning
        "The documented choices are not the source's"
        "A value in the cell is refused, or one that is taken is not listed. More values are no drift where plugins can add them."
        "`lru`, `mru`  where the source has lru and lfu"
    TYPE "docs-type" Warning
        "The documented type is not the source's"
        "The cell names a type of value, and the parser takes another."
        "Type: int  where the source has float"
    UNIT "docs-unit" Warning
        "The text names another unit than the code computes in"
        "Only a size or a time that the code is seen to compute in is held against the text."
        "The size in GiB  where the code multiplies by 1e9"
    SCOPE "docs-scope" Warning
        "The text names another scope than the code shows"
        "The text says that the value is a total, and each rank holds it whole; or that it is per rank, and no process is \
         started by rank that holds it."
        "The size in GB, in total over all ranks  where each rank allocates it"
}

//! The codes of changes: what each means, why it matters, an example, and how to allow it.
//!
//! One table holds all. A code is added by adding an entry, and a pair of fixtures that trips it and one that must not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::Level;

macro_rules! codes {
    ($($variant:ident = $name:literal, $level:ident, $title:literal, $why:literal, $example:literal;)*) => {
        /// What kind of change it is.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Code {
            $(#[doc = $title] #[serde(rename = $name)] $variant,)*
        }

        /// Every code, in the order in which a reader meets them.
        pub const CODES: &[Entry] = &[$(Entry {
            code: Code::$variant,
            name: $name,
            level: Level::$level,
            title: $title,
            why: $why,
            example: $example,
        },)*];
    };
}

/// What is known of a code.
pub struct Entry {
    pub code: Code,
    pub name: &'static str,
    /// The highest level that it is given.
    pub level: Level,
    pub title: &'static str,
    pub why: &'static str,
    pub example: &'static str,
}

codes! {
    FieldRemoved = "field-removed", Breaking,
        "The argument is gone.",
        "A command line or a config file that sets it fails, and code that builds the arguments in Python as well.",
        "--router-url was dropped: a launch with it ends in `unrecognized arguments`.";
    FieldRenamed = "field-renamed", Breaking,
        "The argument has another name and the same meaning.",
        "Breaking where the old flag is not taken any more, cosmetic where it still is. It is told once, not as a removal and an addition.",
        "sparse_backend became block_backend, and --sparse-backend is not taken any more.";
    FlagRemoved = "flag-removed", Breaking,
        "A spelling of the flag is not taken any more, while the argument stays or was no argument any more.",
        "argparse refuses an unknown flag, so a launch with the old spelling fails.",
        "--stream was the old spelling of --stream-parts.";
    FlagAmbiguous = "flag-ambiguous", Breaking,
        "A spelling is gone, and is now the beginning of several flags.",
        "argparse takes an abbreviation only if it is the beginning of one flag; this one ends in `ambiguous option`.",
        "--graph-size, once --graph-size-decode and --graph-size-prefill exist.";
    FlagRenamed = "flag-renamed", Breaking,
        "The only spelling of the flag was replaced by another.",
        "Breaking where the old one is not taken any more; cosmetic where argparse still takes it as an abbreviation.",
        "--link-port is now written --dist-port, for the same field.";
    TypeChanged = "type-changed", Breaking,
        "The declared type, or what the parser converts a value with, is another.",
        "Breaking where values that were taken are refused, cosmetic where only the annotation differs.",
        "--block-size took any text and takes only an integer.";
    ChoicesRemoved = "choices-removed", Breaking,
        "Values that were taken are refused.",
        "argparse refuses a value that is not among the choices.",
        "--adapter-backend took any text and takes only fast and exact.";
    ConstraintAdded = "constraint-added", Breaking,
        "The code checks something that it did not check.",
        "Breaking where a launch that worked can fail, behaviour where the value is cut, cosmetic for a warning and where only new arguments or values can trip it.",
        "--enable-host-cache together with --disable-cache now ends in a ValueError.";
    ConstraintChanged = "constraint-changed", Breaking,
        "A check is stricter, laxer or has another outcome.",
        "Breaking where more command lines fail, behaviour where a mistake is no longer reported as one.",
        "The assertion that the host pool exceeds the device pool became a warning.";
    ConstraintRemoved = "constraint-removed", Behaviour,
        "The code no longer checks something.",
        "A launch that ended with a clear error now starts, and does whatever it then does.",
        "Adapters no longer ask for --disable-cache.";
    DefaultChanged = "default-changed", Behaviour,
        "An argument that is left out begins as another value.",
        "Everyone who does not set it gets the new value without being asked. Cosmetic where the code makes the same of both.",
        "The write policy was selective and is eager.";
    UnitChanged = "unit-changed", Behaviour,
        "A number means another amount.",
        "The same value reserves more or less, or waits longer or shorter.",
        "A size in GB (1e9 bytes) is now in GiB (2^30 bytes).";
    ScopeChanged = "scope-changed", Behaviour,
        "Other processes hold the value, or hold it more or less often.",
        "A size that is held per rank is multiplied by the ranks; one that is held once is not.",
        "A limit that the one data-parallel controller held is now held by every scheduler.";
    DividedByChanged = "divided-by-changed", Behaviour,
        "What the value is shared out over is another.",
        "Each process works with a different share of the same number.",
        "The size of a chunk is divided by the attention replicas where it was divided by all replicas.";
    PrecedenceChanged = "precedence-changed", Behaviour,
        "Which of two settings wins, or fills the other, is another.",
        "Where both are given another one counts; where one is left out it ends up as another value.",
        "A list of batch sizes now wins over the largest batch size.";
    ActiveWhenChanged = "active-when-changed", Behaviour,
        "The conditions without which the argument has no effect are others.",
        "A flag that did something can be inert now, or the other way round.",
        "A rate limit counted with the cache on, and counts with the limiter on.";
    RewriteAdded = "rewrite-added", Behaviour,
        "The code replaces the argument's value where it did not.",
        "A given value is silently exchanged, or an unset one filled.",
        "The largest batch size is overwritten with the largest of a list that is given too.";
    RewriteRemoved = "rewrite-removed", Behaviour,
        "The code no longer replaces the argument's value.",
        "A value that was silently exchanged now counts, or an unset one is no longer filled.",
        "Drafting no longer switches the shared memory pool off.";
    RewriteChanged = "rewrite-changed", Behaviour,
        "The code replaces the argument's value by another one, or under another condition.",
        "The same command line ends up with another value.",
        "The backend was always overwritten and is now filled only where it is unset.";
    ComputationChanged = "computation-changed", Behaviour,
        "What is computed from the value differs in a way that can change the result.",
        "The same number comes to another size, count or threshold.",
        "A node is backed up after 2 hits where it was after 3.";
    ConsumerAdded = "consumer-added", Behaviour,
        "Something uses the value that did not.",
        "The argument has an effect that it did not have; behaviour where the argument had none at all or where the value is tested anew, else cosmetic.",
        "The download folder is now also where a second hub puts what it loads.";
    ConsumerRemoved = "consumer-removed", Behaviour,
        "Something no longer uses the value.",
        "An effect of the argument is gone; where the last reader is, the argument does nothing any more.",
        "The backend that read the precision of a sum was removed.";
    Deprecated = "deprecated", Breaking,
        "The flag is marked as deprecated.",
        "Breaking where giving it ends the launch, behaviour where it no longer does anything, cosmetic where it still works.",
        "--enable-experts is ignored and says to use --experts.";
    FieldAdded = "field-added", Cosmetic,
        "There is a new argument.",
        "It changes nothing for those who do not set it; what it can be is worth knowing.",
        "--eviction-policy, which is lru or lfu.";
    FlagAdded = "flag-added", Cosmetic,
        "There is another spelling of the flag.",
        "Command lines work as before.",
        "--draft-model beside --draft-model-path.";
    ChoicesAdded = "choices-added", Cosmetic,
        "Values are taken that were refused.",
        "Command lines work as before.",
        "--load-format also takes remote.";
    HelpChanged = "help-changed", Cosmetic,
        "The help text is another.",
        "It can be the only sign of a change that the code does not show.",
        "The help now names the formats that the flag takes.";
    AllowanceExpired = "allowance-expired", Behaviour,
        "An entry of the allow-list is past its date.",
        "What it allowed was to be looked at by then; it is reported again.",
        "The entry for a changed ratio was to end with September.";
    AllowanceUnused = "allowance-unused", Behaviour,
        "An entry of the allow-list matches no change.",
        "A stale entry hides nothing today and may hide something tomorrow.",
        "The change that was allowed is not between these releases.";
}

impl Code {
    pub fn entry(self) -> &'static Entry {
        // The table is generated with the codes, so every code has its entry.
        CODES.iter().find(|entry| entry.code == self).unwrap_or(&CODES[0])
    }

    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    pub fn named(name: &str) -> Option<Code> {
        CODES.iter().find(|entry| entry.name == name).map(|entry| entry.code)
    }
}

impl Entry {
    /// How to keep the change out of a report.
    pub fn allowance(&self) -> String {
        format!(
            "[[allow]]\ncode = \"{}\"\nfield = \"FIELD\"\nfingerprint = \"FINGERPRINT\"\nreason = \"why it is fine\"\nexpires = \"YYYY-MM-DD\"",
            self.name
        )
    }
}

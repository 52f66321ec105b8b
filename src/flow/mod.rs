//! An inter-procedural value-flow graph, built on demand.
//!
//! A **node** is a value at a place: an expression, a definition of a local, an attribute of a class, a module variable,
//! or what a function returns; with an access path where the value sits inside a container there. An **edge** says that
//! the value, or something computed from it, arrives at the next node, by which step and with which transformation.
//! Edges out of a node depend on the program alone, never on the question, so all questions share them.
//!
//! [`trace`] walks the graph with calls and returns matched: the tabulation of Reps, Horwitz and Sagiv ("Precise
//! interprocedural dataflow analysis via graph reachability", 1995) over the parameters as entry facts. Attributes and
//! module variables merge all objects of a class; a way through one is at most *inferred* where the class has several
//! constructors. Nothing here knows of units, processes or sinks.

pub mod access;
pub mod declared;
pub mod graph;
pub mod guards;
pub mod inside;
pub mod origin;
pub mod process;
pub mod trace;

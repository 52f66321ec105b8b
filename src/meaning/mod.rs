pub mod definition;
pub mod report;

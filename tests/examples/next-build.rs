//! Builds the programs of another version of recrawl beside this one, for tests that cannot call for it themselves.

fn main() {
    tests::next_build::build();
}

//! Whole crawlers' revisit rules, as their papers and programs have them.

//! What would this policy have achieved? Policies and estimators against populations and recorded change times.

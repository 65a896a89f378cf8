#![cfg_attr(fuzzing, no_main)]

a2a_guard_fuzz::target!(known);

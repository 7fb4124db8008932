//! Metrics of a process, and metrics that every stage has.

metrics! {
    /// Metrics of a process as a whole.
    pub mod process ""
    BUILD_INFO = Gauge "recrawl_build_info" "1" "always 1; the version of the program" by ["version"];
    CPU_SECONDS = Counter "process_cpu_seconds_total" "seconds" "CPU time of the process, user and system";
    RESIDENT_MEMORY_BYTES = Gauge "process_resident_memory_bytes" "bytes" "memory of the process that is in RAM";
    VIRTUAL_MEMORY_BYTES = Gauge "process_virtual_memory_bytes" "bytes" "address space of the process";
    OPEN_FDS = Gauge "process_open_fds" "files" "open file descriptors";
    MAX_FDS = Gauge "process_max_fds" "files" "limit of open file descriptors; not shown where the system sets none";
    START_TIME_SECONDS = Gauge "process_start_time_seconds" "seconds" "start of the process, in seconds since 1970";
    RECORDS_OF_OTHER_VERSIONS = Counter "recrawl_records_of_other_versions_total" "records"
        "records read that another version wrote" by ["record"];
    PINGS_TAKEN = Counter "recrawl_pings_taken_total" "pages" "pages in accepted pings, written to the log as hints";
    PINGS_REFUSED = Counter "recrawl_pings_refused_total" "pages" "pages in pings that were refused";
    PINGS_IGNORED = Counter "recrawl_pings_ignored_total" "pings"
        "WebSub pings ignored because their signature is missing or wrong";
    INVARIANT_VIOLATIONS = Counter "recrawl_invariant_violations_total" "violations"
        "violations of invariants found by a stage; any value but 0 is a bug in recrawl" by ["stage", "invariant"];
    TRACE_SPANS_SENT = Counter "recrawl_trace_spans_sent_total" "spans" "spans of traces that the collector took";
    TRACE_SPANS_DROPPED = Counter "recrawl_trace_spans_dropped_total" "spans"
        "spans of traces that were lost: the collector did not take them, or more came than it took";
    DISK_FREE_BYTES = Gauge "recrawl_disk_free_bytes" "bytes"
        "bytes that the process can still write to the file system of its state";
    DISK_SIZE_BYTES = Gauge "recrawl_disk_size_bytes" "bytes" "size of the file system that holds the state";
    DISK_MIN_FREE_BYTES = Gauge "recrawl_disk_min_free_bytes" "bytes"
        "free bytes below which no more work is taken in (log.min_free_disk)";
    DISK_FREE_INODES = Gauge "recrawl_disk_free_inodes" "files"
        "files that can still be created on the file system of the state; not shown where it has no limit";
    DISK_MIN_FREE_INODES = Gauge "recrawl_disk_min_free_inodes" "files"
        "free inodes below which no more work is taken in; not shown where the file system has no limit";
    DISK_SHORT = Gauge "recrawl_disk_short" "1" "1 while no work is taken in because the disk is nearly full";
    TOPIC_PROBLEMS = Gauge "recrawl_topic_problems" "topics"
        "topics of the process's stages on Kafka that differ from what these need; /status and the log name them";
    CLOCK_AHEAD_SECONDS = Gauge "recrawl_clock_ahead_seconds" "seconds"
        "how far the clock of this machine is ahead of the Kafka brokers' clock, which the process follows; below zero if it is \
         behind, and absent if the brokers' clock cannot be read";
    LOG_MISSING_WRITES = Counter "recrawl_log_missing_writes_total" "writes"
        "writes known to be missing from the embedded log since its creation; power cuts may have lost more";
    LOG_INCARNATION = Gauge "recrawl_log_incarnation" "jumps"
        "number of times the embedded log's offsets jumped ahead so that no offset is used twice";
    LOG_OFFSETS_JUMPED = Gauge "recrawl_log_offsets_jumped" "1"
        "1 if offsets jumped ahead when this process opened the embedded log, because writes may be missing";
    LOG_POWER_CUT = Gauge "recrawl_log_power_cut" "1"
        "1 if the machine may have lost power before this process opened the embedded log";
}

metrics! {
    /// Work that waits, by stage and partition.
    pub mod backlog "recrawl_backlog_"
    RECORDS = Gauge "records" "records"
        "records that the stage's group has not processed, as the log says; also of partitions without an owner. Of a \
         delivery, changes that are not delivered" by ["stage", "partition"];
    SECONDS = Gauge "seconds" "seconds"
        "age of the oldest record not processed" by ["stage", "partition"];
}

metrics! {
    /// Metrics that every stage has, with its name as a label.
    pub mod stage "recrawl_stage_"
    READY = Gauge "ready" "1" "1 if the stage has joined its group and restored its state" by ["stage"];
    PARTITIONS = Gauge "partitions" "partitions" "partitions assigned to this process and restored" by ["stage"];
    PARTITIONS_RESTORING = Gauge "partitions_restoring" "partitions"
        "assigned partitions whose state is not restored yet" by ["stage"];
    INPUT_AHEAD_SECONDS = Gauge "input_ahead_seconds" "seconds"
        "how far the input of the last minute was ahead of this process's clock; above a few seconds the clocks of two processes differ" by ["stage"];
    RESTORE_REMAINING_RECORDS = Gauge "restore_remaining_records" "records"
        "changelog records still to replay, by the offsets of the log" by ["stage"];
    STATE_BYTES = Gauge "state_bytes" "bytes"
        "state of the assigned partitions on disk, estimated every 10 seconds" by ["stage"];
    FAILING = Gauge "failing" "1" "1 while calls to the log fail" by ["stage"];
    AWAITS_SCHEMA = Gauge "awaits_schema" "1" "1 while a record waits for its schema" by ["stage"];
    PROCESSED = Counter "processed_total" "records" "records processed" by ["stage"];
    SET_ASIDE = Counter "set_aside_total" "records"
        "records that could not be processed and were written to the dead letters" by ["stage"];
    COMMITS = Counter "commits_total" "transactions" "transactions committed" by ["stage"];
    LOG_FAILURES = Counter "log_failures_total" "calls" "calls to the log that failed" by ["stage"];
    REBALANCES = Counter "rebalances_total" "changes"
        "changes of the partitions assigned to this process: assignments and revocations" by ["stage"];
    REJOINS = Counter "rejoins_total" "times"
        "times the stage left its group after a failure and joined it again" by ["stage"];
    RESTORED_RECORDS = Counter "restored_records_total" "records"
        "changelog records replayed into stores" by ["stage"];
    TURNS = Counter "turns_total" "turns"
        "turns of the stage's loop; if it does not grow, the stage hangs" by ["stage"];
    STORES_REFILLED = Counter "stores_refilled_total" "stores"
        "stores emptied and refilled from their changelogs" by ["stage"];
    STATE_SET_ASIDE = Counter "state_set_aside_total" "partitions"
        "partition states set aside because they were damaged or belonged to another log" by ["stage"];
    INPUT_LOST = Counter "input_lost_total" "records"
        "input records deleted by retention before they were processed" by ["stage"];
    ANSWERS_LEFT_OUT = Counter "answers_left_out_total" "records"
        "answers left out because they exceed the record size of their topic" by ["stage"];
    WAITED_FOR_SCHEMA = Counter "waited_for_schema_total" "records"
        "records that waited for their schema" by ["stage"];
    BATCH_RECORDS = Histogram "batch_records" "records"
        "records that a poll returned, without empty polls" by ["stage"];
    POLL_TO_COMMIT_SECONDS = Histogram "poll_to_commit_seconds" "seconds"
        "time from the return of a poll to the end of the commit in the same turn of the loop" by ["stage"];
    COMMIT_SECONDS = Histogram "commit_seconds" "seconds"
        "time of a transaction, from the first call to the log's answer" by ["stage"];
    RESTORE_SECONDS = Histogram "restore_seconds" "seconds"
        "time from the assignment of a partition until its state is restored" by ["stage"];
    QUESTIONS_ANSWERED = Counter "questions_answered_total" "questions"
        "questions of operators answered" by ["stage"];
    QUESTIONS_EXPIRED = Counter "questions_expired_total" "questions"
        "questions of operators passed over because no command waits for the answer any more" by ["stage"];
}

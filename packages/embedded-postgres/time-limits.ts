// How long the embedded server is given to come and to go.

// Disconnects everyone and writes a checkpoint: well under a second unless the disk is very slow.
export const FAST_SHUTDOWN_MS_MAX = 8_000;
// No checkpoint, only exits; the next start replays the log.
export const IMMEDIATE_SHUTDOWN_MS_MAX = 4_000;
// Replaying two gigabytes of log after a crash, on a slow disk.
export const RECOVERY_MS_MAX = 300_000;

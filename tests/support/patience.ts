// Tests that wait for a condition give up after a second by default, which a busy machine exceeds. Set-up file of vitest.
import { vi } from "vitest";

const WAIT_MS = 30_000;

const { waitFor } = vi;
vi.waitFor = (callback, options = WAIT_MS) => waitFor(callback, options);

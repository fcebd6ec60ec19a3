// A long-running `sextant` command that a test kills with SIGKILL and starts again.
import { setTimeout as pause } from "node:timers/promises";
import { type SextantProcess, startSextant } from "./sextant-process.ts";

// Without its database a process may give up at its start, as it does below a supervisor.
const STARTS_MAX = 40;
const START_AGAIN_MS = 250;

export class KilledProcess {
  readonly #command: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #ready: RegExp;
  #process: SextantProcess | null = null;
  #output = "";

  constructor(command: string, environment: Readonly<Record<string, string>>, ready: RegExp) {
    this.#command = command;
    this.#environment = environment;
    this.#ready = ready;
  }

  /** Its URL now, or the last one. */
  get url(): string {
    return /"url":"(http:[^"]+)"/.exec(this.#output)?.[1] ?? "";
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const started = startSextant([this.#command], { environment: this.#environment });
      try {
        this.#output = await started.waitForOutput(this.#ready);
        this.#process = started;
        return;
      } catch (error) {
        if (attempt >= STARTS_MAX) throw error;
        await pause(START_AGAIN_MS);
      }
    }
  }

  async kill(): Promise<void> {
    const { child, ended } = this.#process ?? {};
    if (child?.exitCode !== null) throw new Error(`${this.#command} ended by itself: ${(await ended)?.err}`);
    child.kill("SIGKILL");
    await ended;
  }
}

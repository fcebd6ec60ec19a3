// A process that makes the history which all test files share; vitest's own must stay free to load modules for them.
import { type SimulatedHistory, type SimulatedHistoryOptions, simulateHistory } from "./simulated-history.ts";

/** The message of this process: the history, or why it could not be made. */
export type HistoryMessage = { readonly history: SimulatedHistory } | { readonly error: string };

const send = (message: HistoryMessage) => process.send?.(message);

process.once("message", async (options: SimulatedHistoryOptions) => {
  try {
    const { history, close } = await simulateHistory(options);
    process.once("message", async () => {
      await close().catch((error: Error) => {
        process.stderr.write(`${error.message}\n`);
        process.exitCode = 1;
      });
      process.disconnect();
    });
    send({ history });
  } catch (error) {
    send({ error: String(error instanceof Error ? error.stack : error) });
    process.disconnect();
  }
});

// A command that runs a service, such as `sextant portfolio`, in this process, until a test stops it.
import type { RunCommand } from "../../../src/cli/command.ts";
import { portfolioCommand } from "../../../src/cli/commands/portfolio.ts";
import type { Environment } from "../../../src/config/read-config.ts";
import { createTestLog } from "../nodes/test-rpc.ts";
import { waitFor } from "../payments/paid-client.ts";

const LISTENING = /"event":"[a-z]+_listening","url":"(http:[^"]+)"/;

export const startPortfolioCommand = (environment: Environment) =>
  startServiceCommand(portfolioCommand, environment);

export function startServiceCommand(run: RunCommand, environment: Environment) {
  const { log, logged } = createTestLog();
  const stop = new AbortController();
  const ended = run({
    environment,
    options: {},
    log,
    print: () => undefined,
    stop: stop.signal,
  });
  return {
    ended,
    logged,
    stop,
    /** Its URL once it listens; empty if it ended before. */
    async listening(): Promise<string> {
      await Promise.race([waitFor(() => LISTENING.test(logged())), ended]);
      return LISTENING.exec(logged())?.[1] ?? "";
    },
  };
}

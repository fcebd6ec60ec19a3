// `sextant portfolio` in this process, until a test stops it.
import { portfolioCommand } from "../../../src/cli/commands/portfolio.ts";
import type { Environment } from "../../../src/config/read-config.ts";
import { createTestLog } from "../nodes/test-rpc.ts";

export function startPortfolioCommand(environment: Environment) {
  const { log, logged } = createTestLog();
  const stop = new AbortController();
  const ended = portfolioCommand({
    environment,
    options: {},
    log,
    print: () => undefined,
    stop: stop.signal,
  });
  return { ended, logged, stop };
}

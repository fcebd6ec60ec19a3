// `sextant portfolio`: the wallet snapshot service.
import { createServer } from "../http/server.ts";
import { readConfig } from "../kit/config.ts";
import { aborted, type Command } from "./command.ts";
import { openConfiguredDatabase } from "./open-database.ts";
import { databaseSettings, listenSettings, portfolioSettings, requestSettings } from "./settings.ts";

export const portfolio: Command = {
  about:
    "Serves the portfolio service on PORTFOLIO_PORT. This version answers /health and /ready; the paid snapshot\n" +
    "comes with a later one.",
  options: {},
  async run({ environment, log, stop }) {
    const settings = { ...listenSettings, ...portfolioSettings, ...databaseSettings, ...requestSettings };
    const config = readConfig(environment, settings);
    const { close } = await openConfiguredDatabase(config, log, "portfolio");
    const reason = "This version of the portfolio service has no snapshot to sell yet.";
    const server = createServer({ ...config, log, ready: async () => ({ ready: false, reason }) });
    try {
      server.app.get("/health", async () => ({
        ok: true,
        service: "portfolio",
        name: "Sextant",
        x402DevBypass: false,
      }));
      const url = await server.listen({
        host: config.host,
        port: config.portfolioPort,
        variable: "PORTFOLIO_PORT",
      });
      log.info(`Portfolio service on ${url}`);
      await aborted(stop);
    } finally {
      await server.close();
      await close();
    }
    return 0;
  },
};

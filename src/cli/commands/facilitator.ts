// `sextant facilitator`: verifies x402 payments and settles them on chain.

import { facilitatorSettings, ledgerSettings, paymentSettings } from "../../config/payment-settings.ts";
import { readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  listenSettings,
  metricsSettings,
  requestSettings,
} from "../../config/service-settings.ts";
import { closeWithDeadline, createCloseStack, waitForAbort } from "../../lib/shutdown.ts";
import { checkFacilitatorConfig, createFacilitatorServer } from "../../payments/facilitator/server.ts";
import { checkLedgerReplication } from "../../payments/ledger/replication.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import type { RunCommand } from "../command.ts";

const settings = {
  ...listenSettings,
  ...metricsSettings,
  ...requestSettings,
  ...paymentSettings,
  ...facilitatorSettings,
  ...ledgerSettings,
  ...databaseSettings,
};

export const facilitatorCommand: RunCommand = async ({ environment, log, stop }) => {
  const config = readConfig(environment, settings);
  // Report configuration errors before anything starts.
  checkFacilitatorConfig(config);
  const opened = createCloseStack();
  try {
    const { database, close } = await openConfiguredDatabase(config, log, "facilitator");
    opened.push(close);
    const findLedgerRisk = await checkLedgerReplication(database, config, log);
    const dependencies = { database, findLedgerRisk, log, signal: stop };
    const { server, address, release } = await createFacilitatorServer(config, dependencies);
    opened.push(release);
    opened.push(() => closeWithDeadline([server.close]));
    const port = config.facilitatorPort;
    const metrics = { host: config.metricsHost, port: config.metricsPort };
    const url = await server.listen({ host: config.host, port, portVariable: "FACILITATOR_PORT", metrics });
    log.info(
      { component: "cli", event: "facilitator_listening", url, address, network: config.paymentNetwork },
      "Facilitator is listening",
    );
    await waitForAbort(stop);
  } catch (error) {
    // An abort while waiting for a node is a normal shutdown.
    if (!stop.aborted) throw error;
  } finally {
    await opened.closeAll();
  }
  return 0;
};

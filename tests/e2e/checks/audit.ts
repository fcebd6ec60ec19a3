// `sextant audit` finds no difference between the rows and the contracts.
import { runSextant } from "../services/run-command.ts";
import type { E2eCheck } from "./check.ts";

export const auditCheck: E2eCheck = {
  name: "sextant audit is clean",
  async run({ folder, databaseUrl, network, protocol }) {
    const environment = { DATABASE_URL: databaseUrl, NETWORK: network, RPC_URL: protocol.chain.rpcUrl };
    const { code, out, err } = await runSextant(["audit"], { environment, folder });
    if (code !== 0) throw new Error(`it ended with ${code}: ${out} ${err}`);
    return `exit 0, ${out.trimEnd().split("\n").at(-1)}`;
  },
};

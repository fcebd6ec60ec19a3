// A chain with a payment token, and `sextant facilitator` processes that settle on it.
import { createDatabaseEnvironment, type SextantProcess, startSextant } from "../process/sextant-process.ts";
import { openPaidStage, type PaidStage } from "./paid-stage.ts";

export type FacilitatorStage = PaidStage & {
  /** Everything that the command needs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns once it listens. */
  startFacilitator(): Promise<{ readonly service: SextantProcess; readonly url: string }>;
};

export async function openFacilitatorStage(): Promise<FacilitatorStage> {
  const [stage, database] = await Promise.all([openPaidStage("in process"), createDatabaseEnvironment()]);
  const environment = {
    ...database.environment,
    FACILITATOR_PORT: "0",
    SEXTANT_METRICS_PORT: "shared",
    FACILITATOR_PRIVATE_KEY: stage.chain.accounts.guardian.privateKey,
    FACILITATOR_PAYEES: stage.payTo,
    PAYMENT_NETWORK: "eip155:31337",
    PAYMENT_RPC_URL: stage.chain.rpcUrl,
    PAYMENT_ASSET: stage.asset,
    PAYMENT_ASSET_NAME: "USD Coin",
    PAYMENT_ASSET_VERSION: "2",
  };
  return {
    ...stage,
    environment,
    async startFacilitator() {
      const service = startSextant(["facilitator"], { environment });
      const pattern = /"event":"facilitator_listening","url":"(http:[^"]+)"/;
      return { service, url: pattern.exec(await service.waitForOutput(pattern))?.[1] ?? "" };
    },
    async close() {
      await stage.close();
      await database.drop();
    },
  };
}

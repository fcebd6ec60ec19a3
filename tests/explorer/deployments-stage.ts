// The explorer of a server with two deployments: the history that all files share is the second, below its path.
import { Client } from "pg";
import { apiCommand } from "../../src/cli/commands/api.ts";
import { startService } from "../indexer/installation-stage.ts";
import { createTestDatabase, formatConnectionUrl } from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { readSharedHistory } from "../support/index/simulated-history.ts";

export type DeploymentsStage = {
  readonly origin: string;
  /** The path of the second deployment. */
  readonly base: string;
  close(): Promise<void>;
};

// Longer than what a menu shows.
const NETWORK = "Optimism Sepolia Staging";
const NAME = "optimism-sepolia-staging";

export async function openDeploymentsStage(): Promise<DeploymentsStage> {
  const { template, deployment } = await readSharedHistory();
  const place = await createTestDatabase({ template });
  const url = formatConnectionUrl(place.connection);
  const client = new Client(url);
  await client.connect();
  await client.query(`alter schema sextant rename to other_${NAME.replaceAll("-", "_")}`);
  await client.end();
  const files = await DeploymentFiles.create();
  const write = (network: string) => files.write({ ...deployment, network });
  const environment = {
    DATABASE_URL: url,
    DATABASE_SCHEMA: "other",
    NETWORK: await write("first"),
    DEPLOYMENTS: await write(NETWORK),
    API_PORT: "0",
    // Every page is read several times within a minute.
    SEXTANT_REQUESTS_PER_MINUTE: "0",
  };
  const api = await startService(apiCommand, { environment, options: {} });
  return {
    origin: api.url,
    base: `/d/${NAME}`,
    async close() {
      await api.stop();
      await place.drop();
      await files.remove();
    },
  };
}

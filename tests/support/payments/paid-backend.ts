// The backend of paid services in tests: a chain with the token, and a database.
// Starting both costs more than most tests.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChainOptions, startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import type { TestDatabase } from "../database/test-database.ts";
import { openTestDatabase } from "../index/test-index.ts";

const TABLES = [
  ...["payments", "facilitator_settlements", "facilitator_reverts", "facilitator_contract_payers"],
  ...["facilitator_deposits"],
  ...["payment_channels", "channel_purchases", "channel_scans", "channel_transactions"],
  ...["payment_names", "channel_free_calls", "channel_deposits", "sign_ins"],
];
/** The first account without another role. */
const PAYER_INDEX = 8;

type Timed = { readonly timestamp: Hex };

export type PaidBackend = Awaited<ReturnType<typeof openPaidBackend>>;

type PaidBackendOptions = Pick<LocalChainOptions, "genesisTimestamp"> & {
  /** A migrated database; a new one by default. */
  readonly place?: TestDatabase;
};

export async function openPaidBackend({ place, ...given }: PaidBackendOptions = {}) {
  const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE, ...given });
  const { local } = await deploy({ request: chain.request, owner: chain.accounts.owner });
  const { database, drop } = await openTestDatabase(place);
  let deployed = await chain.request("evm_snapshot");
  let payers = 0;
  return {
    chain,
    asset: local.UsdCoin.toLowerCase() as Hex,
    database,
    /** Never the same one again, also after a reset: libraries remember accounts. */
    nextPayerIndex: () => PAYER_INDEX + payers++,
    /** Chain and database as they were at the start, the chain's time not behind the machine's. */
    async reset(): Promise<void> {
      await chain.request("evm_setIntervalMining", [0]);
      await chain.request("evm_setAutomine", [true]);
      if ((await chain.request("evm_revert", [deployed])) !== true)
        throw new Error("the chain did not reset");
      deployed = await chain.request("evm_snapshot");
      // Going back takes the clock of the chain back as well. Blocks in one second run ahead of the machine's.
      const { timestamp } = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Timed;
      const now = BigInt(Math.floor(Date.now() / 1_000));
      const next = BigInt(timestamp) + 1n;
      await chain.setNextBlockTimestamp(now > next ? now : next);
      await chain.mine();
      // A few rows: deleting them is faster than truncating.
      for (const table of TABLES) await database.query(`delete from ${table}`);
    },
    async close(): Promise<void> {
      await drop();
      await chain.stop();
    },
  };
}

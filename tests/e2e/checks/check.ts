// Something that must be true once the system is calm again.

import type { AcknowledgedWrite } from "../actors/writers.ts";
import type { ApiSessions } from "../clients/api-session.ts";
import { openServiceConnection } from "../clients/connection.ts";
import { runSextant } from "../services/services.ts";
import type { E2eSystem } from "../system.ts";

// `sextant audit` finds no difference between the rows and the contracts.

export const auditCheck: E2eCheck = {
  name: "sextant audit is clean",
  async run({ folder, databaseUrl, network, protocol }) {
    const environment = { DATABASE_URL: databaseUrl, NETWORK: network, RPC_URL: protocol.chain.rpcUrl };
    const { code, out, err } = await runSextant(["audit"], { environment, folder });
    if (code !== 0) throw new Error(`it ended with ${code}: ${out} ${err}`);
    return `exit 0, ${out.trimEnd().split("\n").at(-1)}`;
  },
};

// Every acknowledged write is readable from every process.

export const acknowledgedWritesCheck = (written: readonly AcknowledgedWrite[]): E2eCheck => ({
  name: "acknowledged writes are there",
  async run({ services, observations }) {
    const connections = services.apis.map(({ url }) => openServiceConnection(url));
    try {
      for (const [index, { path, holds }] of written.entries()) {
        const connection = connections[index % connections.length];
        const reply = await connection?.request(path);
        if (reply?.status !== 200 || !reply.text.includes(holds)) {
          observations.recordViolation(
            `${path} was acknowledged and is gone: ${reply?.status} ${reply?.text}`,
          );
        }
      }
    } finally {
      for (const connection of connections) connection.close();
    }
    return `${written.length} writes`;
  },
});

// Every block that a response named was a block of the chain, of the final branch or of one that a reorg removed.

export const reportedBlocksCheck = (sessions: ApiSessions): E2eCheck => ({
  name: "responses named real blocks",
  async run({ protocol, branches, observations }) {
    let gone = 0;
    for (const [hash, number] of sessions.heads) {
      if (branches.wasRemoved(hash)) {
        gone += 1;
        continue;
      }
      const block = (await protocol.chain.request("eth_getBlockByNumber", [
        `0x${number.toString(16)}`,
        false,
      ])) as { hash: string } | null;
      if (block?.hash !== hash) observations.recordViolation(`there never was a block ${number} ${hash}`);
    }
    return `${sessions.heads.size} blocks, ${gone} of them undone later`;
  },
});

export type E2eCheck = {
  readonly name: string;
  /** Resolves with what was compared, in a few words; throws or observes what is wrong. */
  run(system: E2eSystem): Promise<string>;
};

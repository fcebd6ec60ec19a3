// Every block that an answer named was really a block of the chain, of the branch that stayed or of one that went.
import type { ApiSessions } from "../clients/api-session.ts";
import type { E2eCheck } from "./check.ts";

export const reportedBlocksCheck = (sessions: ApiSessions): E2eCheck => ({
  name: "answers named real blocks",
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

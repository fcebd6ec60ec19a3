// Every block that an answer named was really a block of the chain, of the branch that stayed or of one that went.
import type { Sessions } from "../clients/api-session.ts";
import type { Check } from "./check.ts";

export const heads = (sessions: Sessions): Check => ({
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
      if (block?.hash !== hash) observations.wrong(`there never was a block ${number} ${hash}`);
    }
    return `${sessions.heads.size} blocks, ${gone} of them undone later`;
  },
});

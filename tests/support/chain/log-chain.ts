// A local chain with a known, uneven history of logs: what readers of logs are tested on.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { EMITTER_CODE, encodeTopic } from "@sextant/local-chain/testing/log-emitter";
import type { Hex } from "viem";
import { seededRandom } from "../seeded-random.ts";

export const EMITTERS: readonly Hex[] = [
  "0x00000000000000000000000000000000000e0001",
  "0x00000000000000000000000000000000000e0002",
  "0x00000000000000000000000000000000000e0003",
];
/** Emits like the others, but its logs are not requested. */
export const UNLISTED_EMITTER: Hex = "0x00000000000000000000000000000000000e0004";
export const TOPICS: readonly Hex[] = [encodeTopic(1), encodeTopic(2), encodeTopic(3)];
export const UNLISTED_TOPIC: Hex = encodeTopic(9);

export type LogChain = { readonly chain: LocalChain; readonly head: number };

/** About a third of the blocks have no logs at all, others up to `logsPerBlockMax`. */
export async function startLogChain(options: {
  blocks: number;
  seed: number;
  logsPerBlockMax?: number;
  chainId?: number;
}): Promise<LogChain> {
  const code = Object.fromEntries([...EMITTERS, UNLISTED_EMITTER].map((address) => [address, EMITTER_CODE]));
  const chain = await startLocalChain({
    chainId: options.chainId ?? 31337,
    blockTimeMs: 0,
    code,
    reorgDepthMax: 8,
  });
  const random = seededRandom(options.seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  for (let block = 0; block < options.blocks; block += 1) {
    const logs = random() < 0.35 ? 0 : 1 + Math.floor(random() * (options.logsPerBlockMax ?? 4));
    for (let i = 0; i < logs; i += 1) {
      const to = random() < 0.2 ? UNLISTED_EMITTER : pick(EMITTERS);
      const data = random() < 0.15 ? UNLISTED_TOPIC : pick(TOPICS);
      await chain.request("eth_sendTransaction", [
        { from: chain.accounts.agent.address, to, data, gas: "0xc350" },
      ]);
    }
    await chain.mine();
  }
  return { chain, head: options.blocks };
}

// Whatever is mined, sent and reorganised, the chain agrees with a plain list of blocks and logs.
import fc from "fast-check";
import type { RpcBlock } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { type LocalChain, startLocalChain } from "../local-chain.ts";
import {
  EMITTER,
  EMITTER_CODE,
  emitLog,
  readAllLogs,
  readHeadNumber,
  readRpcBlock,
} from "../testing/log-emitter.ts";

type Sent = { readonly value: number; readonly sender: "agent" | "solver" };
type Model = { blocks: (readonly Sent[])[]; sent: number };
type Step = (chain: LocalChain, model: Model) => Promise<void>;

const mine = fc.integer({ min: 1, max: 3 }).map(
  (count): Step =>
    async (chain, model) => {
      await chain.mine(count);
      for (let mined = 0; mined < count; mined += 1) model.blocks.push([]);
    },
);

const send = fc.constantFrom("agent" as const, "solver" as const).map(
  (sender): Step =>
    async (chain, model) => {
      model.sent += 1;
      await emitLog(chain, model.sent, chain.accounts[sender].address);
      model.blocks.push([{ value: model.sent, sender }]);
    },
);

const reorg = fc
  .record({
    share: fc.double({ min: 0.01, max: 1, noNaN: true }),
    extra: fc.integer({ min: 0, max: 2 }),
    // Replaying all transactions of a sender leaves no nonce gap, so each of them is mined again.
    keep: fc.constantFrom("none" as const, "all" as const, "agent" as const),
  })
  .map(
    ({ share, extra, keep }): Step =>
      async (chain, model) => {
        const depth = Math.min(Math.ceil(share * model.blocks.length), 20);
        if (depth === 0) return;
        const agent = chain.accounts.agent.address.toLowerCase();
        const result = await chain.reorg(depth, {
          blocks: depth + extra,
          replay: keep === "agent" ? ({ from }) => from === agent : keep,
        });
        const removed = model.blocks.splice(-depth).flat();
        const replayed = removed.filter(({ sender }) => keep === "all" || sender === keep);
        model.blocks.push(replayed, ...Array.from({ length: depth + extra - 1 }, () => []));
        const old = new Set(result.removed.map(({ hash }) => hash));
        expect(result.added.some(({ hash }) => old.has(hash))).toBe(false);
      },
  );

async function expectAgreement(chain: LocalChain, model: Model): Promise<void> {
  expect(await readHeadNumber(chain)).toBe(model.blocks.length);
  const blocks: RpcBlock[] = [];
  for (let number = 0; number <= model.blocks.length; number += 1)
    blocks.push(await readRpcBlock(chain, BigInt(number)));
  for (const [index, block] of blocks.entries()) {
    if (index > 0) expect(block.parentHash).toBe(blocks[index - 1]?.hash);
    if (index > 0)
      expect(BigInt(block.timestamp)).toBeGreaterThanOrEqual(BigInt(blocks[index - 1]?.timestamp ?? "0x0"));
  }
  const expected = model.blocks.flatMap((sent, index) =>
    sent.map(({ value }, logIndex) => ({
      number: index + 1,
      hash: blocks[index + 1]?.hash,
      logIndex,
      value,
    })),
  );
  const logs = (await readAllLogs(chain)).map((log) => ({
    number: Number(log.blockNumber),
    hash: log.blockHash,
    logIndex: Number(log.logIndex),
    value: Number(log.topics[0]),
  }));
  expect(logs).toEqual(expected);
}

describe("any sequence of mining, sending and reorganising", () => {
  it("leaves linked blocks, and the logs of exactly those blocks", async () => {
    const step = fc.oneof(
      { weight: 2, arbitrary: mine },
      { weight: 4, arbitrary: send },
      { weight: 2, arbitrary: reorg },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const chain = await startLocalChain({ chainId: 31337, code: { [EMITTER]: EMITTER_CODE } });
        const model: Model = { blocks: [], sent: 0 };
        try {
          for (const run of steps) {
            await run(chain, model);
            await expectAgreement(chain, model);
          }
        } finally {
          await chain.stop();
        }
      }),
      { numRuns: runsOf(30) },
    );
  });
});

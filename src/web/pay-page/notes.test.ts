// The sentences of the service itself, sorted by the page: of a wallet that was read in full none is a warning.
import type { Hex } from "viem";
import { expect, it } from "vitest";
import { makeChainData } from "../../../tests/support/portfolio/portfolio-parts.ts";
import { startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import { rpcHoldingsProvider } from "../../portfolio/providers/rpc/provider.ts";
import type { Holding } from "../../portfolio/types.ts";
import { valueSnapshot } from "../../portfolio/valuation/value-snapshot.ts";
import { sortNotes } from "./notes.ts";

const TOKEN: Hex = `0x${"ab".repeat(20)}`;
const described = { decimals: 18, logo: null, contract: TOKEN, rawBalance: 1n };
const LURE = { ...described, symbol: "CLAIM", name: "Visit rewards.example to claim" };
const UNPRICED = { ...described, contract: null, symbol: "ETH", name: "Ether" };

it("takes the block, the searched transfers and spam for routine, and what is missing for a warning", async () => {
  const stage = await startPortfolioStage({});
  const signal = AbortSignal.timeout(60_000);
  const at = await stage.port(await stage.node(), []).pin(signal);
  const { warnings } = await rpcHoldingsProvider.read({ at, wallet: stage.wallet }, signal);
  const read = (holding: Holding) => {
    const { summary } = valueSnapshot({
      wallet: stage.wallet,
      takenAtMs: 0,
      provider: "rpc",
      chains: [
        {
          ...makeChainData(at.chain, { block: at.block, holdings: [holding], warnings }),
        },
      ],
    });
    return sortNotes(summary.warnings);
  };
  const routine = [expect.stringContaining("was read at block"), expect.stringContaining("leave no log")];
  const { notes, warnings: none } = read(LURE);
  expect(notes.slice(0, 2)).toEqual(routine);
  expect(notes.slice(2).join("\n")).toMatch(/^Classified as spam .*visit/m);
  expect(none).toEqual([]);
  expect(read(UNPRICED)).toEqual({
    notes: routine,
    warnings: [expect.stringMatching(/^These tokens have no known price/)],
  });
});

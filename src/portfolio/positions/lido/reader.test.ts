// Lido on what its own contracts returned: the shared suite, and each state of a stake and a withdrawal.
import { describe, expect, it } from "vitest";
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { LidoMarket } from "./markets.ts";
import { createLidoReader } from "./reader.ts";
import recording from "./recording.json" with { type: "json" };

const market = recording.market as LidoMarket;
const wallet = recording.wallet as Hex;
const reader = createLidoReader(new Map([[31337, market]]));
const signal = new AbortController().signal;
const { staked, requested, slashed, paused, emptied } = recording.cases;

const stEth = {
  ...{ contract: market.stEth, symbol: "stETH", name: "Liquid staked Ether 2.0", decimals: 18, logo: null },
};
const ether = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };
const common = { protocol: "lido", kind: "staked" } as const;
const wrapped = (unwrapped: string) => ({
  ...{ ...common, name: "Wrapped staked ether", contract: market.wstEth, receiptTokens: [market.wstEth] },
  assets: [{ ...stEth, rawBalance: BigInt(unwrapped) }],
});
const toClaim = (claimed: string) => ({
  ...{ ...common, name: "Lido: ether to claim", contract: market.withdrawalQueue, receiptTokens: [] },
  assets: [{ ...ether, rawBalance: BigInt(claimed) }],
});
const waiting = (amount: string) => ({
  ...{ ...common, name: "Lido: withdrawal requested", contract: market.withdrawalQueue, receiptTokens: [] },
  assets: [{ ...stEth, rawBalance: BigInt(amount) }],
});

type Moment = Parameters<typeof openRecordedMoment>[0];
const read = async (moment: Moment, spoil?: (data: Hex, result: Hex | null) => Hex | null) => {
  const { holdings, ...record } = openRecordedMoment(moment);
  const at = openRecordedChain({
    ...record,
    ...(spoil ? { spoil: ({ data }, result) => spoil(data, result) } : {}),
  });
  return reader.read({ at, wallet, holdings }, signal);
};

describe("wstETH", () => {
  const moment = openRecordedMoment(staked);
  describePositionReader({
    ...{ reader, wallet, ...moment, emptyCalls: moment.calls },
    expected: [wrapped(staked.views.unwrapped)],
    roundsMax: 1,
    requestsMax: 6,
  });

  it("rejects more stETH than its total supply", async () => {
    const totalSupply = "0x18160ddd";
    const one: Hex = `0x${"1".padStart(64, "0")}`;
    const { positions, warnings } = await read(staked, (data, result) =>
      data === totalSupply ? one : result,
    );
    expect(positions).toEqual([]);
    expect(warnings).toEqual(["The rate of wstETH on Local could not be read; it is shown as a token."]);
  });
});

describe("withdrawals from Lido", () => {
  const moment = openRecordedMoment(slashed);
  describePositionReader({
    ...{ reader, wallet, ...moment, emptyCalls: moment.calls },
    expected: [
      wrapped(slashed.views.unwrapped),
      toClaim(slashed.views.claimed),
      waiting(slashed.views.waiting),
    ],
    roundsMax: 3,
    requestsMax: 10,
  });

  it("counts waiting withdrawals with what was requested as long as nothing was lost", async () => {
    const { unwrapped, waiting: amount } = requested.views;
    expect(await read(requested)).toEqual({ positions: [wrapped(unwrapped), waiting(amount)], warnings: [] });
    // The queue's own rounding, a unit for each request.
    expect(20n * 10n ** 18n - BigInt(amount)).toBeLessThanOrEqual(2n);
  });

  it("recorded withdrawals pay less than requested after a slashing, final or not", () => {
    const { claimed, claimRequested, waiting: amount, waitingRequested } = slashed.views;
    expect(BigInt(claimed)).toBeLessThan(BigInt(claimRequested));
    expect(BigInt(amount)).toBeLessThan(BigInt(waitingRequested));
  });

  it("counts withdrawals while Lido is stopped", async () => {
    const { unwrapped, claimed, waiting: amount } = paused.views;
    expect(await read(paused)).toEqual({
      positions: [wrapped(unwrapped), toClaim(claimed), waiting(amount)],
      warnings: [],
    });
  });

  it("finds no withdrawals after they are claimed", async () => {
    expect(await read(emptied)).toEqual({ positions: [], warnings: [] });
  });
});

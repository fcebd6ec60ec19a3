// Lido on what its own contracts returned: the shared suite, and each state of a stake and a withdrawal.
import { decodeFunctionData, encodeFunctionResult, parseAbi, toFunctionSelector } from "viem";
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/lido.json" with { type: "json" };
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import {
  RECORDED_SPENDER,
  RECORDED_THIEF,
  readRecordedExposure,
} from "../../../../tests/support/portfolio/recorded-exposure.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createLidoReader, type LidoMarket } from "./reader.ts";

const market = recording.market as LidoMarket;
const wallet = recording.wallet as Hex;
const reader = createLidoReader(new Map([[31337, [market]]]));
const signal = new AbortController().signal;
const { cases } = recording;
const { staked, requested, slashed, paused, emptied } = cases;
/** The selector of `getClaimableEther(uint256[],uint256[])`. */
const GET_CLAIMABLE_ETHER = "0xc97912d8";

const stEth = {
  ...{ contract: market.stEth, symbol: "stETH", name: "Liquid staked Ether 2.0", decimals: 18, logo: null },
};
const ether = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };
const common = { protocol: "lido", kind: "staked" } as const;
const wrapped = (unwrapped: string) => ({
  ...{ ...common, name: "Wrapped staked ether", contract: market.wstEth, receiptTokens: [market.wstEth] },
  assets: [{ ...stEth, rawBalance: BigInt(unwrapped) }],
});
const request = { ...common, contract: market.withdrawalQueue, receiptTokens: [] };
const toClaim = (id: bigint, claimed: string) => ({
  ...{ ...request, name: `Lido: ether to claim #${id}`, tokenId: id },
  assets: [{ ...ether, rawBalance: BigInt(claimed) }],
});
/** Ids from this one on, one after the other. */
const waiting = (first: bigint, amounts: readonly string[]) =>
  amounts.map((amount, index) => ({
    ...{ ...request, name: `Lido: withdrawal requested #${first + BigInt(index)}` },
    tokenId: first + BigInt(index),
    assets: [{ ...stEth, rawBalance: BigInt(amount) }],
  }));

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
      toClaim(2n, slashed.views.claimed),
      ...waiting(3n, slashed.views.waiting),
    ],
    roundsMax: 3,
    requestsMax: 10,
  });

  it("counts waiting withdrawals with what was requested as long as nothing was lost", async () => {
    const { unwrapped, waiting: amounts } = requested.views;
    expect(await read(requested)).toEqual({
      positions: [wrapped(unwrapped), ...waiting(2n, amounts)],
      warnings: [],
    });
    // The queue's own rounding, a unit for each request.
    expect(20n * 10n ** 18n - amounts.reduce((sum, amount) => sum + BigInt(amount), 0n)).toBeLessThanOrEqual(
      2n,
    );
  });

  it("recorded withdrawals pay less than requested after a slashing, final or not", () => {
    const { claimed, claimRequested, waiting: amounts, waitingRequested } = slashed.views;
    expect(BigInt(claimed)).toBeLessThan(BigInt(claimRequested));
    expect(BigInt(amounts[0] ?? "")).toBeLessThan(BigInt(waitingRequested));
  });

  it("counts withdrawals while Lido is stopped", async () => {
    const { unwrapped, claimed, waiting: amounts } = paused.views;
    expect(await read(paused)).toEqual({
      positions: [wrapped(unwrapped), toClaim(2n, claimed), ...waiting(3n, amounts)],
      warnings: [],
    });
  });

  it("finds no withdrawals after they are claimed", async () => {
    expect(await read(emptied)).toEqual({ positions: [], warnings: [] });
  });
});

describe("NFTs of withdrawals from Lido", () => {
  const prices = { native: 3_000n, [market.stEth]: 2_000n };
  const exposed = { wallet, readers: [reader], prices };
  const ether = Number(slashed.views.claimed) / 1e18;
  const stakedEther = Number(slashed.views.waiting[0]) / 1e18;
  const noLogs = { logs: [] };

  it("counts what each request pays as at risk, for the operator of all and for the approved account of one", async () => {
    const { permissions, summary } = await readRecordedExposure(cases.approved, exposed, noLogs);
    const both = 3_000 * ether + 2_000 * stakedEther;
    expect(permissions).toMatchObject([
      { kind: "nft-operator", spender: RECORDED_SPENDER, protocol: "lido", tokenId: null, partial: false },
      { kind: "nft-approval", spender: RECORDED_THIEF, protocol: "lido", tokenId: "3", partial: false },
    ]);
    expect(Number(permissions[0]?.valueAtRiskUsd)).toBeCloseTo(both, 4);
    expect(Number(permissions[1]?.valueAtRiskUsd)).toBeCloseTo(2_000 * stakedEther, 4);
    expect(summary).toMatchObject({ valueAtRiskUsd: permissions[0]?.valueAtRiskUsd, partial: false });
  });

  it("counts nothing as at risk after revocations that the queue accepted", async () => {
    const { permissions, summary } = await readRecordedExposure(cases["approved, revoked"], exposed);
    expect({ permissions, value: summary.valueAtRiskUsd }).toEqual({ permissions: [], value: "0" });
  });

  it("gives requests an unknown value if the queue does not say what they pay", async () => {
    const silent = openRecordedMoment(cases.approved).calls.filter(
      (call) => !("data" in call && call.data.startsWith(GET_CLAIMABLE_ETHER)),
    );
    const logs = (openRecordedMoment(cases.approved).logs ?? []).filter(
      ({ address }) => address === market.withdrawalQueue,
    );
    const record = { calls: silent, logs };
    const { permissions, summary } = await readRecordedExposure(cases.approved, exposed, record);
    expect(permissions).toMatchObject([
      { kind: "nft-approval", spender: RECORDED_THIEF, valueAtRiskUsd: null, partial: true },
      { kind: "nft-operator", spender: RECORDED_SPENDER, valueAtRiskUsd: null, partial: true },
    ]);
    expect(summary).toMatchObject({ valueAtRiskUsd: null, partial: true });
  });
});

describe("requests that third parties make for a wallet", () => {
  const abi = parseAbi([
    "function getWithdrawalRequests(address) view returns (uint256[])",
    "function getLastCheckpointIndex() view returns (uint256)",
    "function getLastFinalizedRequestId() view returns (uint256)",
    "function getPooledEthByShares(uint256) view returns (uint256)",
    "function getWithdrawalStatus(uint256[]) view returns ((uint256, uint256, address, uint256, bool, bool)[])",
    "function findCheckpointHints(uint256[], uint256, uint256) view returns (uint256[])",
  ]);
  const [own, dust, count] = [7n * 10n ** 18n, 100n, 450];

  /** A queue in which the wallet's own request is the oldest of all, at a share for a unit of ether. */
  function respond({ data }: { readonly data: Hex }): Hex | null {
    const call = decodeFunctionData({ abi, data });
    const { functionName } = call;
    switch (call.functionName) {
      case "getWithdrawalRequests":
        return encodeFunctionResult({
          abi,
          functionName,
          result: Array.from({ length: count }, (_, i) => i + 1).map(BigInt),
        });
      case "getWithdrawalStatus": {
        const amountOf = (id: bigint) => (id === 1n ? own : dust);
        const status = (id: bigint) => [amountOf(id), amountOf(id), wallet, 1n, false, false] as const;
        return encodeFunctionResult({ abi, functionName, result: call.args[0].map(status) });
      }
      case "findCheckpointHints":
        return encodeFunctionResult({ abi, functionName, result: [] });
      case "getPooledEthByShares":
        return encodeFunctionResult({ abi, functionName, result: call.args[0] });
      default:
        return encodeFunctionResult({ abi, functionName, result: 0n });
    }
  }

  it("the wallet's own request is shown first, and those of third parties as a sum", async () => {
    const { chain } = openRecordedMoment(emptied);
    const known = new Set(abi.map((item) => toFunctionSelector(item)));
    const at = openRecordedChain({
      ...{ chain, calls: [] },
      spoil: (call) => (known.has(call.data.slice(0, 10) as Hex) ? respond(call) : null),
    });
    const { positions, warnings, incompleteContracts } = await reader.read(
      { at, wallet, holdings: [] },
      signal,
    );
    expect(positions).toHaveLength(21);
    expect(positions[0]).toMatchObject({ tokenId: 1n, assets: [{ rawBalance: own }] });
    // The others that were read are one position.
    const rest = positions.at(-1);
    expect(rest).toMatchObject({
      ...{ name: "Lido: 180 smaller withdrawals", contract: market.withdrawalQueue },
      assets: [{ contract: market.stEth, rawBalance: 180n * dust }],
    });
    expect(rest).not.toHaveProperty("tokenId");
    expect(warnings).toEqual(["Only the largest 200 of 450 withdrawals from Lido on Local were read."]);
    expect(incompleteContracts).toEqual(new Set([market.withdrawalQueue]));
    expect(at.requests).toHaveLength(3);
  });
});

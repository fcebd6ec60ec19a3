// Ethena on what its own contracts returned: the shared suite on a cooldown, and sUSDe as the vault that it is.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/ethena.json" with { type: "json" };
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { PositionReader } from "../../types.ts";
import { createErc4626Reader } from "../erc4626/reader.ts";
import { createEthenaReader, type EthenaMarket } from "./reader.ts";

const market = recording.market as EthenaMarket;
const wallet = recording.wallet as Hex;
const reader = createEthenaReader(new Map([[31337, [market]]]));
const vaultReader = createErc4626Reader(
  new Map([[31337, { proofs: [], vaults: new Set([market.stakedUsde]) }]]),
);
const signal = new AbortController().signal;
const { cases } = recording;

const usde = { contract: market.usde, symbol: "USDe", name: "USDe", decimals: 18, logo: null };
const inCooldown = (amount: string) => ({
  ...{ protocol: "ethena", kind: "staked" as const, name: "Ethena: USDe in cooldown" },
  ...{ contract: market.stakedUsde, receiptTokens: [] },
  assets: [{ ...usde, rawBalance: BigInt(amount) }],
});
const vault = (assets: string) => ({
  ...{ protocol: "erc-4626", kind: "vault" as const, name: "Staked USDe" },
  ...{ contract: market.stakedUsde, receiptTokens: [market.stakedUsde] },
  assets: [{ ...usde, rawBalance: BigInt(assets) }],
});
type Moment = Parameters<typeof openRecordedMoment>[0];
const read = async (by: PositionReader, moment: Moment) => {
  const { holdings, ...record } = openRecordedMoment(moment);
  return by.read({ at: openRecordedChain(record), wallet, holdings }, signal);
};

describe("USDe in cooldown", () => {
  const moment = openRecordedMoment(cases["in cooldown"]);
  describePositionReader({
    ...{ reader, wallet, ...moment, emptyCalls: moment.calls },
    expected: [inCooldown(cases["in cooldown"].views.unstaked)],
    roundsMax: 1,
    requestsMax: 1,
  });

  it.each([
    ["when more was added and all of it is over", cases["cooldown over"]],
    ["when Ethena blocks the wallet", cases.blacklisted],
  ] as const)("counts USDe in cooldown with what is paid in the end, also %s", async (_name, each) => {
    expect(await read(reader, each)).toEqual({ positions: [inCooldown(each.views.unstaked)], warnings: [] });
  });

  it("finds no USDe in cooldown after it was withdrawn", async () => {
    expect(await read(reader, cases.emptied)).toEqual({ positions: [], warnings: [] });
    expect(await read(vaultReader, cases.emptied)).toEqual({ positions: [], warnings: [] });
  });
});

describe("sUSDe", () => {
  it.each(["half of the rewards vested", "donated", "in cooldown", "blacklisted"] as const)(
    "counts sUSDe with what its shares stand for: %s",
    async (name) => {
      const each = cases[name];
      expect(await read(vaultReader, each)).toEqual({ positions: [vault(each.views.shares)], warnings: [] });
    },
  );

  it("the recorded sUSDe grows with rewards as they vest, and at once with a donation", () => {
    const [vested, donated] = [cases["half of the rewards vested"], cases.donated].map((each) =>
      BigInt(each.views.shares),
    ) as [bigint, bigint];
    expect(vested).toBeGreaterThan(10_000n * 10n ** 18n);
    expect(donated).toBeGreaterThan((vested * 115n) / 100n);
  });
});

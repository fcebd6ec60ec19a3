// Allowances of spenders that a request names: which tokens they are of, and what is stated of each pair.
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { expect, it } from "vitest";
import { localChainConfig } from "../../../tests/support/portfolio/portfolio-stage.ts";
import type { Holding } from "../types.ts";
import { describeAskedAllowances, listAskedReads } from "./asked-allowances.ts";
import { PERMIT2 } from "./revocations.ts";
import { trustedRead } from "./scan-permissions.ts";

const spender = numberedAddress(0x5e4d);
const tokens = Array.from({ length: 25 }, (_, index) => numberedAddress(0x70000 + index));
const unlisted = numberedAddress(0xbad);
const stablecoin = numberedAddress(0x57ab);
const chain = { ...localChainConfig(tokens), stablecoins: new Set([stablecoin]) };
const holdingOf = (contract: Holding["contract"]): Holding => ({
  ...{ contract, symbol: null, name: null, decimals: 18, logo: null, rawBalance: 1n },
});
const list = (held: readonly Holding["contract"][], spenders = [spender]) =>
  listAskedReads({ chain, holdings: held.map(holdingOf), delegations: [], spenders });

it("the tokens are the most valuable listed ones that are held, and stablecoins", () => {
  const { reads, omittedCount } = list([null, unlisted, ...tokens.slice(0, 3)]);
  const asked = [...tokens.slice(0, 3), stablecoin];
  expect(reads.map(({ kind, contract }) => `${kind} ${contract}`)).toEqual(
    asked.flatMap((token) => [`erc20-allowance ${token}`, `permit2-allowance ${token}`]),
  );
  expect(omittedCount).toBe(0);
});

it("20 tokens are asked at most, and the others counted", () => {
  const { reads, omittedCount } = list(tokens);
  expect([reads.length, omittedCount]).toEqual([40, 5]);
  expect(list(tokens, []).reads).toEqual([]);
});

it("Permit2 is not asked about itself", () => {
  expect(list(tokens.slice(0, 1), [PERMIT2]).reads.map(({ kind }) => kind)).toEqual([
    "erc20-allowance",
    "erc20-allowance",
  ]);
});

it("each is stated, also one of nothing, one that ended, and one that could not be read", () => {
  const [live = unlisted, none = unlisted, failing = unlisted] = tokens;
  const over = trustedRead("permit2-allowance", live, spender);
  const reads = [
    over,
    ...[live, none, failing].map((token) => trustedRead("erc20-allowance", token, spender)),
  ];
  const found = [
    { ...over, value: 7n, extra: 1n },
    { ...trustedRead("erc20-allowance", live, spender), value: 5n, extra: 0n },
  ];
  const failed = [trustedRead("erc20-allowance", failing, spender)];
  const stated = describeAskedAllowances(reads, { found, failed });
  expect(stated.map(({ rawAllowance, expiresAt }) => [rawAllowance, expiresAt])).toEqual([
    ["7", "1970-01-01T00:00:01.000Z"],
    ["5", null],
    ["0", null],
    [null, null],
  ]);
});

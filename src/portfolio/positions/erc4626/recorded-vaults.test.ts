// Vaults of Euler, Fluid, Yearn, Sky and Aave on what their own contracts returned, in each state.
import { describe, expect, it } from "vitest";
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import type { Hex } from "../../../lib/hex.ts";
import euler from "./euler.json" with { type: "json" };
import fluid from "./fluid.json" with { type: "json" };
import type { VaultProof } from "./proofs.ts";
import { createErc4626Reader } from "./reader.ts";
import sky from "./sky.json" with { type: "json" };
import stata from "./stata.json" with { type: "json" };
import yearn from "./yearn.json" with { type: "json" };

type Recording = { readonly wallet: string; readonly proofs?: readonly { kind: string; registry: string }[] };
type Moment = Parameters<typeof openRecordedMoment>[0];

async function read({ wallet, proofs = [] }: Recording, moment: Moment) {
  const registry = { proofs: proofs as readonly VaultProof[], vaults: new Set<Hex>() };
  const { holdings, ...record } = openRecordedMoment(moment);
  const at = openRecordedChain(record);
  const { signal } = new AbortController();
  const query = { at, wallet: wallet as Hex, holdings };
  return createErc4626Reader(new Map([[31337, registry]])).read(query, signal);
}

const position = (vault: string, contract: string, amount: string) => ({
  contract: vault,
  receiptTokens: [vault],
  assets: [{ contract, rawBalance: BigInt(amount) }],
});
const unpayable = (vault: string) =>
  `The vault ${vault} on Local could not pay out all that it owes the wallet now; the rest is not counted.`;

describe("Euler", () => {
  const { cases, lending, nested, escrowed, usdc, weth } = euler;

  it("counts a vault of anyone's making with all that it owes while it has that", async () => {
    const { views } = cases.idle;
    const { positions, warnings, provenTokens } = await read(euler, cases.idle);
    expect(positions).toMatchObject([position(lending, usdc, views.assets)]);
    expect(warnings).toEqual([]);
    expect(provenTokens).toEqual(new Set([lending]));
  });

  it("counts it with its cash once more is borrowed", async () => {
    const { views } = cases["in use"];
    const { positions, warnings } = await read(euler, cases["in use"]);
    expect(positions).toMatchObject([position(lending, usdc, views.payable)]);
    expect(BigInt(views.payable)).toBeLessThan(BigInt(views.assets));
    expect(warnings).toEqual([unpayable(lending)]);
  });

  it.each(["in use and governed", "donated", "disabled and governed"] as const)(
    "counts one that Euler governs with all that it owes: %s",
    async (name) => {
      const { views } = cases[name];
      const { positions, warnings } = await read(euler, cases[name]);
      expect(positions).toMatchObject([position(lending, usdc, views.assets)]);
      expect(warnings).toEqual([]);
    },
  );

  it("deducts the fee on interest, and ignores a donation as the vault does", () => {
    const [used, donated] = [cases["in use and governed"], cases.donated].map(({ views }) =>
      BigInt(views.assets),
    ) as [bigint, bigint];
    // Ten percent on seven tenths, less a fifth.
    expect(used).toBeGreaterThan(1_055_000000n);
    expect(used).toBeLessThan(1_060_000000n);
    expect(donated - used).toBeLessThan(1_000n);
  });

  it("follows a vault of a vault that Euler governs, and does not value one of anyone's making", async () => {
    const governed = await read(euler, cases["nested and governed"]);
    expect(governed.positions).toMatchObject([
      position(nested, usdc, cases["nested and governed"].views.inner ?? ""),
    ]);
    const { positions, provenTokens, warnings } = await read(euler, cases.nested);
    expect({ positions, warnings }).toEqual({ positions: [], warnings: [] });
    expect(provenTokens).toEqual(new Set([nested]));
  });

  it("does not count a vault of anyone's making that pays nothing", async () => {
    const { positions, provenTokens, warnings } = await read(euler, cases.disabled);
    expect(cases.disabled.views.payable).toBe("0");
    expect(positions).toEqual([]);
    expect(provenTokens).toEqual(new Set([lending]));
    expect(warnings).toEqual([unpayable(lending)]);
  });

  it("does not count what may secure a loan in a vault of anyone's making, as the vault promises nothing then", async () => {
    const { views } = cases["with a loan"];
    expect(views.payable).toBe("0");
    expect(BigInt(views.assets)).toBe(3n * 10n ** 18n);
    const { positions, warnings } = await read(euler, cases["with a loan"]);
    expect(positions).toEqual([]);
    expect(warnings).toEqual([unpayable(escrowed)]);
  });

  it("counts an escrow, and nothing once it is empty", async () => {
    const { positions } = await read(euler, cases.escrow);
    expect(positions).toMatchObject([position(escrowed, weth, cases.escrow.views.redeemable)]);
    expect(await read(euler, cases.emptied)).toEqual({ positions: [], warnings: [] });
  });
});

describe("Fluid", () => {
  const { cases, fToken, usdc } = fluid;
  it.each(["idle", "in use", "donated", "paused"] as const)(
    "counts an fToken with what its shares stand for: %s",
    async (name) => {
      const { positions, warnings, provenTokens } = await read(fluid, cases[name]);
      expect(positions).toMatchObject([position(fToken, usdc, cases[name].views.assets)]);
      expect(warnings).toEqual([]);
      expect(provenTokens).toEqual(new Set([fToken]));
    },
  );

  it("earned interest, of which only a part can be withdrawn at once", () => {
    const { assets, payable } = cases["in use"].views;
    expect(BigInt(assets)).toBeGreaterThan(BigInt(cases.idle.views.assets));
    expect(BigInt(payable)).toBeLessThan(BigInt(assets));
  });

  it("finds nothing in an emptied wallet", async () => {
    expect(await read(fluid, cases.emptied)).toEqual({ positions: [], warnings: [] });
  });
});

describe("Yearn", () => {
  const { cases, strategy, usdc } = yearn;
  it.each([
    "endorsed",
    "donated",
    "half of the profit unlocked",
    "all of the profit unlocked",
    "after a loss",
    "shut down",
  ] as const)("counts an endorsed strategy with what a redemption pays: %s", async (name) => {
    const { positions, warnings, provenTokens } = await read(yearn, cases[name]);
    expect(positions).toMatchObject([position(strategy, usdc, cases[name].views.redeemed)]);
    expect(warnings).toEqual([]);
    expect(provenTokens).toEqual(new Set([strategy]));
  });

  it("keeps its fee of the profit, which is there bit by bit, and bears a loss at once", () => {
    const redeemed = (name: keyof typeof cases) => BigInt(cases[name].views.redeemed);
    expect(redeemed("half of the profit unlocked")).toBeGreaterThan(redeemed("donated"));
    // A tenth of the profit of 600 was paid as shares, at the price before it.
    expect(redeemed("all of the profit unlocked")).toBe((5_600_000000n * 5_000n) / 5_060n);
    expect(redeemed("after a loss")).toBeLessThan(redeemed("donated"));
  });

  it("does not count what the registry does not endorse, nor what is gone", async () => {
    const unmarketedTokens = new Set([strategy]);
    expect(await read(yearn, cases["not endorsed"])).toEqual({
      positions: [],
      unmarketedTokens,
      warnings: [],
    });
    expect(await read(yearn, cases.emptied)).toEqual({ positions: [], warnings: [] });
  });
});

describe("Sky savings", () => {
  const { cases, sDai, dai, stUsds, usds } = sky;
  it.each([
    ["sDAI before the rate was collected", sDai, dai],
    ["stUSDS before the rate was collected", stUsds, usds],
    ["stUSDS after a loss", stUsds, usds],
  ] as const)("counts what a redemption pays: %s", async (name, vault, asset) => {
    const { positions, warnings } = await read(sky, cases[name]);
    expect(positions).toMatchObject([position(vault, asset, cases[name].views.redeemed)]);
    expect(warnings).toEqual([]);
  });

  it("counts less after a loss, and nothing once it is empty", async () => {
    const { "stUSDS before the rate was collected": before, "stUSDS after a loss": after } = cases;
    expect(BigInt(after.views.redeemed)).toBeLessThan(BigInt(before.views.redeemed));
    for (const name of ["sDAI emptied", "stUSDS emptied"] as const)
      expect(await read(sky, cases[name])).toEqual({ positions: [], warnings: [] });
  });
});

describe("Aave's static tokens", () => {
  const { cases, stata: token, usdc } = stata;
  it.each(["in use", "donated", "paused"] as const)(
    "count with what the market owes their shares: %s",
    async (name) => {
      const { positions, warnings, provenTokens } = await read(stata, cases[name]);
      expect(positions).toMatchObject([position(token, usdc, cases[name].views.assets)]);
      expect(warnings).toEqual([]);
      expect(provenTokens).toEqual(new Set([token]));
    },
  );

  it("are gone from an emptied wallet", async () => {
    expect(await read(stata, cases.emptied)).toEqual({ positions: [], warnings: [] });
  });
});

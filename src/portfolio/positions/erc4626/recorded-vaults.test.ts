// Vaults of Euler, Fluid, Yearn, Sky and Aave on what their own contracts returned, in each state.
import { toFunctionSelector } from "viem";
import { describe, expect, it } from "vitest";
import euler from "../../../../tests/fixtures/positions/erc4626/euler.json" with { type: "json" };
import fluid from "../../../../tests/fixtures/positions/erc4626/fluid.json" with { type: "json" };
import sky from "../../../../tests/fixtures/positions/erc4626/sky.json" with { type: "json" };
import stata from "../../../../tests/fixtures/positions/erc4626/stata.json" with { type: "json" };
import yearn from "../../../../tests/fixtures/positions/erc4626/yearn.json" with { type: "json" };
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import {
  makeChainData,
  makePrices,
  makeSnapshot,
} from "../../../../tests/support/portfolio/portfolio-parts.ts";
import { formatDecimal } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createErc4626Reader } from "./reader.ts";
import type { VaultProof } from "./registries.ts";

type Recording = {
  readonly wallet: string;
  readonly proofs?: readonly { kind: string; registry: string }[];
  readonly eulerConnector?: string;
  /** Known by address. */
  readonly vaults?: readonly string[];
};
type Moment = Parameters<typeof openRecordedMoment>[0];
type Prices = Parameters<typeof makePrices>[0];

async function read(
  { wallet, proofs = [], eulerConnector, vaults = [] }: Recording,
  moment: Moment,
  spoil?: Parameters<typeof openRecordedChain>[0]["spoil"],
) {
  const registry = {
    ...{ proofs: proofs as readonly VaultProof[], vaults: new Set(vaults as readonly Hex[]) },
    ...(eulerConnector ? { eulerConnector: eulerConnector as Hex } : {}),
  };
  const { holdings, ...record } = openRecordedMoment(moment);
  const at = openRecordedChain({ ...record, ...(spoil ? { spoil } : {}) });
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
  const market = `euler:${euler.wallet}`;
  const collateral = { protocol: "euler", kind: "supplied" };

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

  it("the recorded Euler vault deducts its fee on interest, and ignores a donation", () => {
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

  it("counts the cash of a vault of anyone's making, which says that it pays nothing to who may borrow", async () => {
    const { views } = cases["before a loan"];
    expect(views.payable).toBe("0");
    const { positions, warnings, hasUnreadDebt } = await read(euler, cases["before a loan"]);
    expect(positions).toMatchObject([{ protocol: "erc-4626", ...position(escrowed, weth, views.assets) }]);
    expect({ warnings, hasUnreadDebt }).toEqual({ warnings: [], hasUnreadDebt: undefined });
  });

  it("shows a loan with its interest in one account with its collateral", async () => {
    const { views } = cases["with a loan"];
    const { positions, warnings, hasUnreadDebt } = await read(euler, cases["with a loan"]);
    expect(positions).toMatchObject([
      { ...collateral, ...position(escrowed, weth, views.assets), market },
      {
        ...{ protocol: "euler", kind: "borrowed", name: "Euler USDC: debt", contract: lending, market },
        receiptTokens: [views.debtToken.toLowerCase()],
        assets: [{ contract: usdc, rawBalance: BigInt(views.debt), decimals: 6 }],
      },
    ]);
    expect(BigInt(views.debt)).toBeGreaterThan(50_000000n);
    expect(positions.some(({ incomplete }) => incomplete)).toBe(false);
    expect({ warnings, hasUnreadDebt }).toEqual({ warnings: [], hasUnreadDebt: undefined });
  });

  it("subtracts the loan from its collateral, or has no total while either has no price", async () => {
    const total = async (name: "with a loan" | "with a loan, disabled", prices: Prices) => {
      const { positions } = await read(euler, cases[name]);
      const { chain } = openRecordedMoment(cases[name]);
      return makeSnapshot(makeChainData(chain, { positions, prices: makePrices(prices) })).summary
        .totalValueUsd;
    };
    const known = { [weth]: "3000", [usdc]: "1" };
    const net = 9_000_000000n - BigInt(cases["with a loan"].views.debt);
    expect(await total("with a loan", known)).toBe(formatDecimal({ units: net, scale: 6 }));
    expect(await total("with a loan", { [weth]: "3000" })).toBeNull();
    expect(await total("with a loan", { [usdc]: "1" })).toBeNull();
    expect(await total("with a loan, disabled", known)).toBeNull();
  });

  it("says that an account with a loan is unknown while its collateral pays nothing", async () => {
    const { positions, warnings } = await read(euler, cases["with a loan, disabled"]);
    expect(positions).toMatchObject([{ kind: "borrowed", market, incomplete: true }]);
    expect(warnings).toEqual([unpayable(escrowed)]);
  });

  it("shows collateral and loan of a sub-account next to the wallet's own shares", async () => {
    const { views } = cases["with a loan of a sub-account"];
    const account = `0x${(BigInt(euler.wallet) ^ 7n).toString(16).padStart(40, "0")}`;
    const { positions, warnings } = await read(euler, cases["with a loan of a sub-account"]);
    expect(positions).toMatchObject([
      { protocol: "erc-4626", ...position(escrowed, weth, views.assets) },
      {
        ...{ ...collateral, market: `euler:${account}`, receiptTokens: [], contract: escrowed },
        assets: [{ contract: weth, rawBalance: BigInt(views.collateral) }],
      },
      {
        ...{ protocol: "euler", kind: "borrowed", name: "Euler USDC: debt (sub-account 7)" },
        ...{ market: `euler:${account}`, receiptTokens: [] },
        assets: [{ contract: usdc, rawBalance: BigInt(views.debt) }],
      },
    ]);
    expect(warnings).toEqual([]);
    const repaid = await read(euler, cases["with a repaid sub-account"]);
    expect(repaid.positions.map(({ kind, market }) => [kind, market ?? null])).toEqual([
      ["vault", null],
      ["supplied", null],
    ]);
  });

  it("counts the cash of a vault of anyone's making once, however many accounts of the wallet have shares", async () => {
    const ether = 10n ** 18n;
    // One of the four that it owes was borrowed.
    const cash = toFunctionSelector("cash()");
    const { positions, warnings } = await read(
      euler,
      cases["with a loan of a sub-account"],
      ({ to, data }, returned) =>
        to === escrowed && data === cash ? `0x${(3n * ether).toString(16).padStart(64, "0")}` : returned,
    );
    const counted = positions.filter(({ contract }) => contract === escrowed);
    expect(counted.map(({ kind, assets }) => [kind, assets[0]?.rawBalance])).toEqual([
      ["vault", 2n * ether],
      ["supplied", ether],
    ]);
    // The code says so, and not the vault itself.
    expect(counted.some(({ selfReported }) => selfReported)).toBe(false);
    expect(warnings).toEqual([
      `The vault ${escrowed} on Local rests on assets that other shares of the wallet rest on, which count once.`,
    ]);
  });

  it.each([
    ["owner", "0x442b172c"],
    ["lenders", "0xfd6046d7"],
    ["collateral", "0xa4d25d1e"],
    ["debt", "0xd283e75f"],
  ])("says that a debt may be missing when the %s cannot be read", async (_, selector) => {
    const result = await read(euler, cases["with a loan"], ({ data }, returned) =>
      data.startsWith(selector) ? null : returned,
    );
    expect(result.hasUnreadDebt).toBe(true);
    expect(result.warnings).toContain("What the wallet owes in Euler on Local could not be read in full.");
  });

  it("does not believe what a lender says that is not Euler's", async () => {
    const factory = euler.proofs.find(({ kind }) => kind === "eulerFactory")?.registry;
    const result = await read(euler, cases["with a loan"], ({ to, data }, returned) =>
      to === factory && data.endsWith(lending.slice(2)) ? `0x${"0".repeat(64)}` : returned,
    );
    expect(result.hasUnreadDebt).toBe(true);
    expect(result.positions.map(({ kind }) => kind)).not.toContain("borrowed");
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

  it("the recorded fToken earned interest, of which only a part can be withdrawn at once", () => {
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

  it("the recorded Yearn strategy pays profit less its fee bit by bit, and a loss at once", () => {
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
  const pinned = { wallet: sky.wallet, vaults: [sDai, stUsds] };
  it.each([
    ["sDAI before the rate was collected", sDai, dai],
    ["stUSDS before the rate was collected", stUsds, usds],
    ["stUSDS after a loss", stUsds, usds],
  ] as const)("counts what a redemption pays: %s", async (name, vault, asset) => {
    const { positions, warnings } = await read(pinned, cases[name]);
    expect(positions).toMatchObject([position(vault, asset, cases[name].views.redeemed)]);
    expect(warnings).toEqual([]);
  });

  it("counts less after a loss, and nothing once it is empty", async () => {
    const { "stUSDS before the rate was collected": before, "stUSDS after a loss": after } = cases;
    expect(BigInt(after.views.redeemed)).toBeLessThan(BigInt(before.views.redeemed));
    for (const name of ["sDAI emptied", "stUSDS emptied"] as const)
      expect(await read(pinned, cases[name])).toEqual({ positions: [], warnings: [] });
  });
});

describe("Aave's static tokens", () => {
  const { cases, stata: token, usdc } = stata;
  it.each(["in use", "donated", "paused"] as const)(
    "counts Aave's static tokens with what the market owes their shares: %s",
    async (name) => {
      const { positions, warnings, provenTokens } = await read(stata, cases[name]);
      expect(positions).toMatchObject([position(token, usdc, cases[name].views.assets)]);
      expect(warnings).toEqual([]);
      expect(provenTokens).toEqual(new Set([token]));
    },
  );

  it("finds no static tokens of Aave in an emptied wallet", async () => {
    expect(await read(stata, cases.emptied)).toEqual({ positions: [], warnings: [] });
  });
});

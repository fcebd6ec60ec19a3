// Who may act in Compound v3, Venus, Euler, for a Safe and by Calibur, as their own contracts said and accepted.
import { describe, expect, it } from "vitest";
import allowanceModule from "../../../tests/fixtures/exposure/allowance-module.json" with { type: "json" };
import calibur from "../../../tests/fixtures/exposure/calibur.json" with { type: "json" };
import comet from "../../../tests/fixtures/positions/compound-v3.json" with { type: "json" };
import euler from "../../../tests/fixtures/positions/erc4626/euler.json" with { type: "json" };
import venus from "../../../tests/fixtures/positions/venus.json" with { type: "json" };
import { openRecordedMoment, type RecordedMoment } from "../../../tests/support/chain/recorded-chain.ts";
import {
  RECORDED_SPENDER,
  RECORDED_THIEF,
  readRecordedExposure,
} from "../../../tests/support/portfolio/recorded-exposure.ts";
import type { Hex } from "../../lib/hex.ts";
import type { CompoundV2Pool } from "../positions/compound-v2/contracts.ts";
import { createVenusReader } from "../positions/compound-v2/reader.ts";
import { createCompoundV3Reader } from "../positions/compound-v3/reader.ts";
import { createErc4626Reader } from "../positions/erc4626/reader.ts";
import type { VaultRegistry } from "../positions/erc4626/registries.ts";
import type { AssetKey, PositionReader } from "../types.ts";
import { NATIVE_COIN } from "./value-at-risk.ts";

const CHAIN_ID = 31337;
const KINDS = new Set(["position-operator"]);

type Recorded = {
  readonly wallet: string;
  readonly reader: PositionReader;
  readonly prices?: Readonly<Partial<Record<AssetKey, bigint>>>;
};

/** Token approvals, which the wallet gave to use the protocol, are left out. */
async function read(
  moment: RecordedMoment,
  { wallet, reader, prices = {} }: Recorded,
  changes: Parameters<typeof readRecordedExposure>[2] = {},
) {
  const exposed = { wallet: wallet as Hex, readers: [reader], prices };
  const { permissions, summary } = await readRecordedExposure(moment, exposed, changes);
  return { permissions: permissions.filter(({ kind }) => KINDS.has(kind)), summary };
}

describe("managers of a Comet", () => {
  const markets = [{ name: "Test", comet: comet.comet as Hex, isInDollars: true }];
  const recorded = {
    wallet: comet.wallet,
    reader: createCompoundV3Reader(new Map([[CHAIN_ID, markets]])),
  };
  const moments = comet.cases;
  const { views } = moments["with managers"];
  const owned = (Number(views.collateral) / 1e18) * (Number(views.collateralPrice) / 1e8);
  const net = owned - (Number(views.borrowed) / 1e6) * (Number(views.basePrice) / 1e8);

  it("counts what the account is worth after its debt for each manager, and once for all together", async () => {
    const { permissions, summary } = await read(moments["with managers"], recorded);
    expect(new Set(permissions.map(({ spender }) => spender))).toEqual(
      new Set([RECORDED_SPENDER, RECORDED_THIEF]),
    );
    for (const permission of permissions) {
      expect(permission).toMatchObject({ contract: comet.comet, protocol: "compound-v3", partial: false });
      expect(Number(permission.valueAtRiskUsd)).toBeCloseTo(net, 2);
    }
    expect(Number(summary.valueAtRiskUsd)).toBeCloseTo(net, 2);
  });

  it("finds known managers without a log, and no longer after their revocation", async () => {
    const known = await read(moments["with managers"], recorded, { logs: [] });
    expect(known.permissions).toMatchObject([{ spender: RECORDED_SPENDER, spenderName: "Router" }]);
    expect((await read(moments["with managers, revoked"], recorded)).permissions).toEqual([]);
  });
});

describe("delegates in Venus", () => {
  const pool = venus.pool as CompoundV2Pool;
  const recorded = { wallet: venus.wallet, reader: createVenusReader(new Map([[CHAIN_ID, [pool]]])) };
  const moments = venus.cases;
  const net = moments["with delegates"].views.markets.reduce(
    (sum, { supplied, borrowed, price }) =>
      sum + ((Number(supplied) - Number(borrowed)) * Number(price)) / 1e36,
    0,
  );

  it("counts what the account is worth after its debt for each delegate, and once for all together", async () => {
    const { permissions, summary } = await read(moments["with delegates"], recorded);
    expect(new Set(permissions.map(({ spender }) => spender))).toEqual(
      new Set([RECORDED_SPENDER, RECORDED_THIEF]),
    );
    for (const permission of permissions) {
      expect(permission).toMatchObject({ contract: pool.comptroller, protocol: "venus", partial: false });
      expect(Number(permission.valueAtRiskUsd)).toBeCloseTo(net, 2);
    }
    expect(Number(summary.valueAtRiskUsd)).toBeCloseTo(net, 2);
  });

  it("finds delegates without a log if they act on positions, and no longer after their revocation", async () => {
    const known = await read(moments["with delegates"], recorded, { logs: [] });
    expect(known.permissions).toMatchObject([{ spender: RECORDED_SPENDER, spenderName: "Router" }]);
    expect((await read(moments["with delegates, revoked"], recorded)).permissions).toEqual([]);
  });
});

describe("operators in Euler", () => {
  const connector = euler.eulerConnector as Hex;
  const proofs = euler.proofs as VaultRegistry["proofs"];
  const registry = { eulerConnector: connector, proofs, vaults: new Set<Hex>() };
  const recorded = {
    wallet: euler.wallet,
    reader: createErc4626Reader(new Map([[CHAIN_ID, registry]])),
    prices: { [euler.usdc]: 1n, [euler.weth]: 3_000n },
  };
  const moments = euler.cases;
  const { views } = moments["with operators"];

  it("counts what is in the accounts that operators can take from, those of sub-accounts after the debt", async () => {
    // The wallet's allowances of tokens are another matter.
    const { logs = [] } = openRecordedMoment(moments["with operators"]);
    const ofConnector = { logs: logs.filter(({ address }) => address === connector) };
    const { permissions, summary } = await read(moments["with operators"], recorded, ofConnector);
    const own = (Number(views.assets) / 1e18) * 3_000;
    const sub = (Number(views.collateral) / 1e18) * 3_000 - Number(views.debt) / 1e6;
    expect(permissions).toMatchObject([
      { spender: RECORDED_SPENDER, contract: connector, protocol: "euler", partial: false },
      { spender: RECORDED_THIEF, contract: connector, protocol: "euler", partial: false },
    ]);
    expect(permissions.map(({ valueAtRiskUsd }) => Number(valueAtRiskUsd).toFixed(2))).toEqual([
      own.toFixed(2),
      sub.toFixed(2),
    ]);
    expect(Number(summary.valueAtRiskUsd)).toBeCloseTo(own + sub, 2);
  });

  it("finds known operators without a log, and no longer after their revocation", async () => {
    const known = await read(moments["with operators"], recorded, { logs: [] });
    expect(known.permissions).toMatchObject([{ spender: RECORDED_SPENDER, spenderName: "Router" }]);
    expect((await read(moments["with operators, revoked"], recorded)).permissions).toEqual([]);
  });
});

describe("limits of Safe's Allowance Module", () => {
  const moments = allowanceModule.cases;
  const spenders = [
    { kind: "allowance-module", deployments: [[CHAIN_ID, allowanceModule.module as Hex]] },
  ] as const;
  const exposed = { wallet: allowanceModule.safe as Hex, readers: [], spenders };
  const { token, module, delegate } = allowanceModule;
  const readLimits = async (moment: RecordedMoment) => {
    const { permissions, summary } = await readRecordedExposure(moment, {
      ...exposed,
      prices: { [token]: 2n },
    });
    expect(permissions.filter(({ kind }) => kind === "module")).toMatchObject([
      { spender: module, valueAtRiskUsd: "0" },
    ]);
    return { limits: permissions.filter(({ kind }) => kind === "module-allowance"), summary };
  };

  it("counts what is left of a limit as at risk, and all of it once it has renewed itself", async () => {
    const spent = await readLimits(moments["spent in part"]);
    const ofToken = { contract: token, spender: delegate.toLowerCase(), via: module };
    // The Safe holds no ether.
    const ofEther = { contract: NATIVE_COIN, via: module, allowance: "0.1", valueAtRiskUsd: "0" };
    expect(spent.limits).toMatchObject([{ ...ofToken, allowance: "20", valueAtRiskUsd: "40" }, ofEther]);
    expect(spent.summary).toMatchObject({ valueAtRiskUsd: "40", partial: false });
    expect((await readLimits(moments.renewed)).limits).toMatchObject([
      { ...ofToken, allowance: "30", valueAtRiskUsd: "60" },
      ofEther,
    ]);
  });

  it("the limits are gone after their revocation by the Safe", async () => {
    const { limits, summary } = await readLimits(moments["renewed, revoked"]);
    expect({ limits, value: summary.valueAtRiskUsd }).toEqual({ limits: [], value: "0" });
  });
});

describe("keys of Calibur", () => {
  const delegate = calibur.delegate as Hex;
  const spenders = [
    { kind: "delegate", furtherKeys: "counted", deployments: [[CHAIN_ID, delegate]] },
  ] as const;
  const readDelegate = async (moment: RecordedMoment) => {
    const exposed = { wallet: calibur.wallet as Hex, readers: [], spenders };
    const { permissions, summary } = await readRecordedExposure(moment, exposed);
    return [permissions.find(({ kind }) => kind === "delegate"), summary] as const;
  };

  it("counts nothing as at risk while no key is registered, and an unknown part with one", async () => {
    const none = await readDelegate(calibur.cases["without keys"]);
    expect(none).toMatchObject([{ spender: delegate, valueAtRiskUsd: "0" }, { partial: false }]);
    const one = await readDelegate(calibur.cases["with a key"]);
    expect(one).toMatchObject([{ spender: delegate, valueAtRiskUsd: null }, { partial: true }]);
  });
});

// ERC-4626 vaults: the shared suite on recorded sDAI, dishonest vaults, MetaMorpho's, and a real vault on a real EVM.
import { readFileSync } from "node:fs";
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { vault4626Abi, vault4626Bytecode } from "@sextant/contracts/generated/vault4626";
import { startEvm } from "@sextant/contracts/test/evm";
import { describe, expect, it } from "vitest";
import sky from "../../../../tests/fixtures/positions/erc4626/sky.json" with { type: "json" };
import * as fixture from "../../../../tests/fixtures/positions/erc4626.ts";
import {
  FIXTURE_WALLET,
  fixtureChainConfig,
  fixtureToken,
} from "../../../../tests/fixtures/positions/fixture-chain.ts";
import {
  openRecordedChain,
  openRecordedMoment,
  type RecordedCall,
  readChainRecord,
} from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import { ResultsByBlock } from "../../contract-reads/read-groups.ts";
import type { ContractRead, Holding, PinnedChain } from "../../types.ts";
import { createErc4626Reader, erc4626Reader } from "./reader.ts";
import { VAULT_REGISTRIES } from "./registries.ts";

const {
  DAI,
  SAVINGS_DAI,
  VAULT_WETH: WETH,
  UNLISTED_VAULT: UNLISTED,
  VAULT_SHARES: SHARES,
  VAULT_ASSETS: ASSETS,
  ASSET_FUNCTION: ASSET,
  CONVERT_TO_ASSETS_FUNCTION: CONVERT,
  EULER_CONNECTOR,
  noLoansCall,
  vaultChainConfig,
} = fixture;
const wallet = FIXTURE_WALLET;
const signal = new AbortController().signal;
const shares: Holding = { ...SAVINGS_DAI, rawBalance: SHARES };
const holdings: readonly Holding[] = [
  { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null, rawBalance: 1n },
  { ...WETH, rawBalance: 5n },
  shares,
  { ...DAI, rawBalance: 9n },
];

describe("ERC-4626", () => {
  const {
    chain,
    holdings: recordedHoldings,
    calls,
  } = openRecordedMoment(sky.cases["sDAI before the rate was collected"]);
  const registry = { proofs: [], vaults: new Set([sky.sDai as Hex]), eulerConnector: EULER_CONNECTOR };
  describePositionReader({
    ...{ chain, wallet: sky.wallet as Hex, holdings: recordedHoldings },
    reader: createErc4626Reader(new Map([[31337, registry]])),
    calls: [...calls, { ...noLoansCall, args: [sky.wallet] }],
    emptyCalls: [{ ...noLoansCall, args: [`0x${"5e".repeat(20)}`] }],
    expected: [
      {
        protocol: "erc-4626",
        kind: "vault",
        name: "Savings Dai",
        contract: sky.sDai as Hex,
        assets: [
          {
            ...{ contract: sky.dai as Hex, symbol: "DAI", name: "Dai Stablecoin", decimals: 18, logo: null },
            rawBalance: BigInt(sky.cases["sDAI before the rate was collected"].views.redeemed),
          },
        ],
        receiptTokens: [sky.sDai as Hex],
      },
    ],
    emptyResult: "absence",
    roundsMax: 2,
    requestsMax: 7,
  });

  const read = (calls: readonly RecordedCall[], held: readonly Holding[] = [shares]) => {
    const at = openRecordedChain({ chain: vaultChainConfig, calls: [...calls, noLoansCall] });
    return { at, result: erc4626Reader.read({ at, wallet, holdings: held }, signal) };
  };
  const callsWith = (call: string, result: unknown) =>
    fixture.erc4626Calls.map((recorded) => (recorded.function === call ? { ...recorded, result } : recorded));

  it("takes one round trip after the tokens for a vault whose asset was asked for along with them", async () => {
    const { at: alone, result } = read(fixture.erc4626Calls);
    const expected = await result;
    const results = new ResultsByBlock(() => 0).at("0xab").of(wallet);
    const recorded = openRecordedChain({
      ...{ chain: vaultChainConfig, calls: [...fixture.erc4626Calls, noLoansCall] },
    });
    const at = { ...recorded, results };
    const tokens = (async () => {
      await erc4626Reader.prefetch?.({ at, contracts: [SAVINGS_DAI.contract as Hex] }, signal);
      return { holdings: [shares] };
    })();
    expect(await erc4626Reader.read({ at, wallet, tokens }, signal)).toEqual(expected);
    const callsOf = (rounds: readonly (readonly ContractRead[])[]) =>
      rounds.flat().map(({ to, data }) => to + data);
    expect(callsOf(recorded.rounds).sort()).toEqual(callsOf(alone.rounds).sort());
    // The asset and the owner of accounts travel with the reads of the tokens.
    expect([recorded.rounds.length, alone.rounds.length]).toEqual([3, 2]);
    expect(recorded.rounds.slice(0, 2).map(({ length }) => length)).toEqual([1, 1]);
  });

  it("needs one round trip when no held token is a vault", async () => {
    const { at, result } = read([], holdings);
    expect(await result).toEqual({ positions: [], warnings: [] });
    expect(at.rounds.length).toBe(1);
  });

  it("asks an unlisted token for its asset only, whatever it claims to be worth", async () => {
    const claims = [
      { to: UNLISTED, function: ASSET, args: [], result: DAI.contract },
      { to: UNLISTED, function: CONVERT, args: [1n], result: 10n ** 26n },
    ];
    const spam = { contract: UNLISTED, symbol: "USDC", name: null, decimals: 6, logo: null, rawBalance: 1n };
    const { at, result } = read(claims, [spam]);
    expect(await result).toEqual({ positions: [], unmarketedTokens: new Set([UNLISTED]), warnings: [] });
    const [probes, proofs] = at.rounds;
    expect(probes?.map(({ to }) => to)).toEqual([EULER_CONNECTOR, UNLISTED]);
    expect(proofs?.some(({ to }) => to === UNLISTED)).toBe(false);
    expect(at.rounds.length).toBe(2);
  });

  it("treats shares as a plain token when the asset is the vault itself", async () => {
    const { at, result } = read(callsWith(ASSET, SAVINGS_DAI.contract));
    expect(await result).toEqual({ positions: [], warnings: [] });
    expect(at.rounds.length).toBe(1);
  });

  it("rejects a vault that owes more than the asset's supply", async () => {
    const { positions, warnings } = await read(callsWith(fixture.TOTAL_SUPPLY_FUNCTION, ASSETS - 1n)).result;
    expect(positions).toEqual([]);
    expect(warnings).toEqual([
      `The vault ${SAVINGS_DAI.contract} on Ethereum returned an implausible result; its shares are shown as a token.`,
    ]);
  });

  it("treats worthless shares as a plain token", async () => {
    expect(await read(callsWith(CONVERT, 0n)).result).toEqual({ positions: [], warnings: [] });
  });

  it("limits its calls and warns about what it left out", async () => {
    const many = Array.from({ length: 1_001 }, (_, index) =>
      fixtureToken(`0x${(index + 1).toString(16).padStart(40, "0")}`, `T${index}`, 18),
    );
    const at = openRecordedChain({ chain: fixtureChainConfig(1, "Ethereum", many), calls: [noLoansCall] });
    const held = many.map((token) => ({ ...token, rawBalance: 1n }));
    const { warnings } = await erc4626Reader.read({ at, wallet, holdings: held }, signal);
    expect(at.rounds.map(({ length }) => length)).toEqual([1 + 1_000]);
    expect(warnings).toEqual(["Only 1000 of 1001 tokens on Ethereum were checked for being vaults."]);
  });

  it("sets a gas limit on every call of a contract that anyone may have deployed", async () => {
    const { at, result } = read(fixture.erc4626Calls, holdings);
    await result;
    const untrusted = at.rounds.flat().filter(({ to }) => to !== EULER_CONNECTOR);
    expect(untrusted.every(({ gasMax }) => gasMax !== undefined && gasMax <= 3_000_000)).toBe(true);
  });

  it("knows the vaults of Morpho's interface by address", async () => {
    const vault = "0xbeef01735c132ada46aa9aa4c54623caa92a64cb";
    expect(VAULT_REGISTRIES.get(1)?.vaults.has(vault)).toBe(true);
    const calls = fixture.erc4626Calls.map((call) => ({
      ...call,
      to: call.to === SAVINGS_DAI.contract ? vault : call.to,
    }));
    const held = { ...shares, contract: vault } as const;
    const { positions, provenTokens } = await read(calls as readonly RecordedCall[], [held]).result;
    expect(positions).toMatchObject([{ contract: vault, assets: [{ rawBalance: ASSETS }] }]);
    expect(provenTokens).toEqual(new Set([vault]));
  });
});

describe("vaults of MetaMorpho's own code, recorded", () => {
  const file = new URL("../../../../tests/fixtures/positions/erc4626/meta-morpho.json", import.meta.url);
  const recording = JSON.parse(readFileSync(file, "utf8"));
  const record = readChainRecord(file);
  const chain = fixtureChainConfig(31337, "Local", recording.tokens);
  const held = recording.holdings.map((holding: Holding) => ({
    ...holding,
    rawBalance: BigInt(holding.rawBalance),
  }));
  const [honest, hostile] = held;
  const readAs = (kind: "metaMorphoFactory" | "yearnRegistry") => {
    const registry = { proofs: [{ kind, registry: recording.factory }], vaults: new Set<Hex>() };
    const at = openRecordedChain({ ...record, chain });
    const query = { at, wallet: recording.wallet, holdings: held };
    return createErc4626Reader(new Map([[31337, registry]])).read(query, signal);
  };

  it("counts a vault with what a redemption pays, and not at all if its owner borrowed all it had", async () => {
    const { positions, provenTokens, warnings } = await readAs("metaMorphoFactory");
    expect(positions).toMatchObject([
      { contract: honest.contract, assets: [{ symbol: "USDC", rawBalance: BigInt(recording.redeemPays) }] },
    ]);
    expect(provenTokens).toEqual(new Set([honest.contract, hostile.contract]));
    expect(recording.hostileRedeem).toBe("reverts");
    expect(warnings).toEqual([
      `The vault ${hostile.contract} on Local could not pay out all that it owes the wallet now; the rest is not counted.`,
    ]);
  });

  it("values at most forty vaults, with a warning about the others", async () => {
    const many = Array.from({ length: 42 }, (_, index) => ({
      ...honest,
      contract: `0x${(index + 1).toString(16).padStart(40, "0")}` as Hex,
    }));
    const calls = many.flatMap(({ contract }) =>
      record.calls
        .filter(({ to, args }) => to !== hostile.contract && !args.includes(hostile.contract))
        .map((call) => ({
          ...call,
          to: call.to === honest.contract ? contract : call.to,
          args: call.args.map((arg) => (arg === honest.contract ? contract : arg)),
        })),
    );
    const registry = {
      proofs: [{ kind: "metaMorphoFactory" as const, registry: recording.factory }],
      vaults: new Set<Hex>(),
    };
    const at = openRecordedChain({ ...record, chain, calls });
    const { positions, provenTokens, warnings } = await createErc4626Reader(
      new Map([[31337, registry]]),
    ).read({ at, wallet: recording.wallet, holdings: many }, signal);
    expect(positions.length).toBe(40);
    expect(provenTokens?.size).toBe(42);
    expect(warnings).toEqual([
      "Only 40 vaults on Local were asked what they could pay out; 2 more have no value.",
    ]);
  });

  it("does not count vaults for a registry that does not know them", async () => {
    expect(await readAs("yearnRegistry")).toEqual({
      positions: [],
      unmarketedTokens: new Set([honest.contract, hostile.contract]),
      warnings: [],
    });
  });
});

describe("ERC-4626 on a real EVM", async () => {
  const evm = await startEvm();
  const { owner } = evm.chain.accounts;

  it("values the shares of a real vault, including yield", async () => {
    const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Coin", "COIN", 6]);
    const vault = await evm.deploy(vault4626Abi, vault4626Bytecode, [token.address, "Coin Vault", "vCOIN"]);
    await token.send(owner.address, "mint", [owner.address, 2_000_000_000n]);
    await token.send(owner.address, "approve", [vault.address, 1_000_000_000n]);
    await vault.send(owner.address, "deposit", [1_000_000_000n, owner.address]);
    await token.send(owner.address, "transfer", [vault.address, 234_567_891n]);

    const coin = fixtureToken(token.address.toLowerCase() as Hex, "COIN", 6, "Coin");
    const share = fixtureToken(vault.address.toLowerCase() as Hex, "vCOIN", 6, "Coin Vault");
    const rawBalance = await vault.read("balanceOf", [owner.address]);
    const chain = fixtureChainConfig(evm.chain.chainId, "Local", [coin, share]);
    const held = [
      { ...coin, rawBalance: 5n },
      { ...share, rawBalance },
    ];
    const recorded = openRecordedChain({ chain, calls: [] });
    const at: PinnedChain = { ...recorded, read: (calls) => Promise.all(calls.map(call)) };

    const { positions, warnings } = await erc4626Reader.read(
      { at, wallet: owner.address, holdings: held },
      signal,
    );
    expect(warnings).toEqual([]);
    expect(positions.length).toBe(1);
    expect(positions[0]).toMatchObject({
      kind: "vault",
      name: "Coin Vault",
      receiptTokens: [share.contract],
    });
    const amount = positions[0]?.assets[0]?.rawBalance;
    expect(amount).toBe(await vault.read("convertToAssets", [rawBalance]));
    // The vault rounds in its own favour, by one unit here.
    expect(amount).toBe(1_234_567_890n);
  });

  async function call({ to, data, gasMax }: ContractRead): Promise<Hex | null> {
    const gas = `0x${(gasMax ?? 1_000_000).toString(16)}`;
    return evm.chain
      .request("eth_call", [{ to, data, gas }, "latest"])
      .then((result) => result as Hex)
      .catch(() => null);
  }
});

// The corpus of drainers: what each does on a real chain, and the verdict about it, which is never `allow`.
import { plainTokenAbi } from "@sextant/contracts/generated/plain-token";
import { puppetAbi } from "@sextant/contracts/test/actor-contracts";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { type Abi, encodeFunctionData, type Hex, pad, parseAbi, toFunctionSelector } from "viem";
import { describe, expect, it } from "vitest";
import {
  DETECTS,
  giveCode,
  listSpender,
  openSimulationStage,
  registerCode,
} from "../../../tests/support/portfolio/simulation-stage.ts";
import type { ReasonCode, Simulation } from "../../schema/portfolio/simulation.ts";
import type { WalletCall } from "./request.ts";

const THIEF = numberedAddress(0x7e1ef);
const [COMET, MORPHO, VAULT_POSITIONS, EVC, ODD] = [1, 2, 3, 4, 5].map((at) =>
  numberedAddress(0xc0de00 + at),
) as [Hex, Hex, Hex, Hex, Hex];
const DEBT = numberedAddress(0xdeb7);
const DELEGATE = numberedAddress(0xde1e);
const view = (signature: string) => registerCode(toFunctionSelector(signature));
const stage = await openSimulationStage(
  {
    [COMET]: view("isAllowed(address,address)"),
    [MORPHO]: view("isAuthorized(address,address)"),
    [VAULT_POSITIONS]: view("getApproved(uint256)"),
    [EVC]: view("getOperator(bytes19,address)"),
    [ODD]: view("oddView()"),
    [DEBT]: view("borrowAllowance(address,address)"),
    [DELEGATE]: "0x00",
    [THIEF]: "0x00",
  },
  [
    listSpender("Comet", "lending-pool", COMET),
    listSpender("Morpho", "lending-pool", MORPHO),
    listSpender("Positions", "position-manager", VAULT_POSITIONS),
    listSpender("Connector", "lending-pool", EVC),
    listSpender("Odd", "marketplace", ODD),
    listSpender("Delegate", "delegate", DELEGATE),
  ],
);
const { chain, wallet, token, owner, router, simulate, send } = stage;

const ETHER = 10n ** 18n;

type Calls = readonly Partial<WalletCall>[];
type Drainer = {
  readonly name: string;
  readonly calls: () => Calls | Promise<Calls>;
  readonly reason: ReasonCode;
  readonly verdict: "block" | "caution";
};

const perform = (target: Hex, data: Hex = "0x01", value = 0n): Hex =>
  encodeFunctionData({ abi: puppetAbi, functionName: "perform", args: [target, value, data] });

const UNLIMITED = 2n ** 256n - 1n;
const call = (signature: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: parseAbi([`function ${signature}`] as readonly string[]) as Abi, args });

/** Pays a router that we list, on which the caller chose the code that trades. */
async function swapAt(detects: Hex, address: Hex): Promise<Calls> {
  await chain.setCode(address, giveCode(token, 5_000_000n, detects));
  const data = encodeFunctionData({
    abi: plainTokenAbi,
    functionName: "mint",
    args: [address, 10n ** 9n],
  });
  await send({ to: token, data }, owner);
  return [{ to: router, value: ETHER, data: perform(address, pad(token)) }];
}

const DRAINERS: readonly Drainer[] = [
  {
    name: "a swap that pays only while the sender has code, by a known router in a listed token",
    calls: () => swapAt(DETECTS["the sender has code"], numberedAddress(0xe711)),
    ...({ reason: "override-detected", verdict: "block" } as const),
  },
  {
    name: "a swap that pays only while gas costs nothing",
    calls: () => swapAt(DETECTS["gas costs nothing"], numberedAddress(0xe713)),
    ...({ reason: "override-detected", verdict: "block" } as const),
  },
  {
    name: "a swap that pays only with more gas than a wallet sends",
    calls: () => swapAt(DETECTS["more gas than a wallet sends"], numberedAddress(0xe714)),
    ...({ reason: "override-detected", verdict: "block" } as const),
  },
  {
    name: "ether for an address without a key",
    calls: () => [{ to: numberedAddress(0xdead), value: 1n }],
    ...({ reason: "nothing-in-return", verdict: "caution" } as const),
  },
  {
    name: "a flood of logs before what it does",
    calls: async () => {
      const flood = numberedAddress(0xf100d);
      await chain.setCode(flood, "0x6102585b60006000a060019003806003576000");
      return [{ to: router, data: perform(flood) }];
    },
    ...({ reason: "not-simulated", verdict: "caution" } as const),
  },
  {
    name: "a manager of all that the wallet has in a lending market",
    calls: () => [{ to: COMET, data: call("allow(address,bool)", [THIEF, true]) }],
    ...({ reason: "operator-for-all", verdict: "block" } as const),
  },
  {
    name: "the same inside a batch of calls of the market to itself",
    calls: () => {
      const inner = call("allow(address,bool)", [THIEF, true]);
      return [{ to: COMET, data: call("multicall(bytes[])", [["0x01", inner]]) }];
    },
    ...({ reason: "operator-for-all", verdict: "block" } as const),
  },
  {
    name: "an authorization for all markets",
    calls: () => [{ to: MORPHO, data: call("setAuthorization(address,bool)", [THIEF, true]) }],
    ...({ reason: "operator-for-all", verdict: "block" } as const),
  },
  {
    name: "an operator of every account of an owner",
    calls: () => {
      const prefix = wallet.slice(0, -2) as Hex;
      return [{ to: EVC, data: call("setOperator(bytes19,address,uint256)", [prefix, THIEF, 255n]) }];
    },
    ...({ reason: "operator-for-all", verdict: "block" } as const),
  },
  {
    name: "the approval of one position that is an NFT",
    calls: () => [{ to: VAULT_POSITIONS, data: call("approve(address,uint256)", [THIEF, 77n]) }],
    ...({ reason: "unlimited-approval", verdict: "block" } as const),
  },
  {
    name: "the right to borrow against all collateral",
    calls: () => [{ to: DEBT, data: call("approveDelegation(address,uint256)", [THIEF, UNLIMITED]) }],
    ...({ reason: "unknown-spender", verdict: "caution" } as const),
  },
  {
    name: "an approval of code that accounts run, which anyone may call",
    calls: () => [{ to: token, data: call("approve(address,uint256)", [DELEGATE, UNLIMITED]) }],
    ...({ reason: "unlimited-approval", verdict: "block" } as const),
  },
  {
    name: "an order that a marketplace stores, and that nothing shows",
    calls: () => [{ to: ODD, data: call("validate(bytes32)", [`0x${"ab".repeat(32)}`]) }],
    ...({ reason: "unknown-function", verdict: "caution" } as const),
  },
];

function codesOf({ reasons }: Simulation): readonly string[] {
  return reasons.map(({ code }) => code);
}

describe("a drainer is never allowed", () => {
  it.each(DRAINERS)("$name", async ({ calls, reason, verdict }) => {
    const simulation = await simulate(await calls());
    expect(codesOf(simulation)).toContain(reason);
    expect(simulation.verdict).toBe(verdict);
  });
});

it("doubts a swap by a known router that no node confirms", async () => {
  const node = await stage.node((calls) =>
    calls.some(({ method }) => method === "debug_traceCall")
      ? { kind: "error", code: -32601, message: "the method debug_traceCall does not exist" }
      : null,
  );
  const calls = await swapAt(DETECTS["the sender has code"], numberedAddress(0xe712));
  const simulation = await simulate(calls, node);
  expect(simulation.crossCheck).toEqual({ method: null, agrees: null });
  expect(codesOf(simulation)).toContain("not-cross-checked");
});

// The corpus of drainers: what each does on a real chain, and the verdict about it, which is never `allow`.
import { plainTokenAbi } from "@sextant/contracts/generated/plain-token";
import { puppetAbi } from "@sextant/contracts/test/actor-contracts";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { encodeFunctionData, type Hex, pad } from "viem";
import { describe, expect, it } from "vitest";
import { DETECTS, giveCode, openSimulationStage } from "../../../tests/support/portfolio/simulation-stage.ts";
import type { ReasonCode, Simulation } from "../../schema/portfolio/simulation.ts";
import type { WalletCall } from "./request.ts";

const stage = await openSimulationStage();
const { chain, token, owner, router, simulate, send } = stage;

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
    name: "a flood of logs before what it does",
    calls: async () => {
      const flood = numberedAddress(0xf100d);
      await chain.setCode(flood, "0x6102585b60006000a060019003806003576000");
      return [{ to: router, data: perform(flood) }];
    },
    ...({ reason: "not-simulated", verdict: "caution" } as const),
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

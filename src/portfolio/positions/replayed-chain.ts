// A recorded chain for position readers: with listed tokens, with Multicall3, and with answers that can be spoilt.
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { decodeFunctionData, encodeFunctionResult } from "viem";
import type { Hex } from "../../kit/hex.ts";
import type { ChainAt, ChainBook, ContractRead } from "../ports.ts";
import { type RecordedCall, recordedChain } from "../prices/recorded-chain.ts";
import { MULTICALL3 } from "./read-together.ts";

export type Recording = {
  readonly chain: ChainBook;
  readonly calls: readonly RecordedCall[];
  /** For calls that were not recorded; null, a revert, where it is missing. */
  readonly otherwise?: Hex;
  readonly spoil?: (call: ContractRead, answer: Hex | null) => Hex | null;
  /** What stands where Multicall3 should, if that is not there. */
  readonly insteadOfMulticall?: Hex | null;
};

export type ReplayedChain = ChainAt & {
  /** What was asked, one list per round trip; bundles are opened. */
  readonly rounds: readonly (readonly ContractRead[])[];
  /** The same with bundles as they were sent. */
  readonly requests: readonly (readonly ContractRead[])[];
};

const BLOCK = { number: 20_000_000, hash: `0x${"ab".repeat(32)}`, timestamp: 1_717_281_407 } as const;

export function replayedChain(recording: Recording): ReplayedChain {
  const { chain, calls, otherwise, spoil, insteadOfMulticall } = recording;
  const { chainId, name } = chain;
  const { at, roundTrips } = recordedChain({ chainId, name, block: BLOCK, calls });
  const rounds: (readonly ContractRead[])[] = [];
  const requests: (readonly ContractRead[])[] = [];

  const answersTo = async (reads: readonly ContractRead[], signal: AbortSignal) => {
    const answers = await at.read(reads, signal);
    return reads.map((read, index) => {
      const answer = answers[index] ?? otherwise ?? null;
      return spoil ? spoil(read, answer) : answer;
    });
  };
  const open = (read: ContractRead): readonly ContractRead[] =>
    read.to === MULTICALL3 && insteadOfMulticall === undefined ? bundled(read.data) : [read];

  return {
    ...at,
    chain,
    rounds,
    requests,
    read: async (reads, signal) => {
      const asked = reads.map(open);
      const answers = await answersTo(asked.flat(), signal);
      rounds.push(roundTrips.at(-1) ?? []);
      requests.push(reads);
      return reads.map((read, index) => {
        const own = answers.splice(0, asked[index]?.length ?? 0);
        if (read.to !== MULTICALL3) return own[0] ?? null;
        return insteadOfMulticall === undefined ? bundleOf(own) : insteadOfMulticall;
      });
    },
  };
}

function bundled(data: Hex): readonly ContractRead[] {
  const { args } = decodeFunctionData({ abi: multicall3Abi, data });
  const calls = args?.[0] as readonly { readonly target: Hex; readonly callData: Hex }[];
  return calls.map(({ target, callData }) => ({ to: target.toLowerCase() as Hex, data: callData }));
}

function bundleOf(answers: readonly (Hex | null)[]): Hex {
  return encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: answers.map((answer) => ({ success: answer !== null, returnData: answer ?? "0x" })),
  });
}

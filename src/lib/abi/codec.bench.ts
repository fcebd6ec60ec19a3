// The codec against viem's general one, on what the services encode and decode most: `npx vitest bench --run src/lib/abi`.
// The fastest runs on two shared cores, in µs, codec and viem: decode an event 1 and 25, encode one 1 and 21, decode
// the calldata of submitIntent 3 and 52, encode balanceOf 0.3 and 15, encode 200 calls of aggregate3 167 and 900, decode
// their results 91 and 942, encode a scan of 2,500 tokens 356 and 2,619, decode one 189 and 1,406. The hand-written
// aggregate3 that it replaced took 135 to encode and 155 to decode. Delete the codec when viem is within twice its time.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { balanceScannerAbi } from "@sextant/contracts/generated/balance-scanner";
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import {
  type Abi,
  type AbiEvent,
  decodeEventLog,
  decodeFunctionData,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  getAbiItem,
} from "viem";
import { bench, describe } from "vitest";
import type { Hex } from "../hex.ts";
import { createArgumentsDecoder, createEventCodec, createFunctionCodec } from "./codec.ts";

const hex = (byte: number, bytes: number): Hex => `0x${byte.toString(16).padStart(2, "0").repeat(bytes)}`;

function compare(name: string, codec: () => unknown, viem: () => unknown): void {
  describe(name, () => {
    bench("codec", () => void codec());
    bench("viem", () => void viem());
  });
}

const event = getAbiItem({ abi: agentRegistryAbi as Abi, name: "AgentRegistered" }) as AbiEvent;
const eventArgs = Object.fromEntries(
  event.inputs.map(({ type, name }) => [
    name ?? "",
    type === "address"
      ? hex(0xab, 20)
      : type === "bytes32"
        ? hex(7, 32)
        : type === "string"
          ? "ipfs://agent"
          : 7n,
  ]),
);
const eventCodec = createEventCodec(event);
const log = eventCodec.encode(eventArgs);
const plainInputs = event.inputs.filter(({ indexed }) => !indexed);
compare(
  "decode an event",
  () => eventCodec.decode(log.topics, log.data),
  () => decodeEventLog({ abi: [event], topics: log.topics as [Hex, ...Hex[]], data: log.data }),
);
compare(
  "encode an event",
  () => eventCodec.encode(eventArgs),
  () => [
    encodeEventTopics({ abi: [event], args: eventArgs } as never),
    encodeAbiParameters(
      plainInputs,
      plainInputs.map(({ name }) => eventArgs[name ?? ""]),
    ),
  ],
);

const submit = getAbiItem({ abi: intentBookAbi, name: "submitIntent" });
const intent = {
  owner: hex(1, 20),
  intentType: 0,
  constraints: { amountInMax: 10n ** 20n, amountOutMin: 1n, deadline: 1_800_000_000n, slippageBps: 50 },
  execution: {
    target: hex(2, 20),
    dataHash: hex(3, 32),
    requiredAttestationSubject: hex(4, 32),
    requiredAttestationSchema: hex(5, 32),
    metadataURIHash: hex(6, 32),
  },
  inputToken: hex(7, 20),
  outputToken: hex(8, 20),
  nonce: 9n,
} as const;
const calldata = encodeFunctionData({
  abi: intentBookAbi,
  functionName: "submitIntent",
  args: [intent, 27, hex(9, 32), hex(10, 32)],
});
const decodeArguments = createArgumentsDecoder(submit.inputs);
compare(
  "decode the calldata of submitIntent",
  () => decodeArguments(calldata),
  () => decodeFunctionData({ abi: [submit], data: calldata }),
);

const balanceOf = createFunctionCodec(erc20Abi, "balanceOf");
compare(
  "encode balanceOf",
  () => balanceOf.encodeCall([hex(1, 20)]),
  () => encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [hex(1, 20)] }),
);

const aggregate3 = createFunctionCodec(multicall3Abi, "aggregate3");
const calls = Array.from({ length: 200 }, (_, i) => ({
  target: hex(i % 250, 20),
  allowFailure: true,
  callData: balanceOf.encodeCall([hex(i % 250, 20)]),
}));
const results = encodeFunctionResult({
  abi: multicall3Abi,
  functionName: "aggregate3",
  result: calls.map((_, i) => ({ success: true, returnData: hex(i % 250, 32) })),
});
compare(
  "encode 200 calls of aggregate3",
  () => aggregate3.encodeCall([calls]),
  () => encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] }),
);
compare(
  "decode 200 results of aggregate3",
  () => aggregate3.decodeResult(results),
  () => decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data: results }),
);

const scan = createFunctionCodec(balanceScannerAbi, "scan");
const tokens = Array.from(
  { length: 2_500 },
  (_, i): Hex => `0x${(2n ** 150n + BigInt(i)).toString(16).padStart(40, "0")}`,
);
const scanned = encodeFunctionResult({
  abi: balanceScannerAbi,
  functionName: "scan",
  result: [tokens.slice(0, 500).map((_, i) => ({ index: BigInt(i), balance: 10n ** 18n })), [1n], 2_500n],
});
compare(
  "encode a scan of 2,500 tokens",
  () => scan.encodeCall([hex(1, 20), tokens, 12_000n]),
  () =>
    encodeFunctionData({ abi: balanceScannerAbi, functionName: "scan", args: [hex(1, 20), tokens, 12_000n] }),
);
compare(
  "decode a scan with 500 balances",
  () => scan.decodeResult(scanned),
  () => decodeFunctionResult({ abi: balanceScannerAbi, functionName: "scan", data: scanned }),
);

// The most hostile wallet: 10,000 unsolicited tokens, whose contracts burn their gas, return and revert with all they can.
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, numberToHex } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { encodeAggregate3, MULTICALL3 } from "../../src/chain/aggregate3.ts";
import { localChain } from "../../src/chain/chains/chains.ts";
import { TRANSFER_TOPIC } from "../../src/chain/logs/get-logs.ts";
import { createErc4626Reader } from "../../src/portfolio/positions/erc4626/reader.ts";
import type { PairMarket } from "../../src/portfolio/positions/uniswap-v2/contracts.ts";
import { createUniswapV2Reader } from "../../src/portfolio/positions/uniswap-v2/reader.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { readWalletData } from "../../src/portfolio/snapshot.ts";
import type { ChainData } from "../../src/portfolio/valuation/snapshot-data.ts";
import { rejectStateOverrides, startPortfolioStage } from "../support/portfolio/portfolio-stage.ts";

const TOKENS = 10_000;
/** The newest that are read. */
const READ_MAX = 300;
const FIRST = 0xbad000000;

/**
 * With a word as calldata a token emits a transfer to that account. Its balance is 1, so that it counts as held; every
 * other call is hostile. The three parts begin at 14, at `balance` and at `log`.
 */
function tokenCode(hostile: string): Hex {
  const balance = 14 + hostile.length / 2;
  const log = balance + 9;
  const at = (position: number) => position.toString(16).padStart(2, "0");
  const dispatch = `3660201460${at(log)}573660241460${at(balance)}57`;
  return `0x${dispatch}${hostile}5b60015f5260205ff35b5f355f7f${TRANSFER_TOPIC.slice(2)}5f5fa300`;
}

/** As many bytes as the gas of the smallest probe pays for. */
const BYTES = "029810";
const CODES = {
  dust: tokenCode("60015f5260205ff3"),
  burner: tokenCode("fe"),
  bomb: tokenCode(`62${BYTES}5ff3`),
  revertBomb: tokenCode(`62${BYTES}5ffd`),
};

/** Calls every address from the first word of the calldata up to the second, with the third as calldata. */
const DRIVER = numberedAddress(0xd21ce2);
const DRIVER_CODE: Hex = "0x6040355f525f355b6020358110601157005b5f5f60205f5f855af150600101600756";

const code: Record<Hex, Hex> = { [DRIVER]: DRIVER_CODE };
const kinds = Object.values(CODES);
for (let index = 0; index < TOKENS; index += 1) {
  code[numberedAddress(FIRST + index)] = kinds[index % kinds.length] ?? "0x";
}
const stage = await startPortfolioStage(code);
const { chain, wallet } = stage;
const owner = chain.accounts.owner.address;
const { signal } = new AbortController();

async function send(transaction: object): Promise<void> {
  await chain.request("eth_sendTransaction", [{ from: owner, gas: numberToHex(15_000_000), ...transaction }]);
}

// Readers and sources that ask every held token, with contracts that are not there.
const market: PairMarket = {
  ...{ protocol: "uniswap-v2", name: "Uniswap v2", shape: "uniswap", factory: numberedAddress(0xfac) },
  feeMint: { growth: 1n, now: 5n, last: 1n },
};
const options = {
  provider: rpcHoldingsProvider,
  positionReaders: [
    createErc4626Reader(new Map()),
    createUniswapV2Reader(new Map([[localChain.chainId, [market]]])),
  ],
  priceSources: createPriceSources({
    feeds: new Map(),
    aaveMarkets: new Map(),
    spotMarkets: new Map([
      [
        localChain.chainId,
        {
          wrappedNative: numberedAddress(0xee),
          quotes: [{ token: numberedAddress(0xee), decimals: 18 }],
          factories: [{ kind: "uniswap-v2", factory: numberedAddress(0xfac) } as const],
        },
      ],
    ]),
  }),
};

let honest: Hex;
/** Unlisted, and paid for with the honest one, before all others arrive. */
let bought: Hex;

async function deployToken(): Promise<Hex> {
  const nonce = BigInt((await chain.request("eth_getTransactionCount", [owner, "latest"])) as Hex);
  const args = ["Plain", "PLN", 18] as const;
  await send({ data: encodeDeployData({ abi: plainTokenAbi, bytecode: plainTokenBytecode, args }) });
  return getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
}

const encode = (
  functionName: "mint" | "approve" | "transfer" | "transferFrom",
  ...args: readonly unknown[]
) => encodeFunctionData({ abi: plainTokenAbi, functionName, args } as never);

beforeAll(async () => {
  [honest, bought] = [await deployToken(), await deployToken()];
  await send({ to: honest, data: encode("mint", wallet, 5_000_001n) });
  await send({ to: bought, data: encode("mint", MULTICALL3, 7n) });
  await send({ from: wallet, to: honest, data: encode("approve", MULTICALL3, 1n) });
  const trade = [
    { to: honest, data: encode("transferFrom", wallet, owner, 1n) },
    { to: bought, data: encode("transfer", wallet, 7n) },
  ];
  await send({ from: wallet, to: MULTICALL3, data: encodeAggregate3(trade) });
  for (let index = 0; index < TOKENS; index += 1_000) {
    const words = [FIRST + index, FIRST + index + 1_000, BigInt(wallet)];
    const data = words.map((word) => numberToHex(word, { size: 32 }).slice(2)).join("");
    await send({ to: DRIVER, data: `0x${data}` });
  }
}, 120_000);

async function snapshot(plan?: Parameters<typeof stage.node>[0]) {
  const node = await stage.node(plan);
  const at = await stage.port(node, [honest]).pin(signal);
  return { node, data: await readWalletData(options, { at, wallet }, signal) };
}

function expectHonest(data: ChainData): void {
  // Its name may come from the list: on a busy machine metadata may be late.
  expect(data.holdings.find(({ contract }) => contract === honest)).toMatchObject({
    ...{ rawBalance: 5_000_000n, decimals: 18 },
  });
  expect(data.holdings.find(({ contract }) => contract === bought)).toMatchObject({ rawBalance: 7n });
  expect(data.holdings.length).toBeLessThanOrEqual(READ_MAX + 2);
  expect(data.warnings).toContain(
    `${localChain.name}: ${TOKENS + 1} unlisted tokens moved recently; only the newest ${READ_MAX} were read.`,
  );
}

describe("a wallet with 10,000 hostile tokens", () => {
  it("costs few requests and megabytes, loses nothing honest, and says what was left out", async () => {
    const { data, node } = await snapshot();
    expectHonest(data);
    const calls = node.requests.flat();
    const callCount = (method: string) => calls.filter((call) => call.method === method).length;
    expect(data.holdings.length).toBeGreaterThan(READ_MAX);
    // 14 calls and 6 megabytes, most of them logs of the 10,000 transfers.
    expect(callCount("eth_call")).toBeLessThanOrEqual(20);
    expect(node.bytesSent).toBeLessThan(8_000_000);
  });

  it("a wallet with 10,000 hostile tokens is sold as well without state overrides", async () => {
    const { data } = await snapshot(rejectStateOverrides);
    expectHonest(data);
  });
});

// EDR as an in-process JSON-RPC provider, one per chain, with the behaviour of a public node.
import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1ProviderFactory,
  MineOrdering,
  PRAGUE,
  SpecId,
} from "@nomicfoundation/edr";
import { type Address, type Hex, hexToBytes, isHex, parseEther } from "viem";
import type { LocalAccount } from "./accounts.ts";
import { JSON_RPC_CODES, JsonRpcError } from "./rpc/json-rpc-error.ts";

/** Ethereum's long-standing limit: fits a 160 KB scanner call, small enough that full blocks occur in tests. */
export const BLOCK_GAS_LIMIT = 30_000_000n;

/** At the suggested 1 gwei, 100,000 gas cost 0.0001 ETH: it never runs out. */
const PREFUNDED_BALANCE = parseEther("1000000");

/** Collects the fees; no key is known for it. */
const FEE_RECIPIENT = "0x000000000000000000000000000000000000c0de";

export type SubscriptionEvent = { readonly filterId: bigint; readonly result: unknown };

export type EdrConfig = {
  readonly chainId: number;
  readonly instant: boolean;
  readonly genesisTimestamp: bigint;
  readonly accounts: readonly LocalAccount[];
  readonly code: Readonly<Record<Address, Hex>>;
  readonly onEvent: (event: SubscriptionEvent) => void;
};

export type EdrProvider = {
  /** The JSON text of the result, not parsed: large log responses go to the socket as they are. */
  readonly request: (method: string, params: readonly unknown[]) => Promise<string>;
};

let context: Promise<EdrContext> | undefined;

/** EDR allows one context per process; all chains share it. */
function sharedContext(): Promise<EdrContext> {
  context ??= (async () => {
    const created = new EdrContext();
    await created.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory());
    return created;
  })();
  return context;
}

export async function openEdrProvider(config: EdrConfig): Promise<EdrProvider> {
  const chainId = BigInt(config.chainId);
  const provider = await (await sharedContext()).createProvider(
    L1_CHAIN_TYPE,
    {
      // Otherwise every burst of blocks pushes chain time ahead of the wall clock and expires signatures.
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: true,
      // A public node accepts a transaction that reverts, and mines it with status 0.
      bailOnTransactionFailure: false,
      chainId,
      networkId: chainId,
      coinbase: hexToBytes(FEE_RECIPIENT),
      defaultTransactionGasLimit: BLOCK_GAS_LIMIT,
      genesisState: [
        ...l1GenesisState(SpecId.Prague),
        ...config.accounts.map(({ address }) => ({
          address: hexToBytes(address),
          balance: PREFUNDED_BALANCE,
        })),
        ...Object.entries(config.code).map(([address, code]) => ({
          address: hexToBytes(address as Address),
          code: hexToBytes(code),
        })),
      ],
      hardfork: PRAGUE,
      // Starting at zero, the base fee rises by single wei in full blocks only: fees stay the tip the sender chose.
      initialBaseFeePerGas: 0n,
      minGasPrice: 0n,
      mining: {
        autoMine: config.instant,
        blockGasLimit: BLOCK_GAS_LIMIT,
        memPool: { order: MineOrdering.Fifo },
      },
      network: { genesisBlockGasLimit: BLOCK_GAS_LIMIT, genesisBlockTime: config.genesisTimestamp },
      observability: {},
      ownedAccounts: config.accounts.map(({ privateKey }) => privateKey.slice(2)),
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined },
    { subscriptionCallback: config.onEvent },
    new ContractDecoder(),
  );

  return {
    request: async (method, params) => {
      const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const { data } = await provider.handleRequest(request);
      // EDR hands over an object only if the text would not fit into a string.
      const text: string = typeof data === "string" ? data : JSON.stringify(data);
      if (text.startsWith('{"result":')) return text.slice('{"result":'.length, -1);
      throw toJsonRpcError(method, JSON.parse(text));
    },
  };
}

type EdrErrorResponse = {
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
};

/** EDR reports a revert as -32000 with an object; nodes, and the libraries that decode custom errors, use 3 with the bytes. */
function toJsonRpcError(method: string, { error }: EdrErrorResponse): JsonRpcError {
  const revertData = revertBytes(error.data);
  if (revertData === undefined) return new JsonRpcError(error.code, error.message || `${method} failed`);
  const reason = /reverted with reason string '(.*)'$/s.exec(error.message)?.[1];
  const message = reason === undefined ? "execution reverted" : `execution reverted: ${reason}`;
  return new JsonRpcError(JSON_RPC_CODES.reverted, message, revertData);
}

function revertBytes(data: unknown): Hex | undefined {
  if (typeof data !== "object" || data === null || !("reason" in data) || !("data" in data)) return undefined;
  const { reason } = data;
  const reverted = typeof reason === "object" && reason !== null && "Revert" in reason;
  return reverted && isHex(data.data) ? data.data : undefined;
}

// Facts about a chain, as chain-data/chains.json states them.
import { type ShapeType, shape } from "../../lib/json-shape.ts";

/** `partial`: the chain also reports logs that its blooms omit (Polygon's state syncs). */
const logsBloom = shape.oneOf("complete", "partial");
export type BloomCoverage = ShapeType<typeof logsBloom>;

export const chainInfo = shape.object({
  slug: shape.text,
  chainId: shape.integer,
  name: shape.text,
  native: shape.object({ symbol: shape.text, name: shape.text, decimals: shape.integer }),
  /** The token that can always be exchanged one to one for the native coin. */
  wrappedNative: shape.optional(shape.address),
  /** Addresses that represent the native coin on this chain, besides those that do on all chains. */
  nativeAliases: shape.optional(shape.list(shape.address)),
  /** Blocks below the head that count as final if a node does not know the finalized tag, or is alone in its claim. */
  finalityDepth: shape.integer,
  /** The finalized block is never closer to the head than this, whatever a node claims. */
  finalityDepthMin: shape.integer,
  blockTimeMs: shape.integer,
  logsBloom,
  /** Address of a transaction's page, with {hash} in it; null when this chain has no explorer. */
  explorerTxUrl: shape.nullable(shape.text),
  /** A node that anyone may use, for wallets that do not know the chain; never read by us. */
  publicRpcUrl: shape.nullable(shape.text),
  /** Whether its coins are worth money. The portfolio service can be configured for these chains. */
  mainnet: shape.flag,
  /** The most that a transaction of ours pays unless configured otherwise, in wei per gas. */
  gas: shape.object({
    /** Base fee and tip together. */
    feePerGasMax: shape.bigInteger,
    /** Largest tip, whatever a node suggests. */
    priorityFeePerGasMax: shape.bigInteger,
  }),
  /** The tip that wallets offer on a quiet day. A block does not tell it, and the node's own advice moves. */
  usualTip: shape.optional(shape.bigInteger),
  /** How the chain charges for data on its parent chain; absent if it does not. */
  dataFee: shape.optional(shape.oneOf("op-stack", "arbitrum")),
  /** Names by which vendors of data know the chain; absent if they do not serve it. */
  vendorNames: shape.optional(
    shape.object({
      alchemy: shape.optional(shape.text),
      defiLlama: shape.optional(shape.text),
      goldRush: shape.optional(shape.text),
    }),
  ),
  /** USDC, which accepts signed transfers: the token that is paid with unless another one is configured. */
  paymentAsset: shape.optional(
    shape.object({
      asset: shape.address,
      /** Name and version of the token's EIP-712 domain, which differ even between deployments of the same token. */
      name: shape.text,
      version: shape.text,
      decimals: shape.integer,
    }),
  ),
  /** The chain's registries of names. */
  nameService: shape.optional(
    shape.object({
      /** As people call it. */
      title: shape.text,
      registry: shape.address,
      /** The parent of the records by address. */
      reverse: shape.text,
      /** A contract that has newer records by address than the registry (ENSIP-19); absent if the registry has all. */
      reverseRegistrar: shape.optional(shape.address),
      /** The end of the names whose records are here; absent for the service of all other names. */
      suffix: shape.optional(shape.text),
    }),
  ),
  /** The kinds of its files in chain-data/<slug>/. A listed file that is missing fails the start, as does another one. */
  dataFiles: shape.list(shape.text),
  /** Why a field has its value, by the name of the field. */
  why: shape.texts,
});

export type ChainInfo = ShapeType<typeof chainInfo>;

// Describes a contract that wallets give permissions to, as the list of spenders has it.
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const about = {
  name: shape.text,
  protocol: shape.text,
  kind: shape.oneOf(
    ...(["aggregator", "allowance-module", "bridge", "delegate", "derivatives", "fallback-handler"] as const),
    ...([
      "lending-pool",
      "marketplace",
      "permission-manager",
      "permit2",
      "pool",
      "position-adapter",
    ] as const),
    ...(["position-manager", "router", "signed-module", "staking", "trading-bot", "vault"] as const),
  ),
  /** It takes tokens through allowances in Permit2. */
  takesPermit2: shape.optional(shape.oneOf(true)),
  /** Wallets let it act on their positions in protocols: borrow for them, or move what they supplied. */
  takesPositions: shape.optional(shape.oneOf(true)),
  /**
   * A delegate that lets keys besides the owner's act: `keyCount()` counts them, or no view lists them. Without further keys
   * and implementations, by its published source, a delegate acts only on the signature of the account's own key, whatever
   * the account's storage has.
   */
  furtherKeys: shape.optional(shape.oneOf("counted", "unlisted")),
  /**
   * A delegate that runs the code which the account's ERC-1967 slot names: the published code, lower-case, which stores
   * owners that no view lists.
   */
  implementations: shape.optional(shape.list(shape.address)),
  /** The sources of the addresses: repositories on GitHub, each with a file or folder. */
  source: shape.text,
};

const aboutShape = shape.object(about);

export type Spender = ShapeType<typeof aboutShape> & {
  /** Chain id and address, with checksum. A contract may have several addresses on a chain. */
  readonly deployments: readonly (readonly [chainId: number, address: Hex])[];
};

/** A spender in the file of one chain. */
export const chainSpender = shape.object({
  ...about,
  /** Why it has this kind or these keys. */
  note: shape.optional(shape.text),
  addresses: shape.list(shape.checksumAddress),
});

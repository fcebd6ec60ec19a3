// The values that the responses of the portfolio service are made of; every amount is plain decimal text, null is unknown.
import type { Hex } from "../../lib/hex.ts";
import { FOREIGN_TEXT, listOf, nullable, schemaOf, wordOf } from "../json-schema.ts";

export const text = schemaOf<string>({ type: "string" });
export const textOrNull = schemaOf<string | null>({ type: ["string", "null"] });
/** Names that others chose. */
export const foreignText = { ...text, [FOREIGN_TEXT]: true };
export const foreignTextOrNull = { ...textOrNull, [FOREIGN_TEXT]: true };

export const flag = schemaOf<boolean>({ type: "boolean" });
export const count = schemaOf<number>({ type: "integer", minimum: 0 });
export const decimals = nullable(schemaOf<number>({ type: "integer", minimum: 0, maximum: 255 }));

export const addressText = schemaOf<Hex>({ type: "string", pattern: "^0x[0-9a-f]{40}$" });
export const hashText = schemaOf<Hex>({ type: "string", pattern: "^0x[0-9a-f]{64}$" });
export const bytesText = schemaOf<Hex>({ type: "string", pattern: "^0x([0-9a-f]{2})*$" });
export const timeText = schemaOf<string>({ type: "string", format: "date-time" });
export const amountText = schemaOf<string>({ type: "string", pattern: "^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" });
/** May be negative, for debt and for changes. */
export const usdText = schemaOf<string>({
  type: "string",
  pattern: "^-?(0|[1-9][0-9]*)(\\.[0-9]{0,5}[1-9])?$",
});
export const uintText = schemaOf<string>({ type: "string", pattern: "^(0|[1-9][0-9]*)$" });
export const snapshotIdText = schemaOf<string>({ type: "string", pattern: "^[0-9a-f]{64}$" });

export const chainSlug = { ...text, description: "The chain's slug.", examples: ["base"] };
export const caip2 = schemaOf<string>({
  type: "string",
  pattern: "^eip155:[1-9][0-9]*$",
  description: "CAIP-2.",
});
export const assetContract = { ...nullable(addressText), description: "Null for the native coin." };
export const positionKind = wordOf(["supplied", "borrowed", "vault", "liquidity", "staked"]);

/** In every response that may lack a chain. */
export const failedChains = listOf(text, {
  minItems: 1,
  description:
    "Only with `partial=allow`: chains that could not be read. Nothing of them is in the response, and no total includes them: it is null, or marked as partial.",
});

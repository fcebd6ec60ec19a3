// Finds out what typed data means: by its whole type, never by its name alone. Null for a message that no protocol of ours has.
import type { Hex } from "../../../lib/hex.ts";
import { ACCOUNT_MESSAGES } from "./account-messages.ts";
import type { MessageContent } from "./content.ts";
import type { MessageContracts } from "./contracts.ts";
import { writeType } from "./message-types.ts";
import { findOrderReader } from "./order-messages.ts";
import { readPermit2Message } from "./permit2-messages.ts";
import { TOKEN_MESSAGES } from "./token-messages.ts";
import type { TypedMessage } from "./typed-data.ts";

export function readContent(
  typed: TypedMessage,
  { wallet, contracts }: { readonly wallet: Hex; readonly contracts: MessageContracts },
): MessageContent | null {
  const { verifyingContract } = typed.domain;
  // Nothing on a chain verifies it.
  if (verifyingContract === null) return null;
  const type = writeType(typed.types, typed.primaryType);
  const own = find(TOKEN_MESSAGES, type) ?? find(ACCOUNT_MESSAGES, type);
  if (own !== undefined) return own(typed.message, verifyingContract);
  const order = findOrderReader(type);
  if (order !== undefined) return order(typed.message, { verifyingContract, contracts, wallet });
  const permit2 = contracts.addressOf("permit2");
  return permit2 === null ? null : readPermit2Message(typed, { permit2, wallet });
}

function find<T>(readers: Readonly<Record<string, T>>, type: string): T | undefined {
  return Object.hasOwn(readers, type) ? readers[type] : undefined;
}

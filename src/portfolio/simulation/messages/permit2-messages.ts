// Messages that Permit2 verifies: allowances, single transfers, and transfers with the order or payment that they are for.
import type { Hex } from "../../../lib/hex.ts";
import { coinOf, createContent, type MessageContent, type SignedTransfer, untilOf } from "./content.ts";
import { describeFields, writeType } from "./message-types.ts";
import type { Struct } from "./struct.ts";
import type { TypedMessage } from "./typed-data.ts";
import { WITNESSES } from "./witnesses.ts";

const UINT160_MAX = 2n ** 160n - 1n;
const UINT256_MAX = 2n ** 256n - 1n;

/** Permit2 of the chain, and the account that signs: its messages do not name their signer. */
type Permit2Context = { readonly permit2: Hex; readonly wallet: Hex };

function readAllowances(standard: string, listDetails: (message: Struct) => readonly Struct[]) {
  return ({ message }: TypedMessage, { permit2, wallet }: Permit2Context): MessageContent => {
    const spender = message.address("spender");
    const details = listDetails(message);
    return createContent(standard, "permit2", {
      signer: wallet,
      usableUntil: untilOf(message.uint("sigDeadline")),
      nonces: details.map((each) => ({
        ...({ kind: "permit2-allowance", contract: permit2, owner: wallet, spender } as const),
        ...{ token: each.address("token"), expected: each.uint("nonce") },
      })),
      permissions: details.map((each) => ({
        ...({
          kind: "permit2-allowance",
          asset: coinOf(each.address("token")),
          owner: wallet,
          spender,
        } as const),
        // The largest number never counts down.
        amount: each.uint("amount") === UINT160_MAX ? UINT256_MAX : each.uint("amount"),
        expiresAt: each.uint("expiration"),
        via: permit2,
      })),
    });
  };
}

const ALLOWANCE_DETAILS = "PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)";
const ALLOWANCES = new Map([
  [
    `PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)${ALLOWANCE_DETAILS}`,
    readAllowances("permit2-single", (message) => [message.struct("details")]),
  ],
  [
    `PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)${ALLOWANCE_DETAILS}`,
    readAllowances("permit2-batch", (message) => message.structs("details")),
  ],
]);

const PERMITTED = "TokenPermissions(address token,uint256 amount)";
const TRANSFERS: Readonly<Record<string, { readonly standard: string; readonly fields: string }>> = {
  PermitTransferFrom: {
    standard: "permit2-transfer",
    fields: "TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline",
  },
  PermitBatchTransferFrom: {
    standard: "permit2-batch-transfer",
    fields: "TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline",
  },
  PermitWitnessTransferFrom: {
    standard: "permit2-transfer",
    fields: "TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline",
  },
  PermitBatchWitnessTransferFrom: {
    standard: "permit2-batch-transfer",
    fields: "TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline",
  },
};

/** Null for a type that Permit2 does not verify. */
export function readPermit2Message(typed: TypedMessage, context: Permit2Context): MessageContent | null {
  const { types, primaryType } = typed;
  const allowances = ALLOWANCES.get(writeType(types, primaryType));
  if (allowances !== undefined) return allowances(typed, context);
  const known = Object.hasOwn(TRANSFERS, primaryType) ? TRANSFERS[primaryType] : undefined;
  if (known === undefined || writeType(types, "TokenPermissions") !== PERMITTED) return null;
  const fields = describeFields(types, primaryType);
  const isWitnessed = primaryType.includes("Witness");
  if (!isWitnessed) return fields === known.fields ? readTransfers(known.standard, typed, context) : null;
  // Permit2 appends what its caller hands over: one more field, of any type.
  const witness = types.get(primaryType)?.at(4);
  if (witness === undefined || fields !== `${known.fields},${witness.type} ${witness.name}`) return null;
  const plain = readTransfers(known.standard, typed, context);
  const reader = types.has(witness.type) ? WITNESSES.get(writeType(types, witness.type)) : undefined;
  if (reader === undefined)
    return { ...plain, standard: `${plain.standard}-with-witness`, hasUnknownPart: true };
  return { ...plain, ...reader(typed.message.struct(witness.name), plain, context.wallet) };
}

function readTransfers(
  standard: string,
  { message, primaryType }: TypedMessage,
  { permit2, wallet }: Permit2Context,
): MessageContent {
  const spender = message.address("spender");
  const permitted = primaryType.includes("Batch")
    ? message.structs("permitted")
    : [message.struct("permitted")];
  return createContent(standard, "permit2", {
    signer: wallet,
    usableUntil: untilOf(message.uint("deadline")),
    nonces: [{ kind: "bitmap", contract: permit2, owner: wallet, nonce: message.uint("nonce") }],
    transfers: permitted.map(
      (each): SignedTransfer => ({
        ...{ asset: coinOf(each.address("token")), from: wallet, to: null, by: spender },
        ...{ amount: each.uint("amount"), isExact: false, via: permit2 },
      }),
    ),
  });
}

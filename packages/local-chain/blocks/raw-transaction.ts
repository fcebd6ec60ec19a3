// Signed bytes of a transaction rebuilt from its RPC record, so that a fork can include it again.
import type { Hex, RpcTransaction, TransactionSerialized } from "viem";
import { formatTransaction, isAddressEqual, recoverTransactionAddress, serializeTransaction } from "viem";

/** Rejects a transaction its sender never signed (an impersonated account): no fork could include it. */
export async function rawTransaction(record: RpcTransaction): Promise<Hex> {
  const { input, r, s, v, yParity, ...fields } = formatTransaction(record);
  const raw = serializeTransaction({ ...fields, data: input } as Parameters<typeof serializeTransaction>[0], {
    r,
    s,
    v,
    yParity: yParity ?? Number(v),
  });
  const refusal = `Transaction ${record.hash} carries no signature of its sender and can not be included again`;
  const signer = await recoverTransactionAddress({
    serializedTransaction: raw as TransactionSerialized,
  }).catch((cause: unknown) => {
    throw new Error(refusal, { cause });
  });
  if (!isAddressEqual(signer, record.from)) throw new Error(refusal);
  return raw;
}
